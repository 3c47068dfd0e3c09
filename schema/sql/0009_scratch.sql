-- +goose Up

-- What the programs of a mounted drive keep beside the documents of the
-- workflow, each user's own: the temporary files of editors and desktops with
-- their folders, drafts, and what was refused. A place is a folder's path,
-- folded, and a name in it. Rows are read until they expire, by the machine's
-- clock, and deleted some time later.
CREATE TABLE scratch (
	id         INTEGER PRIMARY KEY,
	author_id  INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folder     TEXT    NOT NULL CHECK (folder <> ''),
	folded     TEXT    NOT NULL,
	name       TEXT    NOT NULL CHECK (name <> ''),
	kind       TEXT    NOT NULL CHECK (kind IN ('side', 'folder', 'draft', 'rejected')),
	locked     INTEGER NOT NULL CHECK (locked IN (0, 1)), -- of a draft: it ends with the lock that made it
	media_type TEXT    NOT NULL,
	size       INTEGER NOT NULL CHECK (size >= 0),
	sha256     BLOB    NOT NULL CHECK (length(sha256) = 32),
	created    INTEGER NOT NULL,
	modified   INTEGER NOT NULL,
	expires    INTEGER NOT NULL,
	content    BLOB    CHECK (content IS NULL OR length(content) = size), -- NULL: in the file
	UNIQUE (author_id, folder, folded),
	CHECK (kind IN ('side', 'rejected') OR size = 0 AND content IS NOT NULL),
	CHECK (locked = 0 OR kind = 'draft')
) STRICT;

CREATE INDEX scratch_by_age ON scratch (author_id, modified);  -- the oldest, to be dropped first
CREATE INDEX scratch_by_expiry ON scratch (expires);           -- what has expired

-- How much of the scratch area somebody uses: 4 KiB for each row and what it
-- holds, so that many empty ones are bounded as well.
CREATE TABLE scratch_bytes (
	author_id INTEGER NOT NULL PRIMARY KEY,
	n         INTEGER NOT NULL CHECK (n >= 0)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER scratch_inserted AFTER INSERT ON scratch BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
	INSERT INTO scratch_bytes (author_id, n) VALUES (new.author_id, new.size + 4096)
		ON CONFLICT DO UPDATE SET n = n + new.size + 4096;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER scratch_replaced AFTER UPDATE OF size, sha256, content ON scratch BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size + new.size WHERE author_id = new.author_id;
	UPDATE scratch_bytes SET n = n - old.size + new.size WHERE author_id = new.author_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER scratch_deleted AFTER DELETE ON scratch BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
	UPDATE scratch_bytes SET n = n - old.size - 4096 WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- The source documents that were overwritten or deleted, for thirty days.
-- replaced is when, in whole seconds, by the drive's clock; a second one of
-- the same name within a second is a second later.
CREATE TABLE history (
	id        INTEGER PRIMARY KEY,
	folder    TEXT    NOT NULL CHECK (folder IN ('schedule', 'routes', 'cases')),
	author_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folded    TEXT    NOT NULL,
	name      TEXT    NOT NULL CHECK (name <> ''),
	replaced  INTEGER NOT NULL,
	etag      TEXT    NOT NULL,
	source    BLOB    NOT NULL,
	UNIQUE (folder, author_id, folded, replaced)
) STRICT;

CREATE INDEX history_by_age ON history (replaced); -- what is too old

-- +goose StatementBegin
CREATE TRIGGER history_inserted AFTER INSERT ON history BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, length(new.source))
		ON CONFLICT DO UPDATE SET n = n + length(new.source);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER history_deleted AFTER DELETE ON history BEGIN
	UPDATE stored_bytes SET n = n - length(old.source) WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- What a user has deleted a moment ago, by the machine's clock: identity and
-- counters, as JSON, for the document that comes under the same name at once.
CREATE TABLE departed (
	author_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folder    TEXT    NOT NULL CHECK (folder IN ('schedule', 'routes')),
	folded    TEXT    NOT NULL,
	deleted   INTEGER NOT NULL,
	remains   TEXT    NOT NULL CHECK (json_valid(remains)),
	PRIMARY KEY (author_id, folder, folded)
) STRICT, WITHOUT ROWID;

CREATE INDEX departed_by_age ON departed (deleted); -- what is too long ago
