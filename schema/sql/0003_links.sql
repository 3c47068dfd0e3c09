-- +goose Up

-- The relations of cases to other cases, by which the other case finds them. The
-- case itself has them in its marking.
CREATE TABLE case_links (
	case_id   INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
	relation  TEXT    NOT NULL CHECK (relation <> ''),
	target_id INTEGER NOT NULL, -- which may have been deleted since
	PRIMARY KEY (case_id, relation)
) STRICT, WITHOUT ROWID;

CREATE INDEX case_links_by_target ON case_links (target_id, relation, case_id); -- Linked, and whether a case is linked

-- Complete forms are stored: they have the new keys too.
UPDATE cases SET form = CAST(replace(CAST(form AS TEXT), ',"enabledActions":[', ',"links":{},"linkedFrom":{},"enabledActions":[') AS BLOB);
