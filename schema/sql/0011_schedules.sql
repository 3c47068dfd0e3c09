-- +goose Up

-- Since when an entry is paused: what it missed since then is dealt with when
-- it goes on.
ALTER TABLE entries ADD COLUMN paused INTEGER;

-- The entry that a case is of, and whether it waits until an earlier one of
-- the same entry has ended.
ALTER TABLE cases ADD COLUMN entry BLOB CHECK (length(entry) = 16);
ALTER TABLE cases ADD COLUMN waits INTEGER NOT NULL DEFAULT 0 CHECK (waits IN (0, 1));

CREATE INDEX cases_of_entry ON cases (entry, id) WHERE entry IS NOT NULL AND state IN ('queued', 'active', 'suspended');

DROP INDEX cases_queued;
CREATE INDEX cases_queued ON cases (priority DESC, id) WHERE state = 'queued' AND waits = 0; -- the manager
