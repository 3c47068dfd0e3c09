package relational

import (
	"fmt"

	"flowdrive/store"
)

// Source is a database as it was at one instant, to be copied or checked as a
// whole. It is for one goroutine at a time.
type Source struct{ c *Conn }

// NewSource returns the source that is read over a connection on which a snapshot has
// begun.
func NewSource(c *Conn) *Source { return &Source{c} }

// Reader returns what reads the source. The schema must be that of this program.
func (s *Source) Reader() store.Reader { return &reader{c: s.c} }

const selectContents = `SELECT sha256 FROM blobs WHERE refs > 0 ORDER BY sha256`

// Contents calls f for each content that is a file and that something refers to,
// in order. It returns f's error.
func (s *Source) Contents(f func(store.Digest) error) error {
	err := s.c.Each(selectContents, func(scan Scan) error {
		var d store.Digest
		if err := scan(bits(d[:])); err != nil {
			return err
		}
		return f(d)
	})
	return Failure("read the contents", err)
}

// Counts are how many there are of what people know.
type Counts struct {
	Users     int64 `json:"users"`
	Teams     int64 `json:"teams"`
	Routes    int64 `json:"routes"`
	Entries   int64 `json:"scheduleEntries"`
	Cases     int64 `json:"cases"`
	Documents int64 `json:"documents"`
}

const selectCounts = `SELECT (SELECT count(*) FROM parties WHERE kind = 'user'), (SELECT count(*) FROM parties WHERE kind = 'team'),
	(SELECT count(*) FROM routes), (SELECT count(*) FROM entries), (SELECT count(*) FROM cases), (SELECT count(*) FROM documents WHERE folder = 0)`

// Counts counts what is in the source.
func (s *Source) Counts() (c Counts, err error) {
	_, err = s.c.Row(selectCounts).Scan(&c.Users, &c.Teams, &c.Routes, &c.Entries, &c.Cases, &c.Documents)
	return c, Failure("count what is in the database", err)
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

func eachRow[R any](c *Conn, t *table[R], query string, f func(*R) error) error {
	err := c.Each(query, func(scan Scan) error {
		var r R
		if err := scan(t.into(c, &r)...); err != nil {
			return err
		}
		return f(&r)
	})
	return Failure("read each "+t.what, err)
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
	err := s.c.Each(selectInline, func(scan Scan) error {
		var i Inline
		if err := scan(&i.Kind, &i.ID, &i.Name, bits(i.SHA256[:]), &i.Content); err != nil {
			return err
		}
		return f(&i)
	})
	return Failure("read each content", err)
}

const selectUses = `
	SELECT 'message', case_id, label FROM messages WHERE sha256 = ?1 AND content IS NULL
	UNION ALL SELECT 'document', id, name FROM documents WHERE sha256 = ?1 AND content IS NULL
	UNION ALL SELECT 'scratch', id, name FROM scratch WHERE sha256 = ?1 AND content IS NULL
	UNION ALL SELECT 'attachment', 0, lower(hex(uuid)) FROM attachments WHERE sha256 = ?1`

// Uses returns what refers to a content that is a file.
func (s *Source) Uses(sum store.Digest) (all []Inline, err error) {
	err = s.c.Each(selectUses, func(scan Scan) error {
		i := Inline{SHA256: sum}
		err := scan(&i.Kind, &i.ID, &i.Name)
		all = append(all, i)
		return err
	}, sum[:])
	return all, Failure("read what refers to a content", err)
}

const selectDocumentPath = `
	WITH RECURSIVE up (id, parent_id, context_id, path) AS (
		SELECT id, parent_id, context_id, name FROM documents WHERE id = ?1
		UNION ALL SELECT d.id, d.parent_id, d.context_id, CASE WHEN d.name = '' THEN up.path ELSE d.name || '/' || up.path END
			FROM up JOIN documents d ON d.id = up.parent_id)
	SELECT parties.name || '/' || path FROM up JOIN parties ON parties.id = up.context_id
	UNION ALL
	SELECT parties.name || '/.history/' || CASE WHEN v.folder = '' THEN '' ELSE v.folder || '/' END || v.shown || substr(path, length(v.name) + 1)
	FROM up JOIN versions v ON v.id = up.id JOIN parties ON parties.id = v.context_id`

// DocumentPath returns the path of a document or version below Documents/, "" if it is
// in no tree.
func (s *Source) DocumentPath(id int64) (path string, err error) {
	_, err = s.c.Row(selectDocumentPath, id).Scan(&path)
	return path, Failure("read the path of a document", err)
}

// Knows reports whether a content has a row.
func (s *Source) Knows(sum store.Digest) (bool, error) {
	_, known, err := s.Reader().Blobs().Refs(sum)
	return known, err
}
