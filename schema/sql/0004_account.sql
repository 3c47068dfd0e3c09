-- +goose Up

-- Who stands in for a user, from one instant to another.
ALTER TABLE parties ADD COLUMN deputy_id INTEGER REFERENCES parties (id);
ALTER TABLE parties ADD COLUMN deputy_from INTEGER
	CHECK ((deputy_id IS NULL) = (deputy_from IS NULL) AND (deputy_id IS NULL OR kind = 'user'));
ALTER TABLE parties ADD COLUMN deputy_to INTEGER
	CHECK ((deputy_id IS NULL) = (deputy_to IS NULL) AND (deputy_id IS NULL OR deputy_from < deputy_to));

-- Passwords of devices and programs. They are random, so that a plain digest
-- is as good as a slow one, and a request costs one look into memory.
CREATE TABLE app_passwords (
	id        INTEGER PRIMARY KEY,
	user_id   INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folded    TEXT    NOT NULL,
	label     TEXT    NOT NULL CHECK (label <> ''),
	sha256    BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),
	created   INTEGER NOT NULL,
	last_used INTEGER,
	UNIQUE (user_id, folded)
) STRICT;

-- The audit log: for each day since 1970 a text that only grows, a line of
-- JSON a row. start is where the line begins in the text of its day, so that
-- a part can be read without what comes before.
CREATE TABLE audit (
	day   INTEGER NOT NULL,
	start INTEGER NOT NULL CHECK (start >= 0),
	time  INTEGER NOT NULL,
	line  BLOB    NOT NULL CHECK (length(line) > 0),
	PRIMARY KEY (day, start)
) STRICT, WITHOUT ROWID;
