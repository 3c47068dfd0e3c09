-- +goose Up

-- Contents that are files, and how many rows refer to each. A row is written
-- before its file is, and deleted after its file is gone: there is never a
-- file without a row. What refers to a content keeps the count by triggers,
-- in its own transaction; those of messages are the pattern for others.
CREATE TABLE blobs (
	sha256 BLOB    NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
	refs   INTEGER NOT NULL CHECK (refs >= 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX blobs_unused ON blobs (sha256) WHERE refs = 0; -- the collector

INSERT INTO blobs (sha256, refs) SELECT sha256, count(*) FROM messages WHERE content IS NULL GROUP BY sha256;

-- +goose StatementBegin
CREATE TRIGGER messages_inserted AFTER INSERT ON messages WHEN new.content IS NULL BEGIN
	INSERT INTO blobs (sha256, refs) VALUES (new.sha256, 1) ON CONFLICT DO UPDATE SET refs = refs + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER messages_replaced AFTER UPDATE OF sha256, content ON messages
WHEN old.content IS NULL OR new.content IS NULL BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER messages_deleted AFTER DELETE ON messages WHEN old.content IS NULL BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256;
END;
-- +goose StatementEnd

-- How many bytes somebody has stored: the quota rests on it, and may not
-- cost a sum over all there is.
CREATE TABLE stored_bytes (
	author_id INTEGER NOT NULL PRIMARY KEY,
	n         INTEGER NOT NULL CHECK (n >= 0)
) STRICT;

-- Attachments. They never change but for their expiry: lifetime says how
-- long one lives that nothing refers to, '' for ever; expires is NULL while
-- it does not expire.
CREATE TABLE attachments (
	id         INTEGER PRIMARY KEY,
	uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
	context_id INTEGER NOT NULL REFERENCES parties (id),
	author_id  INTEGER NOT NULL REFERENCES parties (id),
	case_id    INTEGER REFERENCES cases (id) ON DELETE CASCADE, -- NULL: bound to no case
	name       TEXT    NOT NULL CHECK (name <> ''),
	media_type TEXT    NOT NULL CHECK (media_type <> ''),
	size       INTEGER NOT NULL CHECK (size >= 0),
	sha256     BLOB    NOT NULL REFERENCES blobs (sha256),
	lifetime   TEXT    NOT NULL,
	expires    INTEGER,
	created    INTEGER NOT NULL
) STRICT;

CREATE INDEX attachments_by_context ON attachments (context_id) WHERE case_id IS NULL;  -- listings
CREATE INDEX attachments_by_case ON attachments (case_id) WHERE case_id IS NOT NULL;    -- listings
CREATE INDEX attachments_by_expiry ON attachments (expires) WHERE expires IS NOT NULL;  -- the sweeper
CREATE INDEX attachments_by_blob ON attachments (sha256);                               -- its foreign key

-- +goose StatementBegin
CREATE TRIGGER attachments_inserted AFTER INSERT ON attachments BEGIN
	UPDATE blobs SET refs = refs + 1 WHERE sha256 = new.sha256;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER attachments_deleted AFTER DELETE ON attachments BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- The attachment that an entry's cases take as their input. It may be gone
-- when the entry fires: with the case that it was bound to.
ALTER TABLE entries ADD COLUMN attachment BLOB CHECK (attachment IS NULL OR length(attachment) = 16);

CREATE INDEX entries_by_attachment ON entries (attachment) WHERE attachment IS NOT NULL; -- what uses it
