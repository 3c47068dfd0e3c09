package sqlite

import (
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"

	"flowdrive/store"
)

// Fault is something in a database that is not as it should be.
type Fault struct {
	What string // such as "a reference to nothing"
	Row  string // where: the table and its key, or what is known of it
}

// consistencyRules are what must hold between the rows of the tables: each query
// finds what breaks it.
func consistencyRules() []struct{ what, query string } {
	return []struct{ what, query string }{
		{"a reference to nothing", `SELECT "table" || ' ' || coalesce(rowid, '') FROM pragma_foreign_key_check`},
		{"an access row too many", `
			SELECT case_id || ' ' || party_id FROM case_access
			EXCEPT SELECT cases.id || ' ' || value FROM cases, json_each(cases.access) WHERE archived IS NULL`},
		{"an access row too few", `
			SELECT cases.id || ' ' || value FROM cases, json_each(cases.access) WHERE archived IS NULL
			EXCEPT SELECT case_id || ' ' || party_id FROM case_access`},
		{"an access row of the archive too many", `
			SELECT case_id || ' ' || party_id || ' ' || month FROM archive_access
			EXCEPT SELECT cases.id || ' ' || value || ' ' || archived FROM cases, json_each(cases.access)`},
		{"an access row of the archive too few", `
			SELECT cases.id || ' ' || value || ' ' || archived FROM cases, json_each(cases.access) WHERE archived IS NOT NULL
			EXCEPT SELECT case_id || ' ' || party_id || ' ' || month FROM archive_access`},
		{"a task or a name in the archive", `
			SELECT id FROM cases WHERE archived IS NOT NULL AND (named = 1 OR id IN (
				SELECT case_id FROM tasks UNION ALL SELECT case_id FROM route_tasks UNION ALL SELECT case_id FROM given_names))`},
		{"an archived case that is open", `SELECT id FROM cases WHERE archived IS NOT NULL AND state IN ('queued', 'active', 'suspended')`},
		{"a wrong count of open cases", `
			SELECT starter_id || ' ' || route_id || ' ' || n FROM open_cases
			WHERE n <> (SELECT count(*) FROM cases c WHERE c.starter_id = open_cases.starter_id
				AND c.route_id = open_cases.route_id AND c.state IN ('queued', 'active', 'suspended'))`},
		{"a wrong count of references to a content", `
			SELECT hex(sha256) || ' ' || sum(n) FROM (
				SELECT sha256, refs AS n FROM blobs
				UNION ALL SELECT sha256, -1 FROM messages WHERE content IS NULL
				UNION ALL SELECT sha256, -1 FROM attachments
				UNION ALL SELECT sha256, -1 FROM documents WHERE folder = 0 AND content IS NULL
				UNION ALL SELECT sha256, -1 FROM scratch WHERE content IS NULL
			) GROUP BY sha256 HAVING sum(n) <> 0`},
		{"a wrong count of stored bytes", `
			SELECT author_id || ' ' || sum(n) FROM (
				SELECT author_id, n FROM stored_bytes
				UNION ALL SELECT author_id, -size FROM attachments
				UNION ALL SELECT author_id, -size - coalesce(octet_length(properties), 0) FROM documents
				UNION ALL SELECT author_id, -size FROM messages WHERE author_id <> 0
				UNION ALL SELECT author_id, -size FROM scratch
				UNION ALL SELECT author_id, -length(source) FROM history
				UNION ALL SELECT starter_id, -((octet_length(form) + octet_length(marking)) / 4096 * 4096) FROM cases
				UNION ALL SELECT author_id, -(octet_length(form) / 4096 * 4096) FROM entries
				UNION ALL SELECT author_id, -((octet_length(source) + octet_length(form)) / 4096 * 4096) FROM route_versions WHERE author_id <> 0
			) GROUP BY author_id HAVING sum(n) <> 0`},
		{"a wrong count of files", `
			SELECT author_id || ' ' || sum(n) FROM (
				SELECT author_id, files AS n FROM stored_bytes
				UNION ALL SELECT author_id, -1 FROM documents WHERE context_id IS NULL
			) GROUP BY author_id HAVING sum(n) <> 0`},
		{"a wrong count of scratch", `
			SELECT author_id || ' ' || sum(n) FROM (
				SELECT author_id, n FROM scratch_bytes
				UNION ALL SELECT author_id, -size - 4096 FROM scratch
			) GROUP BY author_id HAVING sum(n) <> 0`},
		{"a document in what is no folder", `
			SELECT d.id FROM documents d JOIN documents above ON above.id = d.parent_id WHERE above.folder = 0`},
		{"a version that lies in a folder", `
			SELECT id FROM versions JOIN documents USING (id) WHERE past = 0 OR parent_id IS NOT NULL`},
		{"a past document that is no version", `
			SELECT id FROM documents WHERE past = 1 EXCEPT SELECT id FROM versions`},
		{"a user or team without a root", `
			SELECT id FROM parties EXCEPT SELECT context_id FROM documents`},
		{"an alias that does not follow its case", `
			SELECT aliases.name FROM aliases JOIN cases ON cases.id = case_id
			WHERE aliases.open <> (state IN ('queued', 'active', 'suspended'))`},
		{"an id beyond the sequence", `
			SELECT id FROM (SELECT id FROM cases UNION ALL SELECT id FROM routes UNION ALL SELECT id FROM parties)
			WHERE id >= (SELECT next FROM sequence)`},
	}
}

// DamagedStructure is what a Fault says of the structure of a database.
const DamagedStructure = "the structure is damaged"

const checkIntegrity = `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`

// Check calls f for each fault in the structure of the database, and if that is
// whole, for each rule between its rows that is broken. It returns f's error.
func (s *Source) Check(f func(Fault) error) error { return check(s.c, f) }

func check(c *conn, f func(Fault) error) error {
	broken := 0
	err := find(c, DamagedStructure, checkIntegrity, func(fault Fault) error {
		broken++
		return f(fault)
	})
	if err != nil || broken > 0 {
		return failure("check the database", err)
	}
	for _, rule := range consistencyRules() {
		if err := find(c, rule.what, rule.query, f); err != nil {
			return failure("check the database", err)
		}
	}
	return nil
}

func find(c *conn, what, query string, f func(Fault) error) error {
	return c.each(`WITH found (line) AS (`+query+`) SELECT coalesce(CAST(line AS TEXT), '') FROM found`, func(scan scan) error {
		fault := Fault{What: what}
		if err := scan(&fault.Row); err != nil {
			return err
		}
		return f(fault)
	})
}

// IsDamaged reports whether an error says that a database is damaged, or that a
// file is not a database at all.
func IsDamaged(err error) bool {
	primary, _ := code(err)
	return primary == sqlite3.ErrCorrupt || primary == sqlite3.ErrNotADB
}

// Cause returns what the database itself says of an error, without what is told to
// clients.
func Cause(err error) string {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return e.Error()
	}
	return err.Error()
}

const eachCase = `SELECT %s FROM cases ORDER BY id`

// Cases calls f for each case, by id, with its marking. It returns f's error. The row
// is valid until f returns.
func (s *Source) Cases(f func(*store.Case) error) error {
	return eachRow(s.c, &caseTable, fmt.Sprintf(eachCase, caseTable.list("")), f)
}

// Entries calls f for each schedule entry, in order of creation. It returns f's
// error. The row is valid until f returns.
func (s *Source) Entries(f func(*store.Entry) error) error {
	return eachRow(s.c, &entryTable, `SELECT `+entryTable.list("")+` FROM entries ORDER BY seq`, f)
}

func eachRow[R any](c *conn, t *table[R], query string, f func(*R) error) error {
	err := c.each(query, func(scan scan) error {
		var r R
		if err := scan(t.into(c, &r)...); err != nil {
			return err
		}
		return f(&r)
	})
	return failure("read each "+t.what, err)
}

// Inline is a content that is in the database.
type Inline struct {
	Kind    string // message, document, or scratch for a file that a client keeps beside a document
	ID      int64  // of a message that of its case
	Name    string
	SHA256  store.Digest
	Content []byte
}

const selectInline = `
	SELECT 'message', case_id, label, sha256, content FROM messages WHERE content IS NOT NULL
	UNION ALL SELECT 'document', id, name, sha256, content FROM documents WHERE content IS NOT NULL
	UNION ALL SELECT 'scratch', id, name, sha256, content FROM scratch WHERE content IS NOT NULL`

// Inline calls f for each content that is in the database. It returns f's error.
func (s *Source) Inline(f func(*Inline) error) error {
	err := s.c.each(selectInline, func(scan scan) error {
		var i Inline
		if err := scan(&i.Kind, &i.ID, &i.Name, bits(i.SHA256[:]), &i.Content); err != nil {
			return err
		}
		return f(&i)
	})
	return failure("read each content", err)
}

const selectUses = `
	SELECT 'message', case_id, label FROM messages WHERE sha256 = ?1 AND content IS NULL
	UNION ALL SELECT 'document', id, name FROM documents WHERE sha256 = ?1 AND content IS NULL
	UNION ALL SELECT 'scratch', id, name FROM scratch WHERE sha256 = ?1 AND content IS NULL
	UNION ALL SELECT 'attachment', 0, lower(hex(uuid)) FROM attachments WHERE sha256 = ?1`

// Uses returns what refers to a content that is a file.
func (s *Source) Uses(sum store.Digest) (all []Inline, err error) {
	err = s.c.each(selectUses, func(scan scan) error {
		i := Inline{SHA256: sum}
		err := scan(&i.Kind, &i.ID, &i.Name)
		all = append(all, i)
		return err
	}, sum[:])
	return all, failure("read what refers to a content", err)
}

const selectDocumentPath = `
	WITH RECURSIVE up (id, parent_id, context_id, path) AS (
		SELECT id, parent_id, context_id, name FROM documents WHERE id = ?1
		UNION ALL SELECT d.id, d.parent_id, d.context_id, iif(d.name = '', up.path, d.name || '/' || up.path)
			FROM up JOIN documents d ON d.id = up.parent_id)
	SELECT parties.name || '/' || path FROM up JOIN parties ON parties.id = up.context_id
	UNION ALL
	SELECT parties.name || '/.history/' || iif(v.folder = '', '', v.folder || '/') || v.shown || substr(path, length(v.name) + 1)
	FROM up JOIN versions v ON v.id = up.id JOIN parties ON parties.id = v.context_id`

// DocumentPath returns the path of a document or version below Documents/, "" if it is
// in no tree.
func (s *Source) DocumentPath(id int64) (path string, err error) {
	_, err = s.c.row(selectDocumentPath, id).scan(&path)
	return path, failure("read the path of a document", err)
}

// Knows reports whether a content has a row.
func (s *Source) Knows(sum store.Digest) (bool, error) {
	_, known, err := s.Reader().Blobs().Refs(sum)
	return known, err
}
