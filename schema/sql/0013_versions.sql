-- +goose Up

-- A document that was overwritten or deleted is a row of documents without a
-- folder, which is past: its content, properties and quota are counted as those of
-- any other. Of a deleted folder the folder is past, and what was in it is still
-- below it.
ALTER TABLE documents ADD COLUMN past INTEGER NOT NULL DEFAULT 0 CHECK (past IN (0, 1));

DROP INDEX documents_detached;
CREATE INDEX documents_detached ON documents (id) WHERE parent_id IS NULL AND context_id IS NULL AND past = 0; -- what is being deleted

-- Where the past ones were, and under which names they are found.
CREATE TABLE versions (
	id          INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
	context_id  INTEGER NOT NULL REFERENCES parties (id),
	folder      TEXT    NOT NULL, -- the path below the root, '' the root itself
	name        TEXT    NOT NULL CHECK (name <> ''), -- that it had
	shown       TEXT    NOT NULL CHECK (shown <> ''), -- in .history/
	replaced    INTEGER NOT NULL, -- when, by the drive's clock
	replacer_id INTEGER NOT NULL, -- who overwrote or deleted it
	owner_id    INTEGER NOT NULL, -- whose versions give way when the quota is full: of a file its author, of a folder who deleted it
	UNIQUE (context_id, folder, shown)
) STRICT;

CREATE INDEX versions_by_name ON versions (context_id, folder, name); -- which are too many
CREATE INDEX versions_by_age ON versions (replaced); -- what is too old
CREATE INDEX versions_by_owner ON versions (owner_id, replaced); -- what gives way first

-- ".history" names what is kept, in the folder of a user or team. A folder of that
-- name from before keeps its content under another one.
UPDATE documents SET name = '.history ' || id
	WHERE name = '.history' AND parent_id IN (SELECT id FROM documents WHERE context_id IS NOT NULL);
