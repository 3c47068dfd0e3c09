-- +goose Up

-- Who may have tasks in which open case, and on which worklists: bits, as
-- core.Lists says. A row a party and a case; what exactly the tasks are is in
-- the case.
CREATE TABLE tasks (
	party_id INTEGER NOT NULL REFERENCES parties (id),
	case_id  INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
	lists    INTEGER NOT NULL CHECK (lists > 0),
	PRIMARY KEY (party_id, case_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX tasks_of_case ON tasks (case_id); -- the writer; deputies of whom a task is delegated to

-- The same for the administrators of a route, whoever they are.
CREATE TABLE route_tasks (
	route_id INTEGER NOT NULL,
	case_id  INTEGER NOT NULL UNIQUE REFERENCES cases (id) ON DELETE CASCADE,
	lists    INTEGER NOT NULL CHECK (lists > 0),
	PRIMARY KEY (route_id, case_id)
) STRICT, WITHOUT ROWID;
