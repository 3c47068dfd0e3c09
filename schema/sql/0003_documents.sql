-- +goose Up

-- The file areas of users and teams, a tree of folders and files each. Only
-- its root knows whose a tree is, and each row only the folder it lies in, so
-- that moving a tree changes one row however large it is. A row that has
-- neither context nor folder was taken out of its tree to be deleted, bit by
-- bit; nothing finds it any more.
CREATE TABLE documents (
	id         INTEGER PRIMARY KEY,
	context_id INTEGER UNIQUE REFERENCES parties (id),  -- of a root, else NULL
	parent_id  INTEGER REFERENCES documents (id),       -- a folder; of a root NULL
	name       TEXT    NOT NULL,                        -- '' of a root
	folder     INTEGER NOT NULL CHECK (folder IN (0, 1)),
	author_id  INTEGER NOT NULL REFERENCES parties (id),
	revision   INTEGER NOT NULL CHECK (revision > 0),
	media_type TEXT    NOT NULL,
	size       INTEGER NOT NULL CHECK (size >= 0),
	sha256     BLOB    CHECK (sha256 IS NULL OR length(sha256) = 32), -- NULL: a folder
	created    INTEGER NOT NULL,
	modified   INTEGER NOT NULL,
	content    BLOB    CHECK (content IS NULL OR length(content) = size), -- NULL: in the file
	UNIQUE (parent_id, name),
	CHECK ((context_id IS NULL) = (name <> '')),
	CHECK (context_id IS NULL OR parent_id IS NULL AND folder = 1),
	CHECK (folder = (sha256 IS NULL)),
	CHECK (folder = 0 OR size = 0 AND media_type = '' AND content IS NULL)
) STRICT;

CREATE INDEX documents_by_folder ON documents (parent_id);  -- .contents, in order of creation
CREATE INDEX documents_by_author ON documents (author_id);  -- what keeps a user from being deleted
CREATE INDEX documents_detached ON documents (id) WHERE parent_id IS NULL AND context_id IS NULL; -- what is being deleted

-- +goose StatementBegin
CREATE TRIGGER documents_inserted AFTER INSERT ON documents WHEN new.folder = 0 BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER documents_replaced AFTER UPDATE OF author_id, size, sha256, content ON documents WHEN new.folder = 0 BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER documents_deleted AFTER DELETE ON documents WHEN old.folder = 0 BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- Every user and team has a root from the beginning. One that is empty does
-- not keep its user or team from being deleted.
INSERT INTO documents (context_id, name, folder, author_id, revision, media_type, size, created, modified)
	SELECT id, '', 1, id, 1, '', 0, created, created FROM parties ORDER BY id;

-- +goose StatementBegin
CREATE TRIGGER parties_inserted AFTER INSERT ON parties BEGIN
	INSERT INTO documents (context_id, name, folder, author_id, revision, media_type, size, created, modified)
		VALUES (new.id, '', 1, new.id, 1, '', 0, new.created, new.created);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER parties_leaving BEFORE DELETE ON parties BEGIN
	DELETE FROM documents WHERE context_id = old.id
		AND NOT EXISTS (SELECT 1 FROM documents member WHERE member.parent_id = documents.id);
END;
-- +goose StatementEnd

-- Whose quota a message counts against: who has written it, or started its
-- case with it. 0: nobody's.
ALTER TABLE messages ADD COLUMN author_id INTEGER NOT NULL DEFAULT 0;

-- +goose StatementBegin
CREATE TRIGGER messages_counted AFTER INSERT ON messages WHEN new.author_id <> 0 AND new.size > 0 BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER messages_recounted AFTER UPDATE OF author_id, size ON messages BEGIN
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n) SELECT new.author_id, new.size WHERE new.author_id <> 0
		ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER messages_discounted AFTER DELETE ON messages WHEN old.author_id <> 0 BEGIN
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
END;
-- +goose StatementEnd
