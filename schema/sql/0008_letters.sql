-- +goose Up

-- Mails that a sandbox would have sent.
CREATE TABLE letters (
	id      INTEGER PRIMARY KEY,
	name    TEXT    NOT NULL UNIQUE CHECK (name <> ''),
	created INTEGER NOT NULL,
	size    INTEGER NOT NULL CHECK (size >= 0),
	content BLOB    NOT NULL
) STRICT;
