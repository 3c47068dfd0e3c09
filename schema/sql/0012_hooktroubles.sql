-- +goose Up

-- A hook can be what is wrong, too. People are told of it as of a case or an entry, so
-- the hook itself need not know when they were told.
CREATE TABLE troubles_now (
	id      INTEGER PRIMARY KEY,
	case_id INTEGER REFERENCES cases (id) ON DELETE CASCADE,
	entry   BLOB    CHECK (length(entry) = 16), -- of the schedule entry
	hook    INTEGER REFERENCES hooks (id) ON DELETE CASCADE,
	name    TEXT    NOT NULL CHECK (name <> ''), -- tells it from others of the same case, entry or hook
	due     INTEGER NOT NULL, -- when people are told of it again
	data    BLOB    NOT NULL, -- JSON
	CHECK ((case_id IS NOT NULL) + (entry IS NOT NULL) + (hook IS NOT NULL) = 1)
) STRICT;

INSERT INTO troubles_now (id, case_id, entry, name, due, data) SELECT id, case_id, entry, name, due, data FROM troubles;
INSERT INTO troubles_now (hook, name, due, data)
	SELECT id, 'refused', told + 86400000, CAST(json_object('what', 'failed', 'text', fault, 'since', strftime('%Y-%m-%dT%H:%M:%SZ', told / 1000, 'unixepoch'), 'told', json('[]')) AS BLOB)
	FROM hooks WHERE fault <> '' AND told IS NOT NULL;
DROP TABLE troubles;
ALTER TABLE troubles_now RENAME TO troubles;

CREATE UNIQUE INDEX troubles_of_case ON troubles (case_id, name) WHERE case_id IS NOT NULL; -- is it known already; a case that goes
CREATE UNIQUE INDEX troubles_of_entry ON troubles (entry, name) WHERE entry IS NOT NULL; -- is it known already
CREATE UNIQUE INDEX troubles_of_hook ON troubles (hook, name) WHERE hook IS NOT NULL; -- is it known already; a hook that goes
CREATE INDEX troubles_by_due ON troubles (due); -- the sweeper

ALTER TABLE hooks DROP COLUMN told;
