-- +goose Up

-- What is to come in a context, for its calendar: in the order of its
-- instants, without a look at the rows.
CREATE INDEX entries_upcoming ON entries (context_id, due) WHERE due IS NOT NULL;
CREATE INDEX cases_upcoming ON cases (context_id, due) WHERE due IS NOT NULL;

-- Addresses of calendars that need no log-in: as app_passwords.
CREATE TABLE calendar_links (
	id        INTEGER PRIMARY KEY,
	user_id   INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folded    TEXT    NOT NULL,
	label     TEXT    NOT NULL CHECK (label <> ''),
	sha256    BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),
	created   INTEGER NOT NULL,
	last_used INTEGER,
	UNIQUE (user_id, folded)
) STRICT;
