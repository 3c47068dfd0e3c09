-- +goose Up

-- Write locks (RFC 4918, section 7). What a lock is on is a text that names
-- one resource under all its names, "case/17", and begins with what kind it
-- is, so that a listing finds all locks of its kind in a range of the index.
-- A lock that has expired covers nothing, and goes when the next one comes.
CREATE TABLE locks (
	id        INTEGER PRIMARY KEY,
	token     BLOB    NOT NULL UNIQUE CHECK (length(token) = 16),
	target    TEXT    NOT NULL CHECK (target <> ''),
	holder_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	shared    INTEGER NOT NULL CHECK (shared IN (0, 1)),
	deep      INTEGER NOT NULL CHECK (deep IN (0, 1)), -- covers what is below a folder
	owner     TEXT    NOT NULL,                        -- what the holder says of itself, XML
	root      TEXT    NOT NULL,                        -- the path that was locked
	seconds   INTEGER NOT NULL CHECK (seconds > 0),    -- that it was given for
	expires   INTEGER NOT NULL                         -- by the machine's clock, in a sandbox too
) STRICT;

CREATE INDEX locks_by_target ON locks (target);
CREATE INDEX locks_by_holder ON locks (holder_id);
CREATE INDEX locks_by_expiry ON locks (expires);
