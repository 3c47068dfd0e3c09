-- +goose Up

-- How users want to be told by mail, and in which time zone; '' is that of the
-- server.
ALTER TABLE parties ADD COLUMN mail TEXT NOT NULL DEFAULT '{"kinds":null}' CHECK (json_type(mail) = 'object');
ALTER TABLE parties ADD COLUMN zone TEXT NOT NULL DEFAULT '';

-- Mails that wait for an hour of their recipient.
CREATE TABLE held_mails (
	id      INTEGER PRIMARY KEY,
	user_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	due     INTEGER NOT NULL,
	digest  INTEGER NOT NULL CHECK (digest IN (0, 1)), -- goes in one mail with the others
	created INTEGER NOT NULL,
	mail    BLOB    NOT NULL -- JSON
) STRICT;

CREATE INDEX held_mails_by_due ON held_mails (due, user_id); -- the sweeper
CREATE INDEX held_mails_of_user ON held_mails (user_id, due, id); -- what is due of one; a user who goes
