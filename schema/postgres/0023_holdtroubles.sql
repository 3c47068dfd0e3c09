-- +goose Up

-- A hold that somebody has forgotten can be what is wrong, too. Of holds that are there
-- people are told for the first time as if nobody had been told of them.
ALTER TABLE troubles ADD COLUMN hold bigint REFERENCES holds (id) ON DELETE CASCADE;
ALTER TABLE troubles DROP CONSTRAINT troubles_check;
ALTER TABLE troubles ADD CONSTRAINT troubles_check CHECK (num_nonnulls(case_id, entry, hook, hold) = 1);
CREATE UNIQUE INDEX troubles_of_hold ON troubles (hold, name) WHERE hold IS NOT NULL;
INSERT INTO troubles (hold, name, due, data)
	SELECT id, 'held', created + 86400000, convert_to(json_build_object('what', 'held', 'text', '', 'since', to_char(to_timestamp(created / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'told', json_build_array())::text, 'UTF8')
	FROM holds;
