-- +goose Up

-- Names under which their authors find the files that they dropped into the
-- folder of a route: each stands for the input of the case that the file has
-- started, as long as that case is open. A further file of the name starts
-- another case and takes the name over.
CREATE TABLE aliases (
	id        INTEGER PRIMARY KEY,
	author_id INTEGER NOT NULL REFERENCES parties (id),
	route_id  INTEGER NOT NULL,
	folded    TEXT    NOT NULL,
	name      TEXT    NOT NULL CHECK (name <> ''),
	case_id   INTEGER NOT NULL UNIQUE REFERENCES cases (id) ON DELETE CASCADE,
	open      INTEGER NOT NULL CHECK (open IN (0, 1)), -- whether the case is
	UNIQUE (author_id, route_id, folded)
) STRICT;

CREATE INDEX aliases_open ON aliases (author_id, route_id) WHERE open = 1; -- listings

-- +goose StatementBegin
CREATE TRIGGER aliases_follow AFTER UPDATE OF state ON cases
WHEN (old.state IN ('queued', 'active', 'suspended')) <> (new.state IN ('queued', 'active', 'suspended')) BEGIN
	UPDATE aliases SET open = new.state IN ('queued', 'active', 'suspended') WHERE case_id = new.id;
END;
-- +goose StatementEnd

-- The board of a route: its cases by state, but for canceled ones. Open cases
-- move from state to state, so their states are read from the rows: an index
-- that had them would cost every action a page or two.
CREATE INDEX cases_open ON cases (route_id) WHERE state IN ('queued', 'active', 'suspended');
CREATE INDEX cases_ended ON cases (route_id, status) WHERE state IN ('completed', 'closed', 'failed');
