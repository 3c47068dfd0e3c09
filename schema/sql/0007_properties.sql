-- +goose Up

-- Properties that clients have stored with a document or folder (RFC 4918,
-- section 4): a JSON array, NULL for none. They are in the row, so that they
-- move, are copied and deleted with it, and a listing reads them with it. They
-- count against the quota of the row's author, as its content does.
ALTER TABLE documents ADD COLUMN properties TEXT CHECK (properties IS NULL OR json_type(properties) = 'array');

-- +goose StatementBegin
CREATE TRIGGER properties_inserted AFTER INSERT ON documents WHEN new.properties IS NOT NULL BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, octet_length(new.properties))
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER properties_replaced AFTER UPDATE OF author_id, properties ON documents
WHEN old.properties IS NOT NULL OR new.properties IS NOT NULL BEGIN
	UPDATE stored_bytes SET n = n - octet_length(old.properties) WHERE author_id = old.author_id AND old.properties IS NOT NULL;
	INSERT INTO stored_bytes (author_id, n) SELECT new.author_id, octet_length(new.properties) WHERE new.properties IS NOT NULL
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER properties_deleted AFTER DELETE ON documents WHEN old.properties IS NOT NULL BEGIN
	UPDATE stored_bytes SET n = n - octet_length(old.properties) WHERE author_id = old.author_id;
END;
-- +goose StatementEnd
