-- +goose Up

-- How many bytes a user may store; 0: as the settings say.
ALTER TABLE parties ADD COLUMN quota INTEGER NOT NULL DEFAULT 0 CHECK (quota >= 0);

-- The folder of a route shows its author the files whose cases have failed.
CREATE INDEX cases_failed ON cases (route_id) WHERE state = 'failed' AND open = 0 AND archived IS NULL;
