-- +goose Up

-- What an app password may be used for, and until when.
ALTER TABLE app_passwords ADD COLUMN scope text COLLATE "C" NOT NULL DEFAULT 'all';
ALTER TABLE app_passwords ADD COLUMN expires bigint;
ALTER TABLE calendar_links ADD COLUMN scope text COLLATE "C" NOT NULL DEFAULT 'all';
ALTER TABLE calendar_links ADD COLUMN expires bigint;
