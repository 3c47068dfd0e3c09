-- +goose Up

-- Forms count against the quota, too, as whole pages of 4 KiB: most are smaller than
-- one, and weigh nothing. A case counts for its starter, an entry for its author, and
-- each version of a route for who was the route's author then.
ALTER TABLE route_versions ADD COLUMN author_id INTEGER NOT NULL DEFAULT 0; -- 0: nobody's

UPDATE route_versions SET author_id = coalesce((SELECT author_id FROM routes WHERE id = route_id), 0);

INSERT INTO stored_bytes (author_id, n)
	SELECT author_id, sum(weight) FROM (
		SELECT starter_id AS author_id, (octet_length(form) + octet_length(marking)) / 4096 * 4096 AS weight FROM cases
		UNION ALL SELECT author_id, octet_length(form) / 4096 * 4096 FROM entries
		UNION ALL SELECT author_id, (octet_length(source) + octet_length(form)) / 4096 * 4096 FROM route_versions WHERE author_id <> 0)
	WHERE weight > 0 GROUP BY author_id
	ON CONFLICT DO UPDATE SET n = n + excluded.n;

-- +goose StatementBegin
CREATE TRIGGER cases_weighed AFTER INSERT ON cases WHEN octet_length(new.form) + octet_length(new.marking) >= 4096 BEGIN
	INSERT INTO stored_bytes (author_id, n)
		VALUES (new.starter_id, (octet_length(new.form) + octet_length(new.marking)) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cases_reweighed AFTER UPDATE OF form, marking, starter_id ON cases
	WHEN (octet_length(old.form) + octet_length(old.marking)) / 4096 <> (octet_length(new.form) + octet_length(new.marking)) / 4096
		OR old.starter_id <> new.starter_id BEGIN
	UPDATE stored_bytes SET n = max(0, n - (octet_length(old.form) + octet_length(old.marking)) / 4096 * 4096)
		WHERE author_id = old.starter_id;
	INSERT INTO stored_bytes (author_id, n)
		VALUES (new.starter_id, (octet_length(new.form) + octet_length(new.marking)) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cases_unweighed AFTER DELETE ON cases WHEN octet_length(old.form) + octet_length(old.marking) >= 4096 BEGIN
	UPDATE stored_bytes SET n = max(0, n - (octet_length(old.form) + octet_length(old.marking)) / 4096 * 4096)
		WHERE author_id = old.starter_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER entries_weighed AFTER INSERT ON entries WHEN octet_length(new.form) >= 4096 BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, octet_length(new.form) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER entries_reweighed AFTER UPDATE OF form, author_id ON entries
	WHEN octet_length(old.form) / 4096 <> octet_length(new.form) / 4096 OR old.author_id <> new.author_id BEGIN
	UPDATE stored_bytes SET n = max(0, n - octet_length(old.form) / 4096 * 4096) WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, octet_length(new.form) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER entries_unweighed AFTER DELETE ON entries WHEN octet_length(old.form) >= 4096 BEGIN
	UPDATE stored_bytes SET n = max(0, n - octet_length(old.form) / 4096 * 4096) WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER route_versions_weighed AFTER INSERT ON route_versions BEGIN
	UPDATE route_versions SET author_id = coalesce((SELECT author_id FROM routes WHERE id = new.route_id), 0)
		WHERE route_id = new.route_id AND version = new.version;
	INSERT INTO stored_bytes (author_id, n)
		SELECT author_id, (octet_length(source) + octet_length(form)) / 4096 * 4096 FROM route_versions
		WHERE route_id = new.route_id AND version = new.version AND author_id <> 0 AND octet_length(source) + octet_length(form) >= 4096
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- How many documents and folders somebody has made, those that are the roots left out.
ALTER TABLE stored_bytes ADD COLUMN files INTEGER NOT NULL DEFAULT 0 CHECK (files >= 0);

INSERT INTO stored_bytes (author_id, n, files)
	SELECT author_id, 0, count(*) FROM documents WHERE context_id IS NULL GROUP BY author_id
	ON CONFLICT DO UPDATE SET files = excluded.files;

-- +goose StatementBegin
CREATE TRIGGER documents_numbered AFTER INSERT ON documents WHEN new.context_id IS NULL BEGIN
	INSERT INTO stored_bytes (author_id, n, files) VALUES (new.author_id, 0, 1) ON CONFLICT DO UPDATE SET files = files + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER documents_renumbered AFTER UPDATE OF author_id ON documents
	WHEN new.context_id IS NULL AND old.author_id <> new.author_id BEGIN
	UPDATE stored_bytes SET files = max(0, files - 1) WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n, files) VALUES (new.author_id, 0, 1) ON CONFLICT DO UPDATE SET files = files + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER documents_unnumbered AFTER DELETE ON documents WHEN old.context_id IS NULL BEGIN
	UPDATE stored_bytes SET files = max(0, files - 1) WHERE author_id = old.author_id;
END;
-- +goose StatementEnd
