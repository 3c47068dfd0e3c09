-- +goose Up

-- The month in which an ended case that was archived has ended, as
-- 201211; NULL: it is in Cases/. What Cases/ and the boards list does not cost
-- more for what is in the archive: it has indexes of its own.
ALTER TABLE cases ADD COLUMN archived INTEGER CHECK (archived BETWEEN 101 AND 999912);

-- When the retention of an ended case is over. Of one that is archived: when
-- those of its children are to be archived that are not.
ALTER TABLE cases ADD COLUMN retires INTEGER;

CREATE INDEX cases_retired ON cases (retires) WHERE retires IS NOT NULL;             -- the sweeper

DROP INDEX cases_by_route;
CREATE INDEX cases_by_route ON cases (route_id) WHERE archived IS NULL;             -- listings of a route's administrators
CREATE INDEX cases_listed ON cases (id) WHERE archived IS NULL;                     -- listings of administrators
DROP INDEX cases_ended;
CREATE INDEX cases_ended ON cases (route_id, status)
	WHERE state IN ('completed', 'closed', 'failed') AND archived IS NULL;      -- boards
DROP INDEX cases_of_parent;
CREATE INDEX cases_of_parent ON cases (parent_id, id) WHERE parent_id IS NOT NULL AND archived IS NULL; -- listings; archiving them

CREATE INDEX archive_by_id ON cases (id) WHERE archived IS NOT NULL;                -- listings of administrators
CREATE INDEX archive_by_month ON cases (archived) WHERE archived IS NOT NULL;       -- likewise
CREATE INDEX archive_by_route ON cases (route_id) WHERE archived IS NOT NULL;       -- listings of a route's administrators
CREATE INDEX archive_by_route_and_month ON cases (route_id, archived) WHERE archived IS NOT NULL; -- likewise

-- What case_access is for the cases in Cases/, for those in the archive.
CREATE TABLE archive_access (
	party_id INTEGER NOT NULL REFERENCES parties (id),
	month    INTEGER NOT NULL,
	case_id  INTEGER NOT NULL,
	PRIMARY KEY (party_id, month, case_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX archive_by_party ON archive_access (party_id, case_id); -- listings

-- Cases that were deleted, and may have children that are to go as well.
CREATE TABLE purges (
	case_id INTEGER NOT NULL PRIMARY KEY,
	due     INTEGER NOT NULL
) STRICT;

CREATE INDEX purges_by_due ON purges (due); -- the sweeper

-- What ended before there were retentions has one from now on: the sweeper
-- finds out when.
UPDATE cases SET retires = modified
	WHERE parent_id IS NULL AND state IN ('completed', 'canceled', 'failed');

DROP TRIGGER cases_regarded;

-- +goose StatementBegin
CREATE TRIGGER cases_regarded AFTER UPDATE OF access ON cases WHEN old.access <> new.access AND old.archived IS NULL BEGIN
	DELETE FROM case_access
		WHERE case_id = new.id
		AND party_id IN (SELECT value FROM json_each(old.access) EXCEPT SELECT value FROM json_each(new.access));
	INSERT INTO case_access (party_id, case_id)
		SELECT value, new.id FROM json_each(new.access) EXCEPT SELECT value, new.id FROM json_each(old.access);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER archive_regarded AFTER UPDATE OF access ON cases WHEN old.access <> new.access AND old.archived IS NOT NULL BEGIN
	DELETE FROM archive_access
		WHERE case_id = new.id AND month = old.archived
		AND party_id IN (SELECT value FROM json_each(old.access) EXCEPT SELECT value FROM json_each(new.access));
	INSERT INTO archive_access (party_id, month, case_id)
		SELECT value, old.archived, new.id FROM json_each(new.access)
		EXCEPT SELECT value, old.archived, new.id FROM json_each(old.access);
END;
-- +goose StatementEnd

-- Nobody has tasks in what is archived.
-- +goose StatementBegin
CREATE TRIGGER cases_archived AFTER UPDATE OF archived ON cases WHEN old.archived IS NULL AND new.archived IS NOT NULL BEGIN
	DELETE FROM case_access WHERE case_id = new.id AND party_id IN (SELECT value FROM json_each(new.access));
	INSERT INTO archive_access (party_id, month, case_id) SELECT value, new.archived, new.id FROM json_each(new.access);
	DELETE FROM tasks WHERE case_id = new.id;
	DELETE FROM route_tasks WHERE case_id = new.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cases_restored AFTER UPDATE OF archived ON cases WHEN old.archived IS NOT NULL AND new.archived IS NULL BEGIN
	DELETE FROM archive_access
		WHERE case_id = new.id AND month = old.archived AND party_id IN (SELECT value FROM json_each(new.access));
	INSERT INTO case_access (party_id, case_id) SELECT value, new.id FROM json_each(new.access);
END;
-- +goose StatementEnd

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
	UPDATE open_cases SET n = n - 1
		WHERE starter_id = old.starter_id AND route_id = old.route_id AND old.state IN ('queued', 'active', 'suspended');
END;
-- +goose StatementEnd
