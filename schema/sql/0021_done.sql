-- +goose Up

-- What users have performed no longer refers to its case: the index that the
-- reference needs was a page of its own to write at nearly every action. Who
-- reads the list reads the case too, so a row of a deleted case is not shown.
-- The rows of a case that is deleted lie between its creation and its last
-- change, and those older than a week are gone already.
DROP TRIGGER cases_deleted;
DROP INDEX done_tasks_of_case;
DROP INDEX done_tasks_by_age;
ALTER TABLE done_tasks RENAME TO done_tasks_before;

CREATE TABLE done_tasks (
	user_id INTEGER NOT NULL,
	time    INTEGER NOT NULL,
	case_id INTEGER NOT NULL, -- which may have been deleted since
	seq     INTEGER NOT NULL, -- of the log entry
	action  TEXT    NOT NULL,
	form    BLOB    NOT NULL,
	PRIMARY KEY (user_id, time, case_id, seq)
) STRICT, WITHOUT ROWID;

INSERT INTO done_tasks SELECT user_id, time, case_id, seq, action, form FROM done_tasks_before;
DROP TABLE done_tasks_before;

CREATE INDEX done_tasks_by_age ON done_tasks (time);

-- +goose StatementBegin
CREATE TRIGGER cases_deleted BEFORE DELETE ON cases BEGIN
	DELETE FROM case_log WHERE case_id = old.id;
	DELETE FROM messages WHERE case_id = old.id;
	DELETE FROM plans WHERE case_id = old.id;
	DELETE FROM case_access WHERE case_id = old.id AND party_id IN (SELECT value FROM json_each(old.access));
	DELETE FROM archive_access
		WHERE case_id = old.id AND month = old.archived AND party_id IN (SELECT value FROM json_each(old.access));
	UPDATE open_cases SET n = n - 1 WHERE starter_id = old.starter_id AND route_id = old.route_id AND old.open;
	DELETE FROM done_tasks WHERE time BETWEEN old.created AND old.modified AND case_id = old.id;
END;
-- +goose StatementEnd
