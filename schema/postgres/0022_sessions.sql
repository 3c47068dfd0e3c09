-- +goose Up

-- From where a session was begun, and by what kind of log-in: empty for those that
-- were begun before this was kept.
ALTER TABLE sessions ADD COLUMN address text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT '';

-- When its owner is told next that an app password ends, a week and a day before.
-- Calendar links have the same columns and do not end.
ALTER TABLE app_passwords ADD COLUMN tell_at bigint;
ALTER TABLE calendar_links ADD COLUMN tell_at bigint;
UPDATE app_passwords SET tell_at = expires - 604800000 WHERE expires IS NOT NULL;
CREATE INDEX app_passwords_to_tell ON app_passwords (tell_at) WHERE tell_at IS NOT NULL;
