-- +goose Up

-- Conventions: instants are milliseconds since 1970 in UTC; a due instant is
-- NULL where nothing is due; documents are stored as the bytes that are
-- served. What a table is looked up by is a column, everything else is in
-- its document. Every index has a reader, named beside it.

-- "FDRV": the file is a database of Flowdrive. Builds before version 1 did not
-- say so.
PRAGMA application_id = 0x46445256;

-- The first id that is not reserved: one sequence for cases, routes, users
-- and teams.
CREATE TABLE sequence (
	one  INTEGER PRIMARY KEY CHECK (one = 1),
	next INTEGER NOT NULL CHECK (next > 0)
) STRICT;

INSERT INTO sequence (one, next) VALUES (1, 1);

CREATE TABLE settings (
	key   TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Users and teams. Members and admins are JSON arrays of names: they are
-- only ever read whole.
CREATE TABLE parties (
	id          INTEGER PRIMARY KEY,
	name        TEXT    NOT NULL CHECK (name <> ''),
	folded      TEXT    NOT NULL UNIQUE,
	kind        TEXT    NOT NULL CHECK (kind IN ('user', 'team')),
	full_name   TEXT    NOT NULL,
	email       TEXT    NOT NULL,
	admin       INTEGER NOT NULL CHECK (admin IN (0, 1)),
	disabled    INTEGER NOT NULL CHECK (disabled IN (0, 1)),
	members     TEXT    NOT NULL CHECK (json_type(members) = 'array'),
	admins      TEXT    NOT NULL CHECK (json_type(admins) = 'array'),
	password    TEXT    NOT NULL,
	revision    INTEGER NOT NULL CHECK (revision >= 0),
	created     INTEGER NOT NULL,
	modified    INTEGER NOT NULL,
	deputy_id   INTEGER REFERENCES parties (id), -- who stands in for a user, from one instant to another
	deputy_from INTEGER,
	deputy_to   INTEGER,
	quiet       INTEGER NOT NULL CHECK (quiet IN (0, 1)), -- no mails
	watch       TEXT    NOT NULL CHECK (json_type(watch) = 'array'), -- names of routes
	CHECK ((deputy_id IS NULL) = (deputy_from IS NULL) AND (deputy_id IS NULL OR kind = 'user')),
	CHECK ((deputy_id IS NULL) = (deputy_to IS NULL) AND (deputy_id IS NULL OR deputy_from < deputy_to)),
	CHECK (kind = 'user' OR (admin = 0 AND disabled = 0 AND password = ''))
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER parties_inserted AFTER INSERT ON parties BEGIN
	INSERT INTO documents (context_id, name, folder, author_id, revision, media_type, size, created, modified)
		VALUES (new.id, '', 1, new.id, 1, '', 0, new.created, new.created);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER parties_leaving BEFORE DELETE ON parties BEGIN
	DELETE FROM documents WHERE context_id = old.id
		AND NOT EXISTS (SELECT 1 FROM documents member WHERE member.parent_id = documents.id);
END;
-- +goose StatementEnd

-- Passwords of devices and programs. They are random, so that a plain digest
-- is as good as a slow one, and a request costs one look into memory.
CREATE TABLE app_passwords (
	id        INTEGER PRIMARY KEY,
	user_id   INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folded    TEXT    NOT NULL,
	label     TEXT    NOT NULL CHECK (label <> ''),
	sha256    BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),
	created   INTEGER NOT NULL,
	last_used INTEGER,
	UNIQUE (user_id, folded)
) STRICT;

-- Addresses of calendars that need no log-in: as app_passwords.
CREATE TABLE calendar_links (
	id        INTEGER PRIMARY KEY,
	user_id   INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folded    TEXT    NOT NULL,
	label     TEXT    NOT NULL CHECK (label <> ''),
	sha256    BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),
	created   INTEGER NOT NULL,
	last_used INTEGER,
	UNIQUE (user_id, folded)
) STRICT;

-- First answers to requests with an idempotency key.
CREATE TABLE answers (
	user_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	key     TEXT    NOT NULL,
	url     BLOB    NOT NULL CHECK (length(url) = 32),
	request BLOB    NOT NULL CHECK (length(request) = 32),
	created INTEGER NOT NULL,
	answer  BLOB    NOT NULL,
	UNIQUE (user_id, key)
) STRICT;

CREATE INDEX answers_by_age ON answers (created); -- DeleteAnswersBefore

CREATE TABLE routes (
	id         INTEGER PRIMARY KEY,
	name       TEXT    NOT NULL CHECK (name <> ''),
	folded     TEXT    NOT NULL UNIQUE,
	context_id INTEGER NOT NULL REFERENCES parties (id),
	author_id  INTEGER NOT NULL REFERENCES parties (id),
	version    INTEGER NOT NULL CHECK (version > 0),
	yaml       INTEGER NOT NULL CHECK (yaml IN (0, 1)),
	source     BLOB    NOT NULL,
	etag       TEXT    NOT NULL,
	form       BLOB    NOT NULL,
	created    INTEGER NOT NULL,
	modified   INTEGER NOT NULL
) STRICT;

-- Every version ever stored. They outlive their route: cases run by them.
CREATE TABLE route_versions (
	route_id INTEGER NOT NULL,
	version  INTEGER NOT NULL CHECK (version > 0),
	name     TEXT    NOT NULL CHECK (name <> ''),
	yaml     INTEGER NOT NULL CHECK (yaml IN (0, 1)),
	source   BLOB    NOT NULL,
	form     BLOB    NOT NULL,
	created  INTEGER NOT NULL,
	UNIQUE (route_id, version)
) STRICT;

-- Schedule entries. The route of an entry may be gone: the entry says so
-- when it fires.
CREATE TABLE entries (
	seq        INTEGER PRIMARY KEY,
	uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
	context_id INTEGER NOT NULL REFERENCES parties (id),
	author_id  INTEGER NOT NULL REFERENCES parties (id),
	route_id   INTEGER NOT NULL,
	type       TEXT    NOT NULL CHECK (type = 'simple' OR type = 'interval' OR type = 'cron' OR type = 'crontab'),
	definition INTEGER NOT NULL CHECK (definition > 0),
	revision   INTEGER NOT NULL CHECK (revision > 0),
	due        INTEGER,
	attachment BLOB    CHECK (attachment IS NULL OR length(attachment) = 16), -- its cases' input; it may be gone when the entry fires
	paused     INTEGER, -- since when: what it missed since then is dealt with when it goes on
	form       BLOB    NOT NULL,
	created    INTEGER NOT NULL,
	modified   INTEGER NOT NULL
) STRICT;

CREATE INDEX entries_by_context ON entries (context_id); -- listings
CREATE INDEX entries_by_author ON entries (author_id, route_id); -- limits; what uses a route
CREATE INDEX entries_by_due ON entries (due) WHERE due IS NOT NULL; -- the sweeper
CREATE INDEX entries_by_attachment ON entries (attachment) WHERE attachment IS NOT NULL; -- what uses it
CREATE INDEX entries_upcoming ON entries (context_id, due) WHERE due IS NOT NULL; -- calendars, in the order of instants

-- What became of each instant of an entry, exactly once; it outlives the
-- entry. It is found by entry and instant alone: kept in that order, each is in
-- one place instead of two.
CREATE TABLE occurrences (
	entry      BLOB    NOT NULL CHECK (length(entry) = 16),
	instant    INTEGER NOT NULL,
	context_id INTEGER NOT NULL,
	outcome    TEXT    NOT NULL CHECK (outcome = 'fired' OR outcome = 'late' OR outcome = 'skipped' OR outcome = 'failed' OR outcome = 'triggered' OR outcome = 'backfilled'),
	reason     TEXT    NOT NULL,
	case_id    INTEGER CHECK (case_id > 0),
	fired_at   INTEGER NOT NULL,
	PRIMARY KEY (entry, instant)
) STRICT, WITHOUT ROWID;

-- Cases. access is the JSON array of the ids of the parties in whose
-- contexts the case is seen, ascending; case_access and archive_access are the
-- same for listings and kept in step below. What Cases/ and the boards list does
-- not cost more for what is in the archive: it has indexes of its own.
--
-- To see whether a text is in a list of three or more, SQLite builds a tree of
-- the list each time, which costs more than most of what is done with the
-- answer. So the checks of what is written most compare the text with each.
CREATE TABLE cases (
	id         INTEGER PRIMARY KEY CHECK (id > 0),
	route_id   INTEGER NOT NULL,
	context_id INTEGER NOT NULL,
	starter_id INTEGER NOT NULL,
	state      TEXT    NOT NULL CHECK (state = 'queued' OR state = 'active' OR state = 'suspended' OR state = 'completed' OR state = 'closed' OR state = 'canceled' OR state = 'failed'),
	status     TEXT    NOT NULL,
	priority   INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 65535),
	version    INTEGER NOT NULL CHECK (version > 0),
	revision   INTEGER NOT NULL CHECK (revision > 0),
	due        INTEGER,
	start_at   INTEGER, -- for what a queued case waits: its due time, apart so that the index of what can be started is no part of other changes
	parent_id  INTEGER, -- the case that has started it as its child …
	parent_row INTEGER, -- … and by which enablement
	entry      BLOB    CHECK (length(entry) = 16), -- the schedule entry that it is of
	waits      INTEGER NOT NULL CHECK (waits IN (0, 1)), -- until an earlier one of the entry has ended
	grp        TEXT    NOT NULL, -- the group of its route, '' for none
	busy       INTEGER NOT NULL CHECK (busy IN (0, 1) AND (busy = 0 OR grp <> '')), -- it keeps others of the group from starting
	archived   INTEGER CHECK (archived BETWEEN 101 AND 999912), -- the month in which it has ended, as 201211; NULL: it is in Cases/
	retires    INTEGER, -- when its retention is over; of an archived one: when those of its children are to be archived that are not
	open       INTEGER AS (state = 'queued' OR state = 'active' OR state = 'suspended') VIRTUAL,
	named      INTEGER NOT NULL CHECK (named IN (0, 1)),
	access     TEXT    NOT NULL,
	created    INTEGER NOT NULL,
	modified   INTEGER NOT NULL,
	marking    BLOB    NOT NULL,
	form       BLOB    NOT NULL
) STRICT;

CREATE INDEX cases_by_due ON cases (due) WHERE due IS NOT NULL; -- the sweeper
CREATE INDEX cases_of_enablement ON cases (parent_id, parent_row, id) WHERE parent_id IS NOT NULL; -- ending them
CREATE INDEX cases_retired ON cases (retires) WHERE retires IS NOT NULL; -- the sweeper
CREATE INDEX cases_by_route ON cases (route_id) WHERE archived IS NULL; -- listings of a route's administrators
CREATE INDEX cases_listed ON cases (id) WHERE archived IS NULL; -- listings of administrators
CREATE INDEX cases_of_parent ON cases (parent_id, id) WHERE parent_id IS NOT NULL AND archived IS NULL; -- listings; archiving them
CREATE INDEX archive_by_id ON cases (id) WHERE archived IS NOT NULL; -- listings of administrators
CREATE INDEX archive_by_month ON cases (archived) WHERE archived IS NOT NULL; -- likewise
CREATE INDEX archive_by_route ON cases (route_id) WHERE archived IS NOT NULL; -- listings of a route's administrators
CREATE INDEX archive_by_route_and_month ON cases (route_id, archived) WHERE archived IS NOT NULL; -- likewise
CREATE INDEX cases_queued ON cases (grp, route_id, priority DESC, id) WHERE state = 'queued' AND waits = 0 AND start_at IS NULL; -- what can be started, by lanes
CREATE INDEX cases_busy ON cases (grp) WHERE busy = 1; -- GroupBusy
CREATE INDEX cases_upcoming ON cases (context_id, due) WHERE due IS NOT NULL; -- calendars
CREATE INDEX cases_open ON cases (route_id) WHERE open = 1; -- boards
CREATE INDEX cases_ended ON cases (route_id, status)
	WHERE open = 0 AND state <> 'canceled' AND archived IS NULL; -- boards
CREATE INDEX cases_of_entry ON cases (entry, id) WHERE entry IS NOT NULL AND open = 1; -- OpenOf

-- +goose StatementBegin
CREATE TRIGGER cases_regarded AFTER UPDATE OF access ON cases WHEN old.access <> new.access AND old.archived IS NULL BEGIN
	DELETE FROM case_access
		WHERE case_id = new.id
		AND party_id IN (SELECT value FROM json_each(old.access) EXCEPT SELECT value FROM json_each(new.access));
	INSERT INTO case_access (party_id, case_id)
		SELECT value, new.id FROM json_each(new.access) EXCEPT SELECT value, new.id FROM json_each(old.access);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER archive_regarded AFTER UPDATE OF access ON cases WHEN old.access <> new.access AND old.archived IS NOT NULL BEGIN
	DELETE FROM archive_access
		WHERE case_id = new.id AND month = old.archived
		AND party_id IN (SELECT value FROM json_each(old.access) EXCEPT SELECT value FROM json_each(new.access));
	INSERT INTO archive_access (party_id, month, case_id)
		SELECT value, old.archived, new.id FROM json_each(new.access)
		EXCEPT SELECT value, old.archived, new.id FROM json_each(old.access);
END;
-- +goose StatementEnd

-- Nobody has tasks in what is archived.
-- +goose StatementBegin
CREATE TRIGGER cases_archived AFTER UPDATE OF archived ON cases WHEN old.archived IS NULL AND new.archived IS NOT NULL BEGIN
	DELETE FROM case_access WHERE case_id = new.id AND party_id IN (SELECT value FROM json_each(new.access));
	INSERT INTO archive_access (party_id, month, case_id) SELECT value, new.archived, new.id FROM json_each(new.access);
	DELETE FROM tasks WHERE case_id = new.id;
	DELETE FROM route_tasks WHERE case_id = new.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cases_restored AFTER UPDATE OF archived ON cases WHEN old.archived IS NOT NULL AND new.archived IS NULL BEGIN
	DELETE FROM archive_access
		WHERE case_id = new.id AND month = old.archived AND party_id IN (SELECT value FROM json_each(new.access));
	INSERT INTO case_access (party_id, case_id) SELECT value, new.id FROM json_each(new.access);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cases_inserted AFTER INSERT ON cases BEGIN
	INSERT INTO case_access (party_id, case_id) SELECT value, new.id FROM json_each(new.access);
	INSERT INTO open_cases (starter_id, route_id, n)
		SELECT new.starter_id, new.route_id, 1 WHERE new.open
		ON CONFLICT DO UPDATE SET n = n + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cases_moved AFTER UPDATE OF state ON cases WHEN old.open <> new.open BEGIN
	INSERT INTO open_cases (starter_id, route_id, n) VALUES (new.starter_id, new.route_id, 1)
		ON CONFLICT DO UPDATE SET n = n + iif(new.open, 1, -1);
	UPDATE aliases SET open = new.open WHERE case_id = new.id;
END;
-- +goose StatementEnd

-- What belongs to a case goes with it; what has a foreign key that says so
-- goes by that.
-- +goose StatementBegin
CREATE TRIGGER cases_deleted BEFORE DELETE ON cases BEGIN
	DELETE FROM case_log WHERE case_id = old.id;
	DELETE FROM messages WHERE case_id = old.id;
	DELETE FROM plans WHERE case_id = old.id;
	DELETE FROM case_access WHERE case_id = old.id AND party_id IN (SELECT value FROM json_each(old.access));
	DELETE FROM archive_access
		WHERE case_id = old.id AND month = old.archived AND party_id IN (SELECT value FROM json_each(old.access));
	UPDATE open_cases SET n = n - 1 WHERE starter_id = old.starter_id AND route_id = old.route_id AND old.open;
END;
-- +goose StatementEnd

CREATE TABLE case_access (
	party_id INTEGER NOT NULL REFERENCES parties (id),
	case_id  INTEGER NOT NULL,
	PRIMARY KEY (party_id, case_id)
) STRICT, WITHOUT ROWID;

-- What case_access is for the cases in Cases/, for those in the archive.
CREATE TABLE archive_access (
	party_id INTEGER NOT NULL REFERENCES parties (id),
	month    INTEGER NOT NULL,
	case_id  INTEGER NOT NULL,
	PRIMARY KEY (party_id, month, case_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX archive_by_party ON archive_access (party_id, case_id); -- listings

-- How many open cases of a route somebody has started: a limit and the
-- refusal to delete a route rest on it, and neither may cost a count of
-- millions.
CREATE TABLE open_cases (
	starter_id INTEGER NOT NULL,
	route_id   INTEGER NOT NULL,
	n          INTEGER NOT NULL CHECK (n >= 0),
	PRIMARY KEY (starter_id, route_id)
) STRICT, WITHOUT ROWID;

-- Who may have tasks in which open case, and on which worklists: bits, as
-- machine.Lists says. A row a party and a case; what exactly the tasks are is in
-- the case.
CREATE TABLE tasks (
	party_id INTEGER NOT NULL REFERENCES parties (id),
	case_id  INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
	lists    INTEGER NOT NULL CHECK (lists > 0),
	PRIMARY KEY (party_id, case_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX tasks_of_case ON tasks (case_id); -- the writer; deputies of whom a task is delegated to

-- The same for the administrators of a route, whoever they are.
CREATE TABLE route_tasks (
	route_id INTEGER NOT NULL,
	case_id  INTEGER NOT NULL UNIQUE REFERENCES cases (id) ON DELETE CASCADE,
	lists    INTEGER NOT NULL CHECK (lists > 0),
	PRIMARY KEY (route_id, case_id)
) STRICT, WITHOUT ROWID;

-- The log, a row for the entries of one event: a JSON array.
CREATE TABLE case_log (
	case_id INTEGER NOT NULL REFERENCES cases (id),
	seq     INTEGER NOT NULL CHECK (seq > 0),
	entries BLOB    NOT NULL,
	UNIQUE (case_id, seq)
) STRICT;

-- Which children an enablement shall have, while there are more of them than
-- one transaction makes.
CREATE TABLE plans (
	case_id INTEGER NOT NULL,
	row     INTEGER NOT NULL,
	plan    BLOB    NOT NULL,
	PRIMARY KEY (case_id, row)
) STRICT;

-- Cases that were deleted, and may have children that are to go as well.
CREATE TABLE purges (
	case_id INTEGER NOT NULL PRIMARY KEY,
	due     INTEGER NOT NULL
) STRICT;

CREATE INDEX purges_by_due ON purges (due); -- the sweeper

-- What is to be done outside, until it is done: a row for each mail, request,
-- command and callback. Of those that a case waits for, seq and step say
-- which; step is 0 for what nobody waits for, as notifications are, and the
-- case is absent where it is about none.
CREATE TABLE outbox (
	id       INTEGER PRIMARY KEY,
	key      TEXT    NOT NULL UNIQUE, -- idempotency key
	case_id  INTEGER REFERENCES cases (id) ON DELETE CASCADE,
	seq      INTEGER NOT NULL,
	step     INTEGER NOT NULL CHECK (step >= 0),
	lane     TEXT    NOT NULL, -- what goes the same way: where one is slow, others need not wait
	request  BLOB    NOT NULL, -- JSON
	due      INTEGER, -- when it is tried; while it is, when it is tried again if nothing was heard; NULL: not by itself
	attempts INTEGER NOT NULL DEFAULT 0,
	flying   INTEGER NOT NULL DEFAULT 0 CHECK (flying IN (0, 1)), -- it is being tried
	created  INTEGER NOT NULL
) STRICT;

CREATE INDEX outbox_by_lane ON outbox (lane, due, id) WHERE due IS NOT NULL; -- the dispatcher
CREATE INDEX outbox_flying ON outbox (id) WHERE flying = 1; -- a start after a crash
CREATE INDEX outbox_of_case ON outbox (case_id) WHERE case_id IS NOT NULL; -- a case that goes

-- What keeps queued cases from starting: those of a route, of a group, or all.
CREATE TABLE holds (
	id       INTEGER PRIMARY KEY,
	folded   TEXT    NOT NULL UNIQUE,
	name     TEXT    NOT NULL CHECK (name <> ''),
	route    TEXT    NOT NULL,
	grp      TEXT    NOT NULL,
	engine   INTEGER NOT NULL CHECK (engine IN (0, 1)),
	reason   TEXT    NOT NULL,
	author   TEXT    NOT NULL,
	revision INTEGER NOT NULL CHECK (revision > 0),
	created  INTEGER NOT NULL,
	modified INTEGER NOT NULL,
	CHECK ((route <> '') + (grp <> '') + engine = 1)
) STRICT;

-- Messages. The content is in the row, or in the file of that digest.
CREATE TABLE messages (
	id         INTEGER PRIMARY KEY,
	case_id    INTEGER NOT NULL REFERENCES cases (id),
	label      TEXT    NOT NULL CHECK (label <> ''),
	uuid       BLOB    NOT NULL CHECK (length(uuid) = 16),
	author_id  INTEGER NOT NULL, -- whose quota it counts against: who has written it, or started its case with it; 0: nobody's
	media_type TEXT    NOT NULL,
	size       INTEGER NOT NULL CHECK (size >= 0),
	sha256     BLOB    NOT NULL CHECK (length(sha256) = 32),
	version    INTEGER NOT NULL CHECK (version > 0),
	created    INTEGER NOT NULL,
	modified   INTEGER NOT NULL,
	content    BLOB    CHECK (content IS NULL OR length(content) = size), -- NULL: in the file
	UNIQUE (case_id, label)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER messages_inserted AFTER INSERT ON messages WHEN new.content IS NULL BEGIN
	INSERT INTO blobs (sha256, refs) VALUES (new.sha256, 1) ON CONFLICT DO UPDATE SET refs = refs + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER messages_replaced AFTER UPDATE OF sha256, content ON messages
WHEN old.content IS NULL OR new.content IS NULL BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER messages_deleted AFTER DELETE ON messages WHEN old.content IS NULL BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER messages_counted AFTER INSERT ON messages WHEN new.author_id <> 0 AND new.size > 0 BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER messages_recounted AFTER UPDATE OF author_id, size ON messages BEGIN
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n) SELECT new.author_id, new.size WHERE new.author_id <> 0
		ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER messages_discounted AFTER DELETE ON messages WHEN old.author_id <> 0 BEGIN
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- Names that users gave to schedule entries and cases, with the bytes that
-- were stored under them.
CREATE TABLE given_names (
	id        INTEGER PRIMARY KEY,
	folder    TEXT    NOT NULL CHECK (folder IN ('schedule', 'cases')),
	author_id INTEGER NOT NULL REFERENCES parties (id),
	folded    TEXT    NOT NULL,
	name      TEXT    NOT NULL CHECK (name <> ''),
	entry     BLOB    UNIQUE REFERENCES entries (uuid) ON DELETE CASCADE,
	case_id   INTEGER UNIQUE REFERENCES cases (id) ON DELETE CASCADE,
	etag      TEXT    NOT NULL,
	modified  INTEGER NOT NULL,
	source    BLOB    NOT NULL,
	UNIQUE (author_id, folder, folded),
	CHECK ((folder = 'schedule') = (entry IS NOT NULL)),
	CHECK ((folder = 'cases') = (case_id IS NOT NULL))
) STRICT;

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

-- Contents that are files, and how many rows refer to each. A row is written
-- before its file is, and deleted after its file is gone: there is never a
-- file without a row. What refers to a content keeps the count by triggers,
-- in its own transaction; those of messages are the pattern for others.
CREATE TABLE blobs (
	sha256 BLOB    NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
	refs   INTEGER NOT NULL CHECK (refs >= 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX blobs_unused ON blobs (sha256) WHERE refs = 0; -- the collector

-- How many bytes somebody has stored: the quota rests on it, and may not
-- cost a sum over all there is.
CREATE TABLE stored_bytes (
	author_id INTEGER NOT NULL PRIMARY KEY,
	n         INTEGER NOT NULL CHECK (n >= 0)
) STRICT;

-- Attachments. They never change but for their expiry: lifetime says how
-- long one lives that nothing refers to, '' for ever; expires is NULL while
-- it does not expire.
CREATE TABLE attachments (
	id         INTEGER PRIMARY KEY,
	uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
	context_id INTEGER NOT NULL REFERENCES parties (id),
	author_id  INTEGER NOT NULL REFERENCES parties (id),
	case_id    INTEGER REFERENCES cases (id) ON DELETE CASCADE, -- NULL: bound to no case
	name       TEXT    NOT NULL CHECK (name <> ''),
	media_type TEXT    NOT NULL CHECK (media_type <> ''),
	size       INTEGER NOT NULL CHECK (size >= 0),
	sha256     BLOB    NOT NULL REFERENCES blobs (sha256),
	lifetime   TEXT    NOT NULL,
	expires    INTEGER,
	created    INTEGER NOT NULL
) STRICT;

CREATE INDEX attachments_by_context ON attachments (context_id) WHERE case_id IS NULL; -- listings
CREATE INDEX attachments_by_case ON attachments (case_id) WHERE case_id IS NOT NULL; -- listings
CREATE INDEX attachments_by_expiry ON attachments (expires) WHERE expires IS NOT NULL; -- the sweeper
CREATE INDEX attachments_by_blob ON attachments (sha256); -- its foreign key

-- +goose StatementBegin
CREATE TRIGGER attachments_inserted AFTER INSERT ON attachments BEGIN
	UPDATE blobs SET refs = refs + 1 WHERE sha256 = new.sha256;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER attachments_deleted AFTER DELETE ON attachments BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- The file areas of users and teams, a tree of folders and files each. Only
-- its root knows whose a tree is, and each row only the folder it lies in, so
-- that moving a tree changes one row however large it is. A row that has
-- neither context nor folder was taken out of its tree to be deleted, bit by
-- bit; nothing finds it any more.
-- Properties are in the row, so that they move, are copied and deleted with it,
-- and a listing reads them with it. They count against the quota of the row's
-- author, as its content does.
CREATE TABLE documents (
	id         INTEGER PRIMARY KEY,
	context_id INTEGER UNIQUE REFERENCES parties (id), -- of a root, else NULL
	parent_id  INTEGER REFERENCES documents (id), -- a folder; of a root NULL
	name       TEXT    NOT NULL, -- '' of a root
	folder     INTEGER NOT NULL CHECK (folder IN (0, 1)),
	author_id  INTEGER NOT NULL REFERENCES parties (id),
	revision   INTEGER NOT NULL CHECK (revision > 0),
	media_type TEXT    NOT NULL,
	size       INTEGER NOT NULL CHECK (size >= 0),
	sha256     BLOB    CHECK (sha256 IS NULL OR length(sha256) = 32), -- NULL: a folder
	created    INTEGER NOT NULL,
	modified   INTEGER NOT NULL,
	properties TEXT    CHECK (properties IS NULL OR json_type(properties) = 'array'), -- that clients have stored with it (RFC 4918, section 4), NULL: none
	content    BLOB    CHECK (content IS NULL OR length(content) = size), -- NULL: in the file
	UNIQUE (parent_id, name),
	CHECK ((context_id IS NULL) = (name <> '')),
	CHECK (context_id IS NULL OR parent_id IS NULL AND folder = 1),
	CHECK (folder = (sha256 IS NULL)),
	CHECK (folder = 0 OR size = 0 AND media_type = '' AND content IS NULL)
) STRICT;

CREATE INDEX documents_by_folder ON documents (parent_id); -- .contents, in order of creation
CREATE INDEX documents_by_author ON documents (author_id); -- what keeps a user from being deleted
CREATE INDEX documents_detached ON documents (id) WHERE parent_id IS NULL AND context_id IS NULL; -- what is being deleted

-- +goose StatementBegin
CREATE TRIGGER documents_inserted AFTER INSERT ON documents WHEN new.folder = 0 BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER documents_replaced AFTER UPDATE OF author_id, size, sha256, content ON documents WHEN new.folder = 0 BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER documents_deleted AFTER DELETE ON documents WHEN old.folder = 0 BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER properties_inserted AFTER INSERT ON documents WHEN new.properties IS NOT NULL BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, octet_length(new.properties))
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER properties_replaced AFTER UPDATE OF author_id, properties ON documents
WHEN old.properties IS NOT NULL OR new.properties IS NOT NULL BEGIN
	UPDATE stored_bytes SET n = n - octet_length(old.properties) WHERE author_id = old.author_id AND old.properties IS NOT NULL;
	INSERT INTO stored_bytes (author_id, n) SELECT new.author_id, octet_length(new.properties) WHERE new.properties IS NOT NULL
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER properties_deleted AFTER DELETE ON documents WHEN old.properties IS NOT NULL BEGIN
	UPDATE stored_bytes SET n = n - octet_length(old.properties) WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- Write locks (RFC 4918, section 7). What a lock is on is a text that names
-- one resource under all its names, "case/17", and begins with what kind it
-- is, so that a listing finds all locks of its kind in a range of the index.
-- A lock that has expired covers nothing, and goes when the next one comes.
CREATE TABLE locks (
	id        INTEGER PRIMARY KEY,
	token     BLOB    NOT NULL UNIQUE CHECK (length(token) = 16),
	target    TEXT    NOT NULL CHECK (target <> ''),
	holder_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	shared    INTEGER NOT NULL CHECK (shared IN (0, 1)),
	deep      INTEGER NOT NULL CHECK (deep IN (0, 1)), -- covers what is below a folder
	owner     TEXT    NOT NULL, -- what the holder says of itself, XML
	root      TEXT    NOT NULL, -- the path that was locked
	seconds   INTEGER NOT NULL CHECK (seconds > 0), -- that it was given for
	expires   INTEGER NOT NULL -- by the machine's clock, in a sandbox too
) STRICT;

CREATE INDEX locks_by_target ON locks (target);
CREATE INDEX locks_by_holder ON locks (holder_id);
CREATE INDEX locks_by_expiry ON locks (expires);

-- What the programs of a mounted drive keep beside the documents of the
-- workflow, each user's own: the temporary files of editors and desktops with
-- their folders, drafts, and what was refused. A place is a folder's path,
-- folded, and a name in it. Rows are read until they expire, by the machine's
-- clock, and deleted some time later.
CREATE TABLE scratch (
	id         INTEGER PRIMARY KEY,
	author_id  INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folder     TEXT    NOT NULL CHECK (folder <> ''),
	folded     TEXT    NOT NULL,
	name       TEXT    NOT NULL CHECK (name <> ''),
	kind       TEXT    NOT NULL CHECK (kind IN ('side', 'folder', 'draft', 'rejected')),
	locked     INTEGER NOT NULL CHECK (locked IN (0, 1)), -- of a draft: it ends with the lock that made it
	media_type TEXT    NOT NULL,
	size       INTEGER NOT NULL CHECK (size >= 0),
	sha256     BLOB    NOT NULL CHECK (length(sha256) = 32),
	created    INTEGER NOT NULL,
	modified   INTEGER NOT NULL,
	expires    INTEGER NOT NULL,
	content    BLOB    CHECK (content IS NULL OR length(content) = size), -- NULL: in the file
	UNIQUE (author_id, folder, folded),
	CHECK (kind IN ('side', 'rejected') OR size = 0 AND content IS NOT NULL),
	CHECK (locked = 0 OR kind = 'draft')
) STRICT;

CREATE INDEX scratch_by_age ON scratch (author_id, modified); -- the oldest, to be dropped first
CREATE INDEX scratch_by_expiry ON scratch (expires); -- what has expired

-- +goose StatementBegin
CREATE TRIGGER scratch_inserted AFTER INSERT ON scratch BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
	INSERT INTO scratch_bytes (author_id, n) VALUES (new.author_id, new.size + 4096)
		ON CONFLICT DO UPDATE SET n = n + new.size + 4096;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER scratch_replaced AFTER UPDATE OF size, sha256, content ON scratch BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size + new.size WHERE author_id = new.author_id;
	UPDATE scratch_bytes SET n = n - old.size + new.size WHERE author_id = new.author_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER scratch_deleted AFTER DELETE ON scratch BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
	UPDATE scratch_bytes SET n = n - old.size - 4096 WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- How much of the scratch area somebody uses: 4 KiB for each row and what it
-- holds, so that many empty ones are bounded as well.
CREATE TABLE scratch_bytes (
	author_id INTEGER NOT NULL PRIMARY KEY,
	n         INTEGER NOT NULL CHECK (n >= 0)
) STRICT;

-- The source documents that were overwritten or deleted, for thirty days.
-- replaced is when, in whole seconds, by the drive's clock; a second one of
-- the same name within a second is a second later.
CREATE TABLE history (
	id        INTEGER PRIMARY KEY,
	folder    TEXT    NOT NULL CHECK (folder IN ('schedule', 'routes', 'cases')),
	author_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folded    TEXT    NOT NULL,
	name      TEXT    NOT NULL CHECK (name <> ''),
	replaced  INTEGER NOT NULL,
	etag      TEXT    NOT NULL,
	source    BLOB    NOT NULL,
	UNIQUE (folder, author_id, folded, replaced)
) STRICT;

CREATE INDEX history_by_age ON history (replaced); -- what is too old

-- +goose StatementBegin
CREATE TRIGGER history_inserted AFTER INSERT ON history BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, length(new.source))
		ON CONFLICT DO UPDATE SET n = n + length(new.source);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER history_deleted AFTER DELETE ON history BEGIN
	UPDATE stored_bytes SET n = n - length(old.source) WHERE author_id = old.author_id;
END;
-- +goose StatementEnd

-- What a user has deleted a moment ago, by the machine's clock: identity and
-- counters, as JSON, for the document that comes under the same name at once.
CREATE TABLE departed (
	author_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folder    TEXT    NOT NULL CHECK (folder IN ('schedule', 'routes')),
	folded    TEXT    NOT NULL,
	deleted   INTEGER NOT NULL,
	remains   TEXT    NOT NULL CHECK (json_valid(remains)),
	PRIMARY KEY (author_id, folder, folded)
) STRICT, WITHOUT ROWID;

CREATE INDEX departed_by_age ON departed (deleted); -- what is too long ago

-- The audit log: for each day since 1970 a text that only grows, a line of
-- JSON a row. start is where the line begins in the text of its day, so that
-- a part can be read without what comes before.
CREATE TABLE audit (
	day   INTEGER NOT NULL,
	start INTEGER NOT NULL CHECK (start >= 0),
	time  INTEGER NOT NULL,
	line  BLOB    NOT NULL CHECK (length(line) > 0),
	PRIMARY KEY (day, start)
) STRICT, WITHOUT ROWID;
