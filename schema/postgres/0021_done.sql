-- +goose Up

-- What users have performed no longer refers to its case, as in schema/sql.
DROP INDEX done_tasks_of_case;
ALTER TABLE done_tasks DROP CONSTRAINT done_tasks_case_id_fkey;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION cases_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	DELETE FROM case_log WHERE case_id = old.id;
	DELETE FROM messages WHERE case_id = old.id;
	DELETE FROM plans WHERE case_id = old.id;
	DELETE FROM case_access WHERE case_id = old.id AND party_id IN (SELECT value::bigint FROM json_array_elements_text(old.access::json));
	DELETE FROM archive_access
		WHERE case_id = old.id AND month = old.archived AND party_id IN (SELECT value::bigint FROM json_array_elements_text(old.access::json));
	UPDATE open_cases SET n = n - 1 WHERE starter_id = old.starter_id AND route_id = old.route_id AND old.open = 1;
	DELETE FROM done_tasks WHERE time BETWEEN old.created AND old.modified AND case_id = old.id;
	RETURN old;
END $$;
-- +goose StatementEnd
