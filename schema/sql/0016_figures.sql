-- +goose Up

-- How many cases are open in which state is counted for monitoring, without reading a
-- row of a case.
DROP INDEX cases_open;
CREATE INDEX cases_open ON cases (route_id, id, state) WHERE open = 1; -- boards; figures
