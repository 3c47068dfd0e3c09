-- +goose Up

-- What is to come in a context, for its calendar: in the order of its
-- instants, without a look at the rows.
CREATE INDEX entries_upcoming ON entries (context_id, due) WHERE due IS NOT NULL;
CREATE INDEX cases_upcoming ON cases (context_id, due) WHERE due IS NOT NULL;
