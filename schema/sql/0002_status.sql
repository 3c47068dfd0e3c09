-- +goose Up

-- Schedule entries that have ended, for thirty days: what became of them can
-- still be looked up under their name. Their occurrences are kept for good.
CREATE TABLE ended_entries (
	uuid       BLOB    NOT NULL PRIMARY KEY CHECK (length(uuid) = 16),
	context_id INTEGER NOT NULL,
	author_id  INTEGER NOT NULL, -- of its given name, 0: it had none
	name       TEXT    NOT NULL,
	actor      TEXT    NOT NULL, -- who deleted it, '': its last instant has passed
	ended      INTEGER NOT NULL,
	form       BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX ended_entries_of_context ON ended_entries (context_id, ended);
CREATE INDEX ended_entries_by_age ON ended_entries (ended);

-- What users have performed lately, as a line of JSON for each.
CREATE TABLE done_tasks (
	user_id INTEGER NOT NULL,
	time    INTEGER NOT NULL,
	case_id INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
	seq     INTEGER NOT NULL, -- of the log entry
	action  TEXT    NOT NULL,
	form    BLOB    NOT NULL,
	PRIMARY KEY (user_id, time, case_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX done_tasks_by_age ON done_tasks (time);
CREATE INDEX done_tasks_of_case ON done_tasks (case_id);
