-- +goose Up

-- What is known of a route without reading its text: whom it is for. A route that was
-- stored before this has none until the server starts.
CREATE TABLE route_briefs (
	route_id INTEGER PRIMARY KEY REFERENCES routes (id) ON DELETE CASCADE,
	brief    BLOB    NOT NULL -- JSON
) STRICT;
