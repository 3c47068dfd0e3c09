-- +goose Up

-- What a user proves besides a password, as JSON; '' is nothing. And which directory
-- vouches for the user, with the name that it has there; '' is none.
ALTER TABLE parties ADD COLUMN factor TEXT NOT NULL DEFAULT '' CHECK (factor = '' OR json_valid(factor));
ALTER TABLE parties ADD COLUMN origin TEXT NOT NULL DEFAULT '';

CREATE UNIQUE INDEX parties_by_origin ON parties (origin) WHERE origin <> ''; -- who is meant by a directory
