-- +goose Up

-- A hold that somebody has forgotten can be what is wrong, too. Of holds that are there
-- people are told for the first time as if nobody had been told of them.
CREATE TABLE troubles_now (
	id      INTEGER PRIMARY KEY,
	case_id INTEGER REFERENCES cases (id) ON DELETE CASCADE,
	entry   BLOB    CHECK (length(entry) = 16), -- of the schedule entry
	hook    INTEGER REFERENCES hooks (id) ON DELETE CASCADE,
	hold    INTEGER REFERENCES holds (id) ON DELETE CASCADE,
	name    TEXT    NOT NULL CHECK (name <> ''), -- tells it from others of the same case, entry, hook or hold
	due     INTEGER NOT NULL, -- when people are told of it again
	data    BLOB    NOT NULL, -- JSON
	CHECK ((case_id IS NOT NULL) + (entry IS NOT NULL) + (hook IS NOT NULL) + (hold IS NOT NULL) = 1)
) STRICT;

INSERT INTO troubles_now (id, case_id, entry, hook, name, due, data) SELECT id, case_id, entry, hook, name, due, data FROM troubles;
INSERT INTO troubles_now (hold, name, due, data)
	SELECT id, 'held', created + 86400000, CAST(json_object('what', 'held', 'text', '', 'since', strftime('%Y-%m-%dT%H:%M:%SZ', created / 1000, 'unixepoch'), 'told', json('[]')) AS BLOB)
	FROM holds;
DROP TABLE troubles;
ALTER TABLE troubles_now RENAME TO troubles;

CREATE UNIQUE INDEX troubles_of_case ON troubles (case_id, name) WHERE case_id IS NOT NULL; -- is it known already; a case that goes
CREATE UNIQUE INDEX troubles_of_entry ON troubles (entry, name) WHERE entry IS NOT NULL; -- is it known already
CREATE UNIQUE INDEX troubles_of_hook ON troubles (hook, name) WHERE hook IS NOT NULL; -- is it known already; a hook that goes
CREATE UNIQUE INDEX troubles_of_hold ON troubles (hold, name) WHERE hold IS NOT NULL; -- is it known already; a hold that goes
CREATE INDEX troubles_by_due ON troubles (due); -- the sweeper
