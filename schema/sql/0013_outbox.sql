-- +goose Up

-- What is to be done outside, until it is done: a row for each mail, request,
-- command and callback. Of those that a case waits for, seq and step say
-- which; step is 0 for what nobody waits for, as notifications are, and the
-- case is absent where it is about none.
CREATE TABLE outbox (
	id       INTEGER PRIMARY KEY,
	key      TEXT    NOT NULL UNIQUE, -- idempotency key
	case_id  INTEGER REFERENCES cases (id) ON DELETE CASCADE,
	seq      INTEGER NOT NULL,
	step     INTEGER NOT NULL CHECK (step >= 0),
	lane     TEXT    NOT NULL, -- what goes the same way: where one is slow, others need not wait
	request  BLOB    NOT NULL, -- JSON
	due      INTEGER,          -- when it is tried; while it is, when it is tried again if nothing was heard; NULL: not by itself
	attempts INTEGER NOT NULL DEFAULT 0,
	flying   INTEGER NOT NULL DEFAULT 0 CHECK (flying IN (0, 1)), -- it is being tried
	created  INTEGER NOT NULL
) STRICT;

CREATE INDEX outbox_by_lane ON outbox (lane, due, id) WHERE due IS NOT NULL; -- the dispatcher
CREATE INDEX outbox_flying ON outbox (id) WHERE flying = 1;                  -- a start after a crash
CREATE INDEX outbox_of_case ON outbox (case_id) WHERE case_id IS NOT NULL;   -- a case that goes
