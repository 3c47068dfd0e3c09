-- +goose Up

-- The log of a case counts for its starter, with the form and the marking, in whole pages
-- of 4 KiB. log_bytes is how many bytes were added to it.
DROP TRIGGER cases_weighed;
DROP TRIGGER cases_reweighed;
DROP TRIGGER cases_unweighed;

ALTER TABLE cases ADD COLUMN log_bytes INTEGER NOT NULL DEFAULT 0;

UPDATE cases SET log_bytes = coalesce((SELECT sum(octet_length(entries)) FROM case_log WHERE case_id = cases.id), 0);

INSERT INTO stored_bytes (author_id, n)
	SELECT author_id, weight FROM (
		SELECT starter_id AS author_id, sum((octet_length(form) + octet_length(marking) + log_bytes) / 4096 * 4096
			- (octet_length(form) + octet_length(marking)) / 4096 * 4096) AS weight FROM cases GROUP BY starter_id) AS logs
	WHERE weight > 0
	ON CONFLICT  DO UPDATE SET n = n + excluded.n;

-- +goose StatementBegin
CREATE TRIGGER cases_weighed AFTER INSERT ON cases WHEN (octet_length(new.form) + octet_length(new.marking) + new.log_bytes) / 4096 > 0 BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.starter_id, (octet_length(new.form) + octet_length(new.marking) + new.log_bytes) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cases_reweighed AFTER UPDATE OF form, marking, starter_id, log_bytes ON cases
	WHEN (octet_length(old.form) + octet_length(old.marking) + old.log_bytes) / 4096 <> (octet_length(new.form) + octet_length(new.marking) + new.log_bytes) / 4096 OR old.starter_id <> new.starter_id BEGIN
	UPDATE stored_bytes SET n = max(0, n - (octet_length(old.form) + octet_length(old.marking) + old.log_bytes) / 4096 * 4096) WHERE author_id = old.starter_id;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.starter_id, (octet_length(new.form) + octet_length(new.marking) + new.log_bytes) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cases_unweighed AFTER DELETE ON cases WHEN (octet_length(old.form) + octet_length(old.marking) + old.log_bytes) / 4096 > 0 BEGIN
	UPDATE stored_bytes SET n = max(0, n - (octet_length(old.form) + octet_length(old.marking) + old.log_bytes) / 4096 * 4096) WHERE author_id = old.starter_id;
END;
-- +goose StatementEnd
