-- +goose Up

-- Log-ins to the pages. What the browser keeps is random, so that a plain
-- digest is as good as a slow one.
CREATE TABLE sessions (
	id        INTEGER PRIMARY KEY,
	user_id   INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	sha256    BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),
	agent     TEXT    NOT NULL, -- what the browser says it is
	lasting   INTEGER NOT NULL CHECK (lasting IN (0, 1)), -- it was asked to last
	created   INTEGER NOT NULL, -- by the machine's clock, in a sandbox too, as last_used
	last_used INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_user ON sessions (user_id); -- what ends with a password

-- +goose StatementBegin
CREATE TRIGGER sessions_ended AFTER UPDATE OF password, disabled ON parties
	WHEN old.password <> new.password OR new.disabled = 1 BEGIN
	DELETE FROM sessions WHERE user_id = new.id;
END;
-- +goose StatementEnd
