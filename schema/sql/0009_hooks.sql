-- +goose Up

-- Addresses that need no log-in, by which others start cases of a route or write
-- messages of them.
CREATE TABLE hooks (
	id       INTEGER PRIMARY KEY,
	route_id INTEGER NOT NULL,
	folded   TEXT    NOT NULL CHECK (folded <> ''), -- the name, for comparing
	name     TEXT    NOT NULL,
	author   INTEGER NOT NULL, -- the user as whom it acts
	sha256   BLOB    NOT NULL CHECK (length(sha256) = 32), -- of the token
	settings BLOB    NOT NULL, -- JSON
	fault    TEXT    NOT NULL, -- why it does not work, '' if it does
	told     INTEGER, -- when people were told of the fault
	revision INTEGER NOT NULL,
	created  INTEGER NOT NULL,
	modified INTEGER NOT NULL,
	UNIQUE (route_id, folded),
	UNIQUE (sha256)
) STRICT;
