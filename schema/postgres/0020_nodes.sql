-- +goose Up

-- How other nodes reach the active one, and the key that both sides show (server/peer.go).
ALTER TABLE tenure ADD COLUMN address text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE tenure ADD COLUMN certificate bytea NOT NULL DEFAULT '';
ALTER TABLE tenure ADD COLUMN key bytea NOT NULL DEFAULT '';

-- The nodes of the database, as each says of itself (docs/contract/drive.md#nodes). Instants
-- are those of the database.
CREATE TABLE nodes (
	name      text COLLATE "C" NOT NULL PRIMARY KEY CHECK (name <> ''),
	version   text COLLATE "C" NOT NULL,
	migration bigint NOT NULL CHECK (migration > 0),
	started   bigint NOT NULL,
	last_seen bigint NOT NULL,
	offset_ms bigint NOT NULL,
	leases    bigint NOT NULL CHECK (leases >= 0),
	pool      bigint NOT NULL CHECK (pool >= 0),
	retries   bigint NOT NULL CHECK (retries >= 0)
);
