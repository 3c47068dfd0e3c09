-- +goose Up

-- How many bytes a user may store; 0: as the settings say.
ALTER TABLE parties ADD COLUMN quota bigint NOT NULL DEFAULT 0 CHECK (quota >= 0);
