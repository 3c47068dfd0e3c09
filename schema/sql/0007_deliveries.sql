-- +goose Up

-- What became of the deliveries that the steps of a case have asked for, as JSON.
-- They outlive the rows of the outbox.
CREATE TABLE deliveries (
	case_id  INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
	seq      INTEGER NOT NULL,
	step     INTEGER NOT NULL,
	name     TEXT    NOT NULL,
	created  INTEGER NOT NULL,
	modified INTEGER NOT NULL,
	form     BLOB    NOT NULL,
	PRIMARY KEY (case_id, seq, step)
) STRICT, WITHOUT ROWID;
