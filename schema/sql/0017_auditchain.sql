-- +goose Up

-- How far the audit log goes: the number of its last line and the SHA-256 of that line.
-- Each line has the SHA-256 of the one before. Lines that were written before this have
-- no numbers.
CREATE TABLE audit_head (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	number     INTEGER NOT NULL CHECK (number >= 0),
	sha256     BLOB    NOT NULL CHECK (length(sha256) = 32),
	unnumbered INTEGER NOT NULL CHECK (unnumbered >= 0)
) STRICT;

INSERT INTO audit_head (one, number, sha256, unnumbered) SELECT 1, 0, zeroblob(32), count(*) FROM audit;
