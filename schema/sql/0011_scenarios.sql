-- +goose Up

-- Scenarios beside routes: stories that a route is played by before it is stored.
CREATE TABLE scenarios (
	id           INTEGER PRIMARY KEY,
	route_id     INTEGER, -- NULL: it waits for a route of its name
	author_id    INTEGER NOT NULL, -- who stored it last; it waits for a route of this user's
	folded       TEXT    NOT NULL CHECK (folded <> ''), -- the name of the route, for comparing
	name         TEXT    NOT NULL,
	yaml         INTEGER NOT NULL,
	source       BLOB    NOT NULL, -- as it was PUT
	etag         TEXT    NOT NULL,
	title        TEXT    NOT NULL,
	played       INTEGER, -- when it held last, NULL if it was not played
	version      INTEGER NOT NULL, -- of the route then
	steps        INTEGER NOT NULL,
	expectations INTEGER NOT NULL,
	created      INTEGER NOT NULL,
	modified     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX scenarios_of_route ON scenarios (route_id) WHERE route_id IS NOT NULL;
CREATE UNIQUE INDEX scenarios_waiting ON scenarios (author_id, folded) WHERE route_id IS NULL;
