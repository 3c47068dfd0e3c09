-- +goose Up

-- What names in the texts of a route mean that are not, or no longer, the names of
-- those: users, teams and routes that were renamed, deleted or handed over since.
-- Of several rows of a name, a version goes by the one with the least upto that is
-- not less than it: a later text may name others.
CREATE TABLE meanings (
	route_id INTEGER NOT NULL, -- it outlives its route, as versions do
	kind     TEXT    NOT NULL CHECK (kind IN ('party', 'route')),
	folded   TEXT    NOT NULL CHECK (folded <> ''),
	upto     INTEGER NOT NULL CHECK (upto > 0),
	meant_id INTEGER NOT NULL, -- which may have been deleted
	PRIMARY KEY (route_id, kind, folded, upto)
) STRICT, WITHOUT ROWID;
