-- +goose Up

-- What is wrong with a case or a schedule entry, until it is mended: people are
-- told of it once, again when it is due, and once when it is mended.
CREATE TABLE troubles (
	id      INTEGER PRIMARY KEY,
	case_id INTEGER REFERENCES cases (id) ON DELETE CASCADE,
	entry   BLOB    CHECK (length(entry) = 16), -- of the schedule entry, if there is no case
	name    TEXT    NOT NULL CHECK (name <> ''), -- tells it from others of the same case or entry
	due     INTEGER NOT NULL, -- when people are told of it again
	data    BLOB    NOT NULL, -- JSON
	CHECK ((case_id IS NULL) <> (entry IS NULL))
) STRICT;

CREATE UNIQUE INDEX troubles_of_case ON troubles (case_id, name) WHERE case_id IS NOT NULL; -- is it known already; a case that goes
CREATE UNIQUE INDEX troubles_of_entry ON troubles (entry, name) WHERE entry IS NOT NULL; -- is it known already
CREATE INDEX troubles_by_due ON troubles (due); -- the sweeper
