-- +goose Up

-- What an app password may be used for, and until when.
ALTER TABLE app_passwords ADD COLUMN scope TEXT NOT NULL DEFAULT 'all';
ALTER TABLE app_passwords ADD COLUMN expires INTEGER;
ALTER TABLE calendar_links ADD COLUMN scope TEXT NOT NULL DEFAULT 'all';
ALTER TABLE calendar_links ADD COLUMN expires INTEGER;
