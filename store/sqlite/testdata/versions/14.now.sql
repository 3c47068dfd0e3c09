PRAGMA application_id = 1178882646;

CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);

CREATE TABLE sequence (
	one  INTEGER PRIMARY KEY CHECK (one = 1),
	next INTEGER NOT NULL CHECK (next > 0)
) STRICT;

CREATE TABLE settings (
	key   TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
	watch       TEXT    NOT NULL CHECK (json_type(watch) = 'array'), mail TEXT NOT NULL DEFAULT '{"kinds":null}' CHECK (json_type(mail) = 'object'), zone TEXT NOT NULL DEFAULT '', factor TEXT NOT NULL DEFAULT '' CHECK (factor = '' OR json_valid(factor)), origin TEXT NOT NULL DEFAULT '', pending TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(pending)), quota INTEGER NOT NULL DEFAULT 0 CHECK (quota >= 0), -- names of routes
	CHECK ((deputy_id IS NULL) = (deputy_from IS NULL) AND (deputy_id IS NULL OR kind = 'user')),
	CHECK ((deputy_id IS NULL) = (deputy_to IS NULL) AND (deputy_id IS NULL OR deputy_from < deputy_to)),
	CHECK (kind = 'user' OR (admin = 0 AND disabled = 0 AND password = ''))
) STRICT;

CREATE TABLE app_passwords (
	id        INTEGER PRIMARY KEY,
	user_id   INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folded    TEXT    NOT NULL,
	label     TEXT    NOT NULL CHECK (label <> ''),
	sha256    BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),
	created   INTEGER NOT NULL,
	last_used INTEGER, scope TEXT NOT NULL DEFAULT 'all', expires INTEGER, tell_at INTEGER,
	UNIQUE (user_id, folded)
) STRICT;

CREATE TABLE calendar_links (
	id        INTEGER PRIMARY KEY,
	user_id   INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folded    TEXT    NOT NULL,
	label     TEXT    NOT NULL CHECK (label <> ''),
	sha256    BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),
	created   INTEGER NOT NULL,
	last_used INTEGER, scope TEXT NOT NULL DEFAULT 'all', expires INTEGER, tell_at INTEGER,
	UNIQUE (user_id, folded)
) STRICT;

CREATE TABLE answers (
	user_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	key     TEXT    NOT NULL,
	url     BLOB    NOT NULL CHECK (length(url) = 32),
	request BLOB    NOT NULL CHECK (length(request) = 32),
	created INTEGER NOT NULL,
	answer  BLOB    NOT NULL,
	UNIQUE (user_id, key)
) STRICT;

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

CREATE TABLE route_versions (
	route_id INTEGER NOT NULL,
	version  INTEGER NOT NULL CHECK (version > 0),
	name     TEXT    NOT NULL CHECK (name <> ''),
	yaml     INTEGER NOT NULL CHECK (yaml IN (0, 1)),
	source   BLOB    NOT NULL,
	form     BLOB    NOT NULL,
	created  INTEGER NOT NULL, author_id INTEGER NOT NULL DEFAULT 0,
	UNIQUE (route_id, version)
) STRICT;

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
, log_bytes INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE case_access (
	party_id INTEGER NOT NULL REFERENCES parties (id),
	case_id  INTEGER NOT NULL,
	PRIMARY KEY (party_id, case_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE archive_access (
	party_id INTEGER NOT NULL REFERENCES parties (id),
	month    INTEGER NOT NULL,
	case_id  INTEGER NOT NULL,
	PRIMARY KEY (party_id, month, case_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE open_cases (
	starter_id INTEGER NOT NULL,
	route_id   INTEGER NOT NULL,
	n          INTEGER NOT NULL CHECK (n >= 0),
	PRIMARY KEY (starter_id, route_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
	party_id INTEGER NOT NULL REFERENCES parties (id),
	case_id  INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
	lists    INTEGER NOT NULL CHECK (lists > 0),
	PRIMARY KEY (party_id, case_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE route_tasks (
	route_id INTEGER NOT NULL,
	case_id  INTEGER NOT NULL UNIQUE REFERENCES cases (id) ON DELETE CASCADE,
	lists    INTEGER NOT NULL CHECK (lists > 0),
	PRIMARY KEY (route_id, case_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE case_log (
	case_id INTEGER NOT NULL REFERENCES cases (id),
	seq     INTEGER NOT NULL CHECK (seq > 0),
	entries BLOB    NOT NULL,
	UNIQUE (case_id, seq)
) STRICT;

CREATE TABLE plans (
	case_id INTEGER NOT NULL,
	row     INTEGER NOT NULL,
	plan    BLOB    NOT NULL,
	PRIMARY KEY (case_id, row)
) STRICT;

CREATE TABLE purges (
	case_id INTEGER NOT NULL PRIMARY KEY,
	due     INTEGER NOT NULL
) STRICT;

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

CREATE TABLE blobs (
	sha256 BLOB    NOT NULL PRIMARY KEY CHECK (length(sha256) = 32),
	refs   INTEGER NOT NULL CHECK (refs >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE stored_bytes (
	author_id INTEGER NOT NULL PRIMARY KEY,
	n         INTEGER NOT NULL CHECK (n >= 0)
, files INTEGER NOT NULL DEFAULT 0 CHECK (files >= 0)) STRICT;

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
	content    BLOB    CHECK (content IS NULL OR length(content) = size), past INTEGER NOT NULL DEFAULT 0 CHECK (past IN (0, 1)), -- NULL: in the file
	UNIQUE (parent_id, name),
	CHECK ((context_id IS NULL) = (name <> '')),
	CHECK (context_id IS NULL OR parent_id IS NULL AND folder = 1),
	CHECK (folder = (sha256 IS NULL)),
	CHECK (folder = 0 OR size = 0 AND media_type = '' AND content IS NULL)
) STRICT;

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

CREATE TABLE scratch_bytes (
	author_id INTEGER NOT NULL PRIMARY KEY,
	n         INTEGER NOT NULL CHECK (n >= 0)
) STRICT;

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

CREATE TABLE departed (
	author_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	folder    TEXT    NOT NULL CHECK (folder IN ('schedule', 'routes')),
	folded    TEXT    NOT NULL,
	deleted   INTEGER NOT NULL,
	remains   TEXT    NOT NULL CHECK (json_valid(remains)),
	PRIMARY KEY (author_id, folder, folded)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
	day   INTEGER NOT NULL,
	start INTEGER NOT NULL CHECK (start >= 0),
	time  INTEGER NOT NULL,
	line  BLOB    NOT NULL CHECK (length(line) > 0),
	PRIMARY KEY (day, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE ended_entries (
	uuid       BLOB    NOT NULL PRIMARY KEY CHECK (length(uuid) = 16),
	context_id INTEGER NOT NULL,
	author_id  INTEGER NOT NULL, -- of its given name, 0: it had none
	name       TEXT    NOT NULL,
	actor      TEXT    NOT NULL, -- who deleted it, '': its last instant has passed
	ended      INTEGER NOT NULL,
	form       BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE case_links (
	case_id   INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
	relation  TEXT    NOT NULL CHECK (relation <> ''),
	target_id INTEGER NOT NULL, -- which may have been deleted since
	PRIMARY KEY (case_id, relation)
) STRICT, WITHOUT ROWID;

CREATE TABLE meanings (
	route_id INTEGER NOT NULL, -- it outlives its route, as versions do
	kind     TEXT    NOT NULL CHECK (kind IN ('party', 'route')),
	folded   TEXT    NOT NULL CHECK (folded <> ''),
	upto     INTEGER NOT NULL CHECK (upto > 0),
	meant_id INTEGER NOT NULL, -- which may have been deleted
	PRIMARY KEY (route_id, kind, folded, upto)
) STRICT, WITHOUT ROWID;

CREATE TABLE held_mails (
	id      INTEGER PRIMARY KEY,
	user_id INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	due     INTEGER NOT NULL,
	digest  INTEGER NOT NULL CHECK (digest IN (0, 1)), -- goes in one mail with the others
	created INTEGER NOT NULL,
	mail    BLOB    NOT NULL -- JSON
) STRICT;

CREATE TABLE deliveries (
	case_id  INTEGER NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
	seq      INTEGER NOT NULL,
	step     INTEGER NOT NULL,
	name     TEXT    NOT NULL,
	created  INTEGER NOT NULL,
	modified INTEGER NOT NULL,
	form     BLOB    NOT NULL,
	PRIMARY KEY (case_id, seq, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE letters (
	id      INTEGER PRIMARY KEY,
	name    TEXT    NOT NULL UNIQUE CHECK (name <> ''),
	created INTEGER NOT NULL,
	size    INTEGER NOT NULL CHECK (size >= 0),
	content BLOB    NOT NULL
) STRICT;

CREATE TABLE hooks (
	id       INTEGER PRIMARY KEY,
	route_id INTEGER NOT NULL,
	folded   TEXT    NOT NULL CHECK (folded <> ''), -- the name, for comparing
	name     TEXT    NOT NULL,
	author   INTEGER NOT NULL, -- the user as whom it acts
	sha256   BLOB    NOT NULL CHECK (length(sha256) = 32), -- of the token
	settings BLOB    NOT NULL, -- JSON
	fault    TEXT    NOT NULL, -- why it does not work, '' if it does
	revision INTEGER NOT NULL,
	created  INTEGER NOT NULL,
	modified INTEGER NOT NULL,
	UNIQUE (route_id, folded),
	UNIQUE (sha256)
) STRICT;

CREATE TABLE sessions (
	id        INTEGER PRIMARY KEY,
	user_id   INTEGER NOT NULL REFERENCES parties (id) ON DELETE CASCADE,
	sha256    BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),
	agent     TEXT    NOT NULL, -- what the browser says it is
	lasting   INTEGER NOT NULL CHECK (lasting IN (0, 1)), -- it was asked to last
	created   INTEGER NOT NULL, -- by the machine's clock, in a sandbox too, as last_used
	last_used INTEGER NOT NULL
, address TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT '') STRICT;

CREATE TABLE scenarios (
	id           INTEGER PRIMARY KEY,
	route_id     INTEGER, -- NULL: it waits for a route of its name
	author_id    INTEGER NOT NULL, -- who stored it last; it waits for a route of this user's
	folded       TEXT    NOT NULL CHECK (folded <> ''), -- the name of the route, for comparing
	name         TEXT    NOT NULL,
	yaml         INTEGER NOT NULL,
	source       BLOB    NOT NULL, -- as it was PUT
	etag         TEXT    NOT NULL,
	title        TEXT    NOT NULL,
	played       INTEGER, -- when it held last, NULL if it was not played
	version      INTEGER NOT NULL, -- of the route then
	steps        INTEGER NOT NULL,
	expectations INTEGER NOT NULL,
	created      INTEGER NOT NULL,
	modified     INTEGER NOT NULL
) STRICT;

CREATE TABLE versions (
	id          INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
	context_id  INTEGER NOT NULL REFERENCES parties (id),
	folder      TEXT    NOT NULL, -- the path below the root, '' the root itself
	name        TEXT    NOT NULL CHECK (name <> ''), -- that it had
	shown       TEXT    NOT NULL CHECK (shown <> ''), -- in .history/
	replaced    INTEGER NOT NULL, -- when, by the drive's clock
	replacer_id INTEGER NOT NULL, -- who overwrote or deleted it
	owner_id    INTEGER NOT NULL, -- whose versions give way when the quota is full: of a file its author, of a folder who deleted it
	UNIQUE (context_id, folder, shown)
) STRICT;

CREATE TABLE route_briefs (
	route_id INTEGER PRIMARY KEY REFERENCES routes (id) ON DELETE CASCADE,
	brief    BLOB    NOT NULL -- JSON
) STRICT;

CREATE TABLE audit_head (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	number     INTEGER NOT NULL CHECK (number >= 0),
	sha256     BLOB    NOT NULL CHECK (length(sha256) = 32),
	unnumbered INTEGER NOT NULL CHECK (unnumbered >= 0)
) STRICT;

CREATE TABLE done_tasks (
	user_id INTEGER NOT NULL,
	time    INTEGER NOT NULL,
	case_id INTEGER NOT NULL, -- which may have been deleted since
	seq     INTEGER NOT NULL, -- of the log entry
	action  TEXT    NOT NULL,
	form    BLOB    NOT NULL,
	PRIMARY KEY (user_id, time, case_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE "troubles" (
	id      INTEGER PRIMARY KEY,
	case_id INTEGER REFERENCES cases (id) ON DELETE CASCADE,
	entry   BLOB    CHECK (length(entry) = 16), -- of the schedule entry
	hook    INTEGER REFERENCES hooks (id) ON DELETE CASCADE,
	hold    INTEGER REFERENCES holds (id) ON DELETE CASCADE,
	name    TEXT    NOT NULL CHECK (name <> ''), -- tells it from others of the same case, entry, hook or hold
	due     INTEGER NOT NULL, -- when people are told of it again
	data    BLOB    NOT NULL, case_entry BLOB CHECK (length(case_entry) = 16), -- JSON
	CHECK ((case_id IS NOT NULL) + (entry IS NOT NULL) + (hook IS NOT NULL) + (hold IS NOT NULL) = 1)
) STRICT;

INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (1, 0, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (10, 9, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (11, 10, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (12, 11, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (13, 12, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (14, 13, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (15, 14, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (16, 15, 1, '2026-11-28 16:36:21');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (17, 16, 1, '2026-11-28 16:36:21');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (18, 17, 1, '2026-11-28 16:36:21');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (19, 18, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (2, 1, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (20, 19, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (21, 20, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (22, 21, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (23, 22, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (24, 23, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (25, 24, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (26, 25, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (27, 26, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (28, 27, 1, '2026-11-28 16:36:22');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (3, 2, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (4, 3, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (5, 4, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (6, 5, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (7, 6, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (8, 7, 1, '2026-11-23 05:05:58');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (9, 8, 1, '2026-11-23 05:05:58');

INSERT INTO sequence (one, next) VALUES (1, 8);

INSERT INTO settings (key, value) VALUES ('key', 'value');

INSERT INTO parties (id, name, folded, kind, full_name, email, admin, disabled, members, admins, password, revision, created, modified, deputy_id, deputy_from, deputy_to, quiet, watch, mail, zone, factor, origin, pending, quota) VALUES (1, 'sam', 'sam', 'user', '', '', 0, 0, '[]', '[]', '', 0, 1352462400000, 1352462400000, NULL, NULL, NULL, 0, '[]', '{"kinds":null}', '', '', '', '{}', 0);
INSERT INTO parties (id, name, folded, kind, full_name, email, admin, disabled, members, admins, password, revision, created, modified, deputy_id, deputy_from, deputy_to, quiet, watch, mail, zone, factor, origin, pending, quota) VALUES (2, 'ann', 'ann', 'user', 'Ann', 'ann@example.org', 1, 0, '[]', '[]', '$argon2id$', 2, 1352462400000, 1352462400000, 1, 1352462400000, 1352466000000, 1, '["Bug"]', '{"kinds":["task"],"digest":"07:30","quiet":{"from":"20:00","to":"07:00"}}', 'Europe/Berlin', '', '', '{}', 0);
INSERT INTO parties (id, name, folded, kind, full_name, email, admin, disabled, members, admins, password, revision, created, modified, deputy_id, deputy_from, deputy_to, quiet, watch, mail, zone, factor, origin, pending, quota) VALUES (3, 'all', 'all', 'team', '', '', 0, 0, '["sam","ann"]', '["ann"]', '', 0, 1352462400000, 1352462400000, NULL, NULL, NULL, 0, '[]', '{"kinds":null}', '', '', '', '{}', 0);

INSERT INTO app_passwords (id, user_id, folded, label, sha256, created, last_used, scope, expires, tell_at) VALUES (1, 1, 'phone', 'Phone', X'7FE8FE74998F4D3529A7358A0A6E2B3173BDBD9FF0D5551044557DDF6624E55E', 1352462400000, 1352462400000, 'all', NULL, NULL);

INSERT INTO calendar_links (id, user_id, folded, label, sha256, created, last_used, scope, expires, tell_at) VALUES (1, 1, 'phone', 'Phone', X'DA351CFD79FDFA009FD841372A5821345FAC8ECCD1DDC907163966797540C3F6', 1352462400000, 1352462400000, 'all', NULL, NULL);

INSERT INTO answers (user_id, key, url, request, created, answer) VALUES (1, 'k', X'0BFE935E70C321C7CA3AFC75CE0D0CA2F98B5422E008BB31C00C6D7F1F1C0AD6', X'454349E422F05297191EAD13E21D3DB520E5ABEF52055E4964B82FB213F593A1', 1352462400000, X'7B7D');

INSERT INTO routes (id, name, folded, context_id, author_id, version, yaml, source, etag, form, created, modified) VALUES (4, 'Bug', 'bug', 1, 1, 1, 1, X'232074686520726F757465204275670A726F7574653A204275670A', '"etag"', X'7B22726F757465223A22427567227D', 1352462400000, 1352462400000);

INSERT INTO route_versions (route_id, version, name, yaml, source, form, created, author_id) VALUES (4, 1, 'Bug', 1, X'232074686520726F757465204275670A726F7574653A204275670A', X'7B22726F757465223A22427567227D', 1352462400000, 1);

INSERT INTO entries (seq, uuid, context_id, author_id, route_id, type, definition, revision, due, attachment, paused, form, created, modified) VALUES (1, X'00000000000000000000000000000001', 1, 1, 4, 'cron', 1, 1, 1352462401000, X'A7000000000000000000000000000001', 1352462400000, X'7B2274797065223A2263726F6E227D', 1352462400000, 1352462400000);

INSERT INTO occurrences (entry, instant, context_id, outcome, reason, case_id, fired_at) VALUES (X'00000000000000000000000000000001', 1352462400000, 1, 'skipped', 'paused', NULL, 1352462400000);

INSERT INTO cases (id, route_id, context_id, starter_id, state, status, priority, version, revision, due, start_at, parent_id, parent_row, entry, waits, grp, busy, archived, retires, named, access, created, modified, marking, form, log_bytes) VALUES (5, 4, 1, 1, 'active', 'open', 200, 1, 1, 1352462400000, NULL, NULL, NULL, X'00000000000000000000000000000001', 0, '', 0, NULL, NULL, 1, '[1]', 1352462400000, 1352462400000, X'7B226C223A22717565756564227D', X'7B227374617465223A22717565756564227D', 18);
INSERT INTO cases (id, route_id, context_id, starter_id, state, status, priority, version, revision, due, start_at, parent_id, parent_row, entry, waits, grp, busy, archived, retires, named, access, created, modified, marking, form, log_bytes) VALUES (6, 4, 2, 2, 'queued', '', 200, 1, 1, NULL, NULL, 5, 3, NULL, 1, 'g', 1, NULL, NULL, 0, '[2]', 1352462400000, 1352462400000, X'7B226C223A22717565756564227D', X'7B227374617465223A22717565756564227D', 0);
INSERT INTO cases (id, route_id, context_id, starter_id, state, status, priority, version, revision, due, start_at, parent_id, parent_row, entry, waits, grp, busy, archived, retires, named, access, created, modified, marking, form, log_bytes) VALUES (7, 4, 1, 1, 'completed', '', 200, 1, 1, NULL, NULL, NULL, NULL, NULL, 0, '', 0, 201211, 1352462400000, 0, '[1]', 1352462400000, 1352462400000, X'7B226C223A22717565756564227D', X'7B227374617465223A22717565756564227D', 0);

INSERT INTO case_access (party_id, case_id) VALUES (1, 5);
INSERT INTO case_access (party_id, case_id) VALUES (2, 6);

INSERT INTO archive_access (party_id, month, case_id) VALUES (1, 201211, 7);

INSERT INTO open_cases (starter_id, route_id, n) VALUES (1, 4, 1);
INSERT INTO open_cases (starter_id, route_id, n) VALUES (2, 4, 1);

INSERT INTO tasks (party_id, case_id, lists) VALUES (1, 5, 1);

INSERT INTO route_tasks (route_id, case_id, lists) VALUES (4, 5, 2);

INSERT INTO case_log (case_id, seq, entries) VALUES (5, 1, X'5B7B2274657874223A22426567756E227D5D');

INSERT INTO plans (case_id, row, plan) VALUES (5, 3, X'7B7D');

INSERT INTO purges (case_id, due) VALUES (4711, 1352462400000);

INSERT INTO outbox (id, key, case_id, seq, step, lane, request, due, attempts, flying, created) VALUES (1, '1.1.1', 5, 1, 1, 'mail', X'7B7D', 1352462400000, 0, 0, 1352462400000);

INSERT INTO holds (id, folded, name, route, grp, engine, reason, author, revision, created, modified) VALUES (1, 'all', 'all', '', '', 1, 'Maintenance.', 'ann', 1, 1352462400000, 1352462400000);

INSERT INTO messages (id, case_id, label, uuid, author_id, media_type, size, sha256, version, created, modified, content) VALUES (1, 5, 'InputMessage', X'00010000000000000000000000000000', 1, 'text/csv', 1, X'2D711642B726B04401627CA9FBAC32F5C8530FB1903CC4DB02258717921A4881', 1, 1352462400000, 1352462400000, X'78');

INSERT INTO given_names (id, folder, author_id, folded, name, entry, case_id, etag, modified, source) VALUES (1, 'schedule', 1, 'n.json', 'n.json', X'00000000000000000000000000000001', NULL, '"e"', 1352462400000, X'7B7D');
INSERT INTO given_names (id, folder, author_id, folded, name, entry, case_id, etag, modified, source) VALUES (2, 'cases', 1, 'chairs.yaml', 'Chairs.yaml', NULL, 5, '"c"', 1352462400000, X'613A20310A');

INSERT INTO aliases (id, author_id, route_id, folded, name, case_id, open) VALUES (1, 1, 4, 'x.csv', 'x.csv', 5, 1);

INSERT INTO blobs (sha256, refs) VALUES (X'55D9067EF2BFACD4DC38EF7294695794FF61BBA45F11B2F4D9B70515C57B2187', 1);

INSERT INTO stored_bytes (author_id, n, files) VALUES (1, 120, 3);

INSERT INTO attachments (id, uuid, context_id, author_id, case_id, name, media_type, size, sha256, lifetime, expires, created) VALUES (1, X'A7000000000000000000000000000001', 1, 1, 5, '1.txt', 'text/plain', 8, X'55D9067EF2BFACD4DC38EF7294695794FF61BBA45F11B2F4D9B70515C57B2187', 'P30D', 1355054400000, 1352462400000);

INSERT INTO documents (id, context_id, parent_id, name, folder, author_id, revision, media_type, size, sha256, created, modified, properties, content, past) VALUES (1, 1, NULL, '', 1, 1, 1, '', 0, NULL, 1352462400000, 1352462400000, NULL, NULL, 0);
INSERT INTO documents (id, context_id, parent_id, name, folder, author_id, revision, media_type, size, sha256, created, modified, properties, content, past) VALUES (2, 2, NULL, '', 1, 2, 1, '', 0, NULL, 1352462400000, 1352462400000, NULL, NULL, 0);
INSERT INTO documents (id, context_id, parent_id, name, folder, author_id, revision, media_type, size, sha256, created, modified, properties, content, past) VALUES (3, 3, NULL, '', 1, 3, 1, '', 0, NULL, 1352462400000, 1352462400000, NULL, NULL, 0);
INSERT INTO documents (id, context_id, parent_id, name, folder, author_id, revision, media_type, size, sha256, created, modified, properties, content, past) VALUES (4, NULL, 1, 'Plans', 1, 1, 1, '', 0, NULL, 1352462400000, 1352462400000, NULL, NULL, 0);
INSERT INTO documents (id, context_id, parent_id, name, folder, author_id, revision, media_type, size, sha256, created, modified, properties, content, past) VALUES (5, NULL, 4, 'a.txt', 0, 1, 1, 'text/plain', 4, X'982D9E3EB996F559E633F4D194DEF3761D909F5A3B647D1A851FEAD67C32C9D1', 1352462400000, 1352462400000, '[{"s":"urn:x","n":"p","x":"<p xmlns=\"urn:x\"/>"}]', X'74657874', 0);
INSERT INTO documents (id, context_id, parent_id, name, folder, author_id, revision, media_type, size, sha256, created, modified, properties, content, past) VALUES (6, NULL, NULL, 'a.txt', 0, 1, 1, 'text/plain', 4, X'982D9E3EB996F559E633F4D194DEF3761D909F5A3B647D1A851FEAD67C32C9D1', 1352462400000, 1352462400000, '[{"s":"urn:x","n":"p","x":"<p xmlns=\"urn:x\"/>"}]', X'74657874', 1);

INSERT INTO locks (id, token, target, holder_id, shared, deep, owner, root, seconds, expires) VALUES (1, X'01000000000000000000000000000000', 'case/5', 1, 0, 0, '<me/>', '/dav/x', 3600, 1352466000000);

INSERT INTO scratch (id, author_id, folder, folded, name, kind, locked, media_type, size, sha256, created, modified, expires, content) VALUES (1, 1, '/dav/x', '~a.tmp', '~a.tmp', 'side', 0, 'text/plain', 1, X'043A718774C572BD8A25ADBEB1BFCD5C0256AE11CECF9F9C3F925D0E52BEAF89', 1352462400000, 1352462400000, 1352466000000, X'73');

INSERT INTO scratch_bytes (author_id, n) VALUES (1, 4097);

INSERT INTO history (id, folder, author_id, folded, name, replaced, etag, source) VALUES (1, 'schedule', 1, 'n.json', 'n.json', 1352462400000, '"d"', X'7B7D');

INSERT INTO departed (author_id, folder, folded, deleted, remains) VALUES (1, 'schedule', 'gone.json', 1352462400000, '{}');

INSERT INTO audit (day, start, time, line) VALUES (15653, 0, 1352462400000, X'7B2277686174223A226C6F672D696E227D0A');

INSERT INTO ended_entries (uuid, context_id, author_id, name, actor, ended, form) VALUES (X'E1000000000000000000000000000001', 1, 1, 'once.json', 'sam', 1352462400000, X'7B7D');

INSERT INTO case_links (case_id, relation, target_id) VALUES (5, 'follows', 7);

INSERT INTO meanings (route_id, kind, folded, upto, meant_id) VALUES (4, 'party', 'eve', 1, 1);

INSERT INTO held_mails (id, user_id, due, digest, created, mail) VALUES (1, 1, 1352462400000, 1, 1352462400000, X'7B7D');

INSERT INTO deliveries (case_id, seq, step, name, created, modified, form) VALUES (5, 1, 1, 'run.1-1', 1352462400000, 1352462400000, X'7B7D');

INSERT INTO letters (id, name, created, size, content) VALUES (1, '2012-11-09 12.34.56 sam@example.org.eml', 1352462400000, 2, X'780A');

INSERT INTO hooks (id, route_id, folded, name, author, sha256, settings, fault, revision, created, modified) VALUES (1, 4, 'pushes', 'Pushes', 1, X'0100000000000000000000000000000000000000000000000000000000000000', X'7B7D', 'none', 1, 1352462400000, 1352462400000);

INSERT INTO sessions (id, user_id, sha256, agent, lasting, created, last_used, address, kind) VALUES (1, 1, X'0700000000000000000000000000000000000000000000000000000000000000', 'Mozilla/5.0', 1, 1352462400000, 1352462400000, '', '');

INSERT INTO scenarios (id, route_id, author_id, folded, name, yaml, source, etag, title, played, version, steps, expectations, created, modified) VALUES (1, 4, 1, 'bug', 'Bug', 1, X'73746570733A205B636865636B3A20747275655D0A', '"s"', 'A story', 1352462400000, 1, 1, 2, 1352462400000, 1352462400000);
INSERT INTO scenarios (id, route_id, author_id, folded, name, yaml, source, etag, title, played, version, steps, expectations, created, modified) VALUES (2, NULL, 1, 'later', 'Later', 0, X'7B7D', '"t"', '', NULL, 0, 0, 0, 1352462400000, 1352462400000);

INSERT INTO versions (id, context_id, folder, name, shown, replaced, replacer_id, owner_id) VALUES (6, 1, 'Plans', 'a.txt', '20121109T120000Z a.txt', 1352462400000, 1, 1);


INSERT INTO audit_head (one, number, sha256, unnumbered) VALUES (1, 0, X'0000000000000000000000000000000000000000000000000000000000000000', 1);

INSERT INTO done_tasks (user_id, time, case_id, seq, action, form) VALUES (1, 1352462400000, 5, 1, 'begin', X'7B7D');

INSERT INTO troubles (id, case_id, entry, hook, hold, name, due, data, case_entry) VALUES (1, 5, NULL, NULL, NULL, 'start', 1352462400000, X'7B7D', X'00000000000000000000000000000001');
INSERT INTO troubles (id, case_id, entry, hook, hold, name, due, data, case_entry) VALUES (2, NULL, X'00000000000000000000000000000001', NULL, NULL, 'firing', 1352462400000, X'7B7D', NULL);
INSERT INTO troubles (id, case_id, entry, hook, hold, name, due, data, case_entry) VALUES (3, NULL, NULL, NULL, 1, 'held', 1352548800000, X'7B2277686174223A2268656C64222C2274657874223A22222C2273696E6365223A22323031322D31312D30395431323A30303A30305A222C22746F6C64223A5B5D7D', NULL);

CREATE TRIGGER parties_inserted AFTER INSERT ON parties BEGIN
	INSERT INTO documents (context_id, name, folder, author_id, revision, media_type, size, created, modified)
		VALUES (new.id, '', 1, new.id, 1, '', 0, new.created, new.created);
END;
CREATE TRIGGER parties_leaving BEFORE DELETE ON parties BEGIN
	DELETE FROM documents WHERE context_id = old.id
		AND NOT EXISTS (SELECT 1 FROM documents member WHERE member.parent_id = documents.id);
END;
CREATE INDEX answers_by_age ON answers (created);
CREATE INDEX entries_by_context ON entries (context_id);
CREATE INDEX entries_by_author ON entries (author_id, route_id);
CREATE INDEX entries_by_due ON entries (due) WHERE due IS NOT NULL;
CREATE INDEX entries_by_attachment ON entries (attachment) WHERE attachment IS NOT NULL;
CREATE INDEX entries_upcoming ON entries (context_id, due) WHERE due IS NOT NULL;
CREATE INDEX cases_by_due ON cases (due) WHERE due IS NOT NULL;
CREATE INDEX cases_of_enablement ON cases (parent_id, parent_row, id) WHERE parent_id IS NOT NULL;
CREATE INDEX cases_retired ON cases (retires) WHERE retires IS NOT NULL;
CREATE INDEX cases_by_route ON cases (route_id) WHERE archived IS NULL;
CREATE INDEX cases_listed ON cases (id) WHERE archived IS NULL;
CREATE INDEX cases_of_parent ON cases (parent_id, id) WHERE parent_id IS NOT NULL AND archived IS NULL;
CREATE INDEX archive_by_id ON cases (id) WHERE archived IS NOT NULL;
CREATE INDEX archive_by_month ON cases (archived) WHERE archived IS NOT NULL;
CREATE INDEX archive_by_route ON cases (route_id) WHERE archived IS NOT NULL;
CREATE INDEX archive_by_route_and_month ON cases (route_id, archived) WHERE archived IS NOT NULL;
CREATE INDEX cases_queued ON cases (grp, route_id, priority DESC, id) WHERE state = 'queued' AND waits = 0 AND start_at IS NULL;
CREATE INDEX cases_busy ON cases (grp) WHERE busy = 1;
CREATE INDEX cases_upcoming ON cases (context_id, due) WHERE due IS NOT NULL;
CREATE INDEX cases_ended ON cases (route_id, status)
	WHERE open = 0 AND state <> 'canceled' AND archived IS NULL;
CREATE INDEX cases_of_entry ON cases (entry, id) WHERE entry IS NOT NULL AND open = 1;
CREATE TRIGGER cases_regarded AFTER UPDATE OF access ON cases WHEN old.access <> new.access AND old.archived IS NULL BEGIN
	DELETE FROM case_access
		WHERE case_id = new.id
		AND party_id IN (SELECT value FROM json_each(old.access) EXCEPT SELECT value FROM json_each(new.access));
	INSERT INTO case_access (party_id, case_id)
		SELECT value, new.id FROM json_each(new.access) EXCEPT SELECT value, new.id FROM json_each(old.access);
END;
CREATE TRIGGER archive_regarded AFTER UPDATE OF access ON cases WHEN old.access <> new.access AND old.archived IS NOT NULL BEGIN
	DELETE FROM archive_access
		WHERE case_id = new.id AND month = old.archived
		AND party_id IN (SELECT value FROM json_each(old.access) EXCEPT SELECT value FROM json_each(new.access));
	INSERT INTO archive_access (party_id, month, case_id)
		SELECT value, old.archived, new.id FROM json_each(new.access)
		EXCEPT SELECT value, old.archived, new.id FROM json_each(old.access);
END;
CREATE TRIGGER cases_archived AFTER UPDATE OF archived ON cases WHEN old.archived IS NULL AND new.archived IS NOT NULL BEGIN
	DELETE FROM case_access WHERE case_id = new.id AND party_id IN (SELECT value FROM json_each(new.access));
	INSERT INTO archive_access (party_id, month, case_id) SELECT value, new.archived, new.id FROM json_each(new.access);
	DELETE FROM tasks WHERE case_id = new.id;
	DELETE FROM route_tasks WHERE case_id = new.id;
END;
CREATE TRIGGER cases_restored AFTER UPDATE OF archived ON cases WHEN old.archived IS NOT NULL AND new.archived IS NULL BEGIN
	DELETE FROM archive_access
		WHERE case_id = new.id AND month = old.archived AND party_id IN (SELECT value FROM json_each(new.access));
	INSERT INTO case_access (party_id, case_id) SELECT value, new.id FROM json_each(new.access);
END;
CREATE TRIGGER cases_inserted AFTER INSERT ON cases BEGIN
	INSERT INTO case_access (party_id, case_id) SELECT value, new.id FROM json_each(new.access);
	INSERT INTO open_cases (starter_id, route_id, n)
		SELECT new.starter_id, new.route_id, 1 WHERE new.open
		ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER cases_moved AFTER UPDATE OF state ON cases WHEN old.open <> new.open BEGIN
	INSERT INTO open_cases (starter_id, route_id, n) VALUES (new.starter_id, new.route_id, 1)
		ON CONFLICT DO UPDATE SET n = n + iif(new.open, 1, -1);
	UPDATE aliases SET open = new.open WHERE case_id = new.id;
END;
CREATE INDEX archive_by_party ON archive_access (party_id, case_id);
CREATE INDEX tasks_of_case ON tasks (case_id);
CREATE INDEX purges_by_due ON purges (due);
CREATE INDEX outbox_by_lane ON outbox (lane, due, id) WHERE due IS NOT NULL;
CREATE INDEX outbox_flying ON outbox (id) WHERE flying = 1;
CREATE INDEX outbox_of_case ON outbox (case_id) WHERE case_id IS NOT NULL;
CREATE TRIGGER messages_inserted AFTER INSERT ON messages WHEN new.content IS NULL BEGIN
	INSERT INTO blobs (sha256, refs) VALUES (new.sha256, 1) ON CONFLICT DO UPDATE SET refs = refs + 1;
END;
CREATE TRIGGER messages_replaced AFTER UPDATE OF sha256, content ON messages
WHEN old.content IS NULL OR new.content IS NULL BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
END;
CREATE TRIGGER messages_deleted AFTER DELETE ON messages WHEN old.content IS NULL BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256;
END;
CREATE TRIGGER messages_counted AFTER INSERT ON messages WHEN new.author_id <> 0 AND new.size > 0 BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
CREATE TRIGGER messages_recounted AFTER UPDATE OF author_id, size ON messages BEGIN
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n) SELECT new.author_id, new.size WHERE new.author_id <> 0
		ON CONFLICT DO UPDATE SET n = n + new.size;
END;
CREATE TRIGGER messages_discounted AFTER DELETE ON messages WHEN old.author_id <> 0 BEGIN
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
END;
CREATE INDEX aliases_open ON aliases (author_id, route_id) WHERE open = 1;
CREATE INDEX blobs_unused ON blobs (sha256) WHERE refs = 0;
CREATE INDEX attachments_by_context ON attachments (context_id) WHERE case_id IS NULL;
CREATE INDEX attachments_by_case ON attachments (case_id) WHERE case_id IS NOT NULL;
CREATE INDEX attachments_by_expiry ON attachments (expires) WHERE expires IS NOT NULL;
CREATE INDEX attachments_by_blob ON attachments (sha256);
CREATE TRIGGER attachments_inserted AFTER INSERT ON attachments BEGIN
	UPDATE blobs SET refs = refs + 1 WHERE sha256 = new.sha256;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
CREATE TRIGGER attachments_deleted AFTER DELETE ON attachments BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
END;
CREATE INDEX documents_by_folder ON documents (parent_id);
CREATE INDEX documents_by_author ON documents (author_id);
CREATE TRIGGER documents_inserted AFTER INSERT ON documents WHEN new.folder = 0 BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
CREATE TRIGGER documents_replaced AFTER UPDATE OF author_id, size, sha256, content ON documents WHEN new.folder = 0 BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
END;
CREATE TRIGGER documents_deleted AFTER DELETE ON documents WHEN old.folder = 0 BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
END;
CREATE TRIGGER properties_inserted AFTER INSERT ON documents WHEN new.properties IS NOT NULL BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, octet_length(new.properties))
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER properties_replaced AFTER UPDATE OF author_id, properties ON documents
WHEN old.properties IS NOT NULL OR new.properties IS NOT NULL BEGIN
	UPDATE stored_bytes SET n = n - octet_length(old.properties) WHERE author_id = old.author_id AND old.properties IS NOT NULL;
	INSERT INTO stored_bytes (author_id, n) SELECT new.author_id, octet_length(new.properties) WHERE new.properties IS NOT NULL
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER properties_deleted AFTER DELETE ON documents WHEN old.properties IS NOT NULL BEGIN
	UPDATE stored_bytes SET n = n - octet_length(old.properties) WHERE author_id = old.author_id;
END;
CREATE INDEX locks_by_target ON locks (target);
CREATE INDEX locks_by_holder ON locks (holder_id);
CREATE INDEX locks_by_expiry ON locks (expires);
CREATE INDEX scratch_by_age ON scratch (author_id, modified);
CREATE INDEX scratch_by_expiry ON scratch (expires);
CREATE TRIGGER scratch_inserted AFTER INSERT ON scratch BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, new.size) ON CONFLICT DO UPDATE SET n = n + new.size;
	INSERT INTO scratch_bytes (author_id, n) VALUES (new.author_id, new.size + 4096)
		ON CONFLICT DO UPDATE SET n = n + new.size + 4096;
END;
CREATE TRIGGER scratch_replaced AFTER UPDATE OF size, sha256, content ON scratch BEGIN
	INSERT INTO blobs (sha256, refs) SELECT new.sha256, 1 WHERE new.content IS NULL
		ON CONFLICT DO UPDATE SET refs = refs + 1;
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size + new.size WHERE author_id = new.author_id;
	UPDATE scratch_bytes SET n = n - old.size + new.size WHERE author_id = new.author_id;
END;
CREATE TRIGGER scratch_deleted AFTER DELETE ON scratch BEGIN
	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256 AND old.content IS NULL;
	UPDATE stored_bytes SET n = n - old.size WHERE author_id = old.author_id;
	UPDATE scratch_bytes SET n = n - old.size - 4096 WHERE author_id = old.author_id;
END;
CREATE INDEX history_by_age ON history (replaced);
CREATE TRIGGER history_inserted AFTER INSERT ON history BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, length(new.source))
		ON CONFLICT DO UPDATE SET n = n + length(new.source);
END;
CREATE TRIGGER history_deleted AFTER DELETE ON history BEGIN
	UPDATE stored_bytes SET n = n - length(old.source) WHERE author_id = old.author_id;
END;
CREATE INDEX departed_by_age ON departed (deleted);
CREATE INDEX ended_entries_of_context ON ended_entries (context_id, ended);
CREATE INDEX ended_entries_by_age ON ended_entries (ended);
CREATE INDEX case_links_by_target ON case_links (target_id, relation, case_id);
CREATE INDEX held_mails_by_due ON held_mails (due, user_id);
CREATE INDEX held_mails_of_user ON held_mails (user_id, due, id);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE TRIGGER sessions_ended AFTER UPDATE OF password, disabled ON parties
	WHEN old.password <> new.password OR new.disabled = 1 BEGIN
	DELETE FROM sessions WHERE user_id = new.id;
END;
CREATE UNIQUE INDEX scenarios_of_route ON scenarios (route_id) WHERE route_id IS NOT NULL;
CREATE UNIQUE INDEX scenarios_waiting ON scenarios (author_id, folded) WHERE route_id IS NULL;
CREATE INDEX documents_detached ON documents (id) WHERE parent_id IS NULL AND context_id IS NULL AND past = 0;
CREATE INDEX versions_by_name ON versions (context_id, folder, name);
CREATE INDEX versions_by_age ON versions (replaced);
CREATE INDEX versions_by_owner ON versions (owner_id, replaced);
CREATE TRIGGER entries_weighed AFTER INSERT ON entries WHEN octet_length(new.form) >= 4096 BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, octet_length(new.form) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER entries_reweighed AFTER UPDATE OF form, author_id ON entries
	WHEN octet_length(old.form) / 4096 <> octet_length(new.form) / 4096 OR old.author_id <> new.author_id BEGIN
	UPDATE stored_bytes SET n = max(0, n - octet_length(old.form) / 4096 * 4096) WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.author_id, octet_length(new.form) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER entries_unweighed AFTER DELETE ON entries WHEN octet_length(old.form) >= 4096 BEGIN
	UPDATE stored_bytes SET n = max(0, n - octet_length(old.form) / 4096 * 4096) WHERE author_id = old.author_id;
END;
CREATE TRIGGER route_versions_weighed AFTER INSERT ON route_versions BEGIN
	UPDATE route_versions SET author_id = coalesce((SELECT author_id FROM routes WHERE id = new.route_id), 0)
		WHERE route_id = new.route_id AND version = new.version;
	INSERT INTO stored_bytes (author_id, n)
		SELECT author_id, (octet_length(source) + octet_length(form)) / 4096 * 4096 FROM route_versions
		WHERE route_id = new.route_id AND version = new.version AND author_id <> 0 AND octet_length(source) + octet_length(form) >= 4096
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER documents_numbered AFTER INSERT ON documents WHEN new.context_id IS NULL BEGIN
	INSERT INTO stored_bytes (author_id, n, files) VALUES (new.author_id, 0, 1) ON CONFLICT DO UPDATE SET files = files + 1;
END;
CREATE TRIGGER documents_renumbered AFTER UPDATE OF author_id ON documents
	WHEN new.context_id IS NULL AND old.author_id <> new.author_id BEGIN
	UPDATE stored_bytes SET files = max(0, files - 1) WHERE author_id = old.author_id;
	INSERT INTO stored_bytes (author_id, n, files) VALUES (new.author_id, 0, 1) ON CONFLICT DO UPDATE SET files = files + 1;
END;
CREATE TRIGGER documents_unnumbered AFTER DELETE ON documents WHEN old.context_id IS NULL BEGIN
	UPDATE stored_bytes SET files = max(0, files - 1) WHERE author_id = old.author_id;
END;
CREATE INDEX cases_open ON cases (route_id, id, state) WHERE open = 1;
CREATE UNIQUE INDEX parties_by_origin ON parties (origin) WHERE origin <> '';
CREATE INDEX done_tasks_by_age ON done_tasks (time);
CREATE TRIGGER cases_deleted BEFORE DELETE ON cases BEGIN
	DELETE FROM case_log WHERE case_id = old.id;
	DELETE FROM messages WHERE case_id = old.id;
	DELETE FROM plans WHERE case_id = old.id;
	DELETE FROM case_access WHERE case_id = old.id AND party_id IN (SELECT value FROM json_each(old.access));
	DELETE FROM archive_access
		WHERE case_id = old.id AND month = old.archived AND party_id IN (SELECT value FROM json_each(old.access));
	UPDATE open_cases SET n = n - 1 WHERE starter_id = old.starter_id AND route_id = old.route_id AND old.open;
	DELETE FROM done_tasks WHERE time BETWEEN old.created AND old.modified AND case_id = old.id;
END;
CREATE INDEX app_passwords_to_tell ON app_passwords (tell_at) WHERE tell_at IS NOT NULL;
CREATE UNIQUE INDEX troubles_of_case ON troubles (case_id, name) WHERE case_id IS NOT NULL;
CREATE UNIQUE INDEX troubles_of_entry ON troubles (entry, name) WHERE entry IS NOT NULL;
CREATE UNIQUE INDEX troubles_of_hook ON troubles (hook, name) WHERE hook IS NOT NULL;
CREATE UNIQUE INDEX troubles_of_hold ON troubles (hold, name) WHERE hold IS NOT NULL;
CREATE INDEX troubles_by_due ON troubles (due);
CREATE TRIGGER cases_weighed AFTER INSERT ON cases WHEN (octet_length(new.form) + octet_length(new.marking) + new.log_bytes) / 4096 > 0 BEGIN
	INSERT INTO stored_bytes (author_id, n) VALUES (new.starter_id, (octet_length(new.form) + octet_length(new.marking) + new.log_bytes) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER cases_reweighed AFTER UPDATE OF form, marking, starter_id, log_bytes ON cases
	WHEN (octet_length(old.form) + octet_length(old.marking) + old.log_bytes) / 4096 <> (octet_length(new.form) + octet_length(new.marking) + new.log_bytes) / 4096 OR old.starter_id <> new.starter_id BEGIN
	UPDATE stored_bytes SET n = max(0, n - (octet_length(old.form) + octet_length(old.marking) + old.log_bytes) / 4096 * 4096) WHERE author_id = old.starter_id;
	INSERT INTO stored_bytes (author_id, n) VALUES (new.starter_id, (octet_length(new.form) + octet_length(new.marking) + new.log_bytes) / 4096 * 4096)
		ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER cases_unweighed AFTER DELETE ON cases WHEN (octet_length(old.form) + octet_length(old.marking) + old.log_bytes) / 4096 > 0 BEGIN
	UPDATE stored_bytes SET n = max(0, n - (octet_length(old.form) + octet_length(old.marking) + old.log_bytes) / 4096 * 4096) WHERE author_id = old.starter_id;
END;
CREATE INDEX cases_failed ON cases (route_id) WHERE state = 'failed' AND open = 0 AND archived IS NULL;
CREATE INDEX troubles_alike ON troubles (case_entry, name, case_id) WHERE case_entry IS NOT NULL;
