-- +goose Up

-- The address that a user has asked for and not confirmed yet, as JSON; {} is none.
ALTER TABLE parties ADD COLUMN pending TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(pending));
