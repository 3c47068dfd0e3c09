-- +goose Up

-- What a user proves besides a password, as JSON; '' is nothing. And which directory
-- vouches for the user, with the name that it has there; '' is none.
ALTER TABLE parties ADD COLUMN factor text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE parties ADD COLUMN origin text COLLATE "C" NOT NULL DEFAULT '';

CREATE UNIQUE INDEX parties_by_origin ON parties (origin) WHERE origin <> ''; -- who is meant by a directory
