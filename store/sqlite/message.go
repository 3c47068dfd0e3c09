package sqlite

import (
	"bytes"

	"flowdrive/store"
)

const (
	messageColumns = `uuid, case_id, label, author_id, media_type, size, sha256, content IS NULL, version, created, modified`

	// A case has few messages; those of one are found by the index of labels.
	selectMessage        = `SELECT ` + messageColumns + `, content FROM messages WHERE case_id = ?1 AND uuid = ?2`
	selectMessageByLabel = `SELECT ` + messageColumns + `, content FROM messages WHERE case_id = ?1 AND label = ?2`
	selectMessages       = `SELECT ` + messageColumns + `, NULL FROM messages WHERE case_id = ?1 ORDER BY id`

	upsertMessage = `
		INSERT INTO messages (case_id, label, uuid, media_type, size, sha256, version, created, modified, content, author_id)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
		ON CONFLICT (case_id, label) DO UPDATE SET
			uuid = ?3, media_type = ?4, size = ?5, sha256 = ?6, version = ?7, created = ?8, modified = ?9, content = ?10,
			author_id = ?11`

	selectLog = `SELECT entries FROM case_log WHERE case_id = ?1 ORDER BY seq`
	insertLog = `INSERT INTO case_log (case_id, seq, entries) VALUES (?1, ?2, ?3)`
)

func scanMessage(scan scan, m *store.Message) error {
	return scan(bits(m.UUID[:]), &m.CaseID, &m.Label, &m.AuthorID, &m.MediaType, &m.Size, bits(m.SHA256[:]), &m.InFile,
		&m.Version, millis{&m.Created}, millis{&m.Modified}, &m.Content)
}

// Get returns the message of the case with that UUID.
func (r messageReader) Get(caseID int64, uuid store.UUID) (*store.Message, error) {
	return r.message(selectMessage, caseID, uuid[:])
}

// GetByLabel returns the message of the case with that label.
func (r messageReader) GetByLabel(caseID int64, label string) (*store.Message, error) {
	return r.message(selectMessageByLabel, caseID, label)
}

func (r *reader) message(query string, caseID int64, key any) (*store.Message, error) {
	m := &store.Message{}
	found, err := r.c.row(query, caseID, key).read(func(scan scan) error { return scanMessage(scan, m) })
	if err := read(found, err, "message"); err != nil {
		return nil, err
	}
	return m, nil
}

// List returns the messages of the case in order of creation, without
// Content.
func (r messageReader) List(caseID int64) (all []store.Message, err error) {
	err = r.c.each(selectMessages, func(scan scan) error {
		var m store.Message
		err := scanMessage(scan, &m)
		all = append(all, m)
		return err
	}, caseID)
	return all, failure("read the messages of a case", err)
}

// Put creates a message or replaces the one of that case and label.
func (t messageWriter) Put(m *store.Message) error {
	content := any(nil)
	if !m.InFile {
		content = blob(m.Content)
	}
	_, err := t.c.exec(upsertMessage, m.CaseID, m.Label, m.UUID[:], m.MediaType, m.Size, m.SHA256[:],
		m.Version, at(m.Created), at(m.Modified), content, int64(m.AuthorID))
	if isReferred(err) {
		return notFound("case")
	}
	return failure("store a message", err)
}

// Log returns the log of the case, a JSON array, oldest entry first.
func (r caseReader) Log(id int64) ([]byte, error) {
	out := []byte{'['}
	err := r.c.each(selectLog, func(scan scan) error {
		var entries []byte
		if err := scan(&entries); err != nil {
			return err
		}
		inner := bytes.TrimSpace(entries)
		if len(inner) <= len("[]") {
			return nil
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, inner[1:len(inner)-1]...)
		return nil
	}, id)
	if err != nil {
		return nil, failure("read the log of a case", err)
	}
	if len(out) == 1 {
		var one int
		exists, err := r.c.row(caseExists, id).scan(&one)
		if err := read(exists, err, "case"); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// AppendLog adds log entries, a JSON array, which begin at seq.
func (t caseWriter) AppendLog(caseID, seq int64, entries []byte) error {
	_, err := t.c.exec(insertLog, caseID, seq, blob(entries))
	if isReferred(err) {
		return notFound("case")
	}
	return failure("add to the log of a case", err)
}
