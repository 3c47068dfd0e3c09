-- +goose Up

-- Nothing: SQLite has one node. The number is that of the same migration in
-- schema/postgres, so that both databases have the same version.
SELECT 1;
