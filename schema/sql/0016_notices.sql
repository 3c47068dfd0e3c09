-- +goose Up

-- What a user wants to be told, as far as it is for the user to say.
ALTER TABLE parties ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0 CHECK (quiet IN (0, 1)); -- no mails
ALTER TABLE parties ADD COLUMN watch TEXT NOT NULL DEFAULT '[]';                         -- names of routes, JSON
