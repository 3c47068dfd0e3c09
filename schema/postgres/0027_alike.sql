-- +goose Up

-- What is wrong with a case is found by its schedule entry: people are told of cases that
-- fail alike by one notice, however many cases and other troubles there are.
ALTER TABLE troubles ADD COLUMN case_entry bytea CHECK (octet_length(case_entry) = 16);

UPDATE troubles SET case_entry = (SELECT entry FROM cases WHERE id = troubles.case_id) WHERE case_id IS NOT NULL;

CREATE INDEX troubles_alike ON troubles (case_entry, name, case_id) WHERE case_entry IS NOT NULL;
