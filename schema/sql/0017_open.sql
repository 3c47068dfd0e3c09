-- +goose Up

-- To see whether a text is in a list of three or more, SQLite builds a tree
-- of the list each time, which costs more than most of what is done with the
-- answer. Comparing the text with each costs next to nothing. So the checks
-- of what is written most say what they did in that way: changing a check
-- changes no row, and is done as SQLite's page on ALTER TABLE says.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
	'CHECK (state IN (''queued'', ''active'', ''suspended'', ''completed'', ''closed'', ''canceled'', ''failed''))',
	'CHECK (state = ''queued'' OR state = ''active'' OR state = ''suspended'' OR state = ''completed'' OR state = ''closed'' OR state = ''canceled'' OR state = ''failed'')')
	WHERE type = 'table' AND name = 'cases';
UPDATE sqlite_schema SET sql = replace(sql,
	'CHECK (outcome IN (''fired'', ''late'', ''skipped'', ''failed'', ''triggered'', ''backfilled''))',
	'CHECK (outcome = ''fired'' OR outcome = ''late'' OR outcome = ''skipped'' OR outcome = ''failed'' OR outcome = ''triggered'' OR outcome = ''backfilled'')')
	WHERE type = 'table' AND name = 'occurrences';
PRAGMA writable_schema = RESET;

-- Whether a case is open: said once, for what the indexes and triggers rest
-- on.
ALTER TABLE cases ADD COLUMN open INTEGER AS (state = 'queued' OR state = 'active' OR state = 'suspended') VIRTUAL;

DROP INDEX cases_open;
CREATE INDEX cases_open ON cases (route_id) WHERE open = 1;                         -- boards
DROP INDEX cases_ended;
CREATE INDEX cases_ended ON cases (route_id, status)
	WHERE open = 0 AND state <> 'canceled' AND archived IS NULL;                -- boards
DROP INDEX cases_of_entry;
CREATE INDEX cases_of_entry ON cases (entry, id) WHERE entry IS NOT NULL AND open = 1;

DROP TRIGGER cases_inserted;

-- +goose StatementBegin
CREATE TRIGGER cases_inserted AFTER INSERT ON cases BEGIN
	INSERT INTO case_access (party_id, case_id) SELECT value, new.id FROM json_each(new.access);
	INSERT INTO open_cases (starter_id, route_id, n)
		SELECT new.starter_id, new.route_id, 1 WHERE new.open
		ON CONFLICT DO UPDATE SET n = n + 1;
END;
-- +goose StatementEnd

DROP TRIGGER cases_moved;
DROP TRIGGER aliases_follow;

-- +goose StatementBegin
CREATE TRIGGER cases_moved AFTER UPDATE OF state ON cases WHEN old.open <> new.open BEGIN
	INSERT INTO open_cases (starter_id, route_id, n) VALUES (new.starter_id, new.route_id, 1)
		ON CONFLICT DO UPDATE SET n = n + iif(new.open, 1, -1);
	UPDATE aliases SET open = new.open WHERE case_id = new.id;
END;
-- +goose StatementEnd

DROP TRIGGER cases_deleted;

-- What belongs to a case goes with it; what has a foreign key that says so
-- goes by that.
-- +goose StatementBegin
CREATE TRIGGER cases_deleted BEFORE DELETE ON cases BEGIN
	DELETE FROM case_log WHERE case_id = old.id;
	DELETE FROM messages WHERE case_id = old.id;
	DELETE FROM plans WHERE case_id = old.id;
	DELETE FROM case_access WHERE case_id = old.id AND party_id IN (SELECT value FROM json_each(old.access));
	DELETE FROM archive_access
		WHERE case_id = old.id AND month = old.archived AND party_id IN (SELECT value FROM json_each(old.access));
	UPDATE open_cases SET n = n - 1 WHERE starter_id = old.starter_id AND route_id = old.route_id AND old.open;
END;
-- +goose StatementEnd
