-- +goose Up

-- An occurrence is found by entry and instant alone: kept in that order, each
-- is in one place instead of two.
CREATE TABLE kept (
	entry      BLOB    NOT NULL CHECK (length(entry) = 16),
	instant    INTEGER NOT NULL,
	context_id INTEGER NOT NULL,
	outcome    TEXT    NOT NULL CHECK (outcome = 'fired' OR outcome = 'late' OR outcome = 'skipped' OR outcome = 'failed' OR outcome = 'triggered' OR outcome = 'backfilled'),
	reason     TEXT    NOT NULL,
	case_id    INTEGER CHECK (case_id > 0),
	fired_at   INTEGER NOT NULL,
	PRIMARY KEY (entry, instant)
) STRICT, WITHOUT ROWID;
INSERT INTO kept (entry, instant, context_id, outcome, reason, case_id, fired_at)
	SELECT entry, instant, context_id, outcome, reason, case_id, fired_at FROM occurrences ORDER BY entry, instant;
DROP TABLE occurrences;
ALTER TABLE kept RENAME TO occurrences;

-- As in migration 17: a comparison with each instead of a list.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
	'CHECK (type IN (''simple'', ''interval'', ''cron'', ''crontab''))',
	'CHECK (type = ''simple'' OR type = ''interval'' OR type = ''cron'' OR type = ''crontab'')')
	WHERE type = 'table' AND name = 'entries';
PRAGMA writable_schema = RESET;
