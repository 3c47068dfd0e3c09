-- +goose Up

-- The group of a case's route, '' for none, and whether the case keeps others
-- of the group from starting: only cases of groups do.
ALTER TABLE cases ADD COLUMN grp TEXT NOT NULL DEFAULT '';
ALTER TABLE cases ADD COLUMN busy INTEGER NOT NULL DEFAULT 0 CHECK (busy IN (0, 1) AND (busy = 0 OR grp <> ''));

-- The instant that a queued case waits for: its due time, in a column of its
-- own so that the index of what can be started is no part of other changes.
ALTER TABLE cases ADD COLUMN start_at INTEGER;

-- What can be started, by lanes: those of a group, and of a route without one.
DROP INDEX cases_queued;
CREATE INDEX cases_queued ON cases (grp, route_id, priority DESC, id) WHERE state = 'queued' AND waits = 0 AND start_at IS NULL;
CREATE INDEX cases_busy ON cases (grp) WHERE busy = 1; -- GroupBusy

-- What keeps queued cases from starting: those of a route, of a group, or all.
CREATE TABLE holds (
	id       INTEGER PRIMARY KEY,
	folded   TEXT    NOT NULL UNIQUE,
	name     TEXT    NOT NULL CHECK (name <> ''),
	route    TEXT    NOT NULL,
	grp      TEXT    NOT NULL,
	engine   INTEGER NOT NULL CHECK (engine IN (0, 1)),
	reason   TEXT    NOT NULL,
	author   TEXT    NOT NULL,
	revision INTEGER NOT NULL CHECK (revision > 0),
	created  INTEGER NOT NULL,
	modified INTEGER NOT NULL,
	CHECK ((route <> '') + (grp <> '') + engine = 1)
) STRICT;
