-- +goose Up

-- A case that another one started as its child, and by which enablement.
ALTER TABLE cases ADD COLUMN parent_id INTEGER;
ALTER TABLE cases ADD COLUMN parent_row INTEGER;

CREATE INDEX cases_of_enablement ON cases (parent_id, parent_row, id) WHERE parent_id IS NOT NULL; -- ending them
CREATE INDEX cases_of_parent ON cases (parent_id, id) WHERE parent_id IS NOT NULL;                 -- listings

-- Which children an enablement shall have, while there are more of them than
-- one transaction makes.
CREATE TABLE plans (
	case_id INTEGER NOT NULL,
	row     INTEGER NOT NULL,
	plan    BLOB    NOT NULL,
	PRIMARY KEY (case_id, row)
) STRICT;
