package relational

import (
	"bytes"

	"flowdrive/store"
)

var messageTable = table[store.Message]{"messages", "message", func(m *store.Message, to []column) []column {
	return append(to, []column{
		{"uuid", full, bits(m.UUID[:])},
		{"case_id", fixed, &m.CaseID},
		{"label", fixed, &m.Label},
		{"author_id", full, (*int64)(&m.AuthorID)},
		{"media_type", full, &m.MediaType},
		{"size", full, &m.Size},
		{"sha256", full, bits(m.SHA256[:])},
		{"{}content IS NULL", selected, &m.InFile},
		{"version", full, &m.Version},
		{"created", full, millis{&m.Created}},
		{"modified", full, millis{&m.Modified}},
		{"content", full, content{&m.Content, m.InFile}},
	}...)
}}

var (
	upsertMessage = messageTable.upsert("case_id, label")

	// A case has few messages. They are found by the index of labels.
	selectMessage        = `SELECT ` + messageTable.list("") + ` FROM messages WHERE case_id = ?1 AND uuid = ?2`
	selectMessageByLabel = `SELECT ` + messageTable.list("") + ` FROM messages WHERE case_id = ?1 AND label = ?2`
	selectMessages       = `SELECT ` + messageTable.list("", "content") + ` FROM messages WHERE case_id = ?1 ORDER BY id`
)

const (
	selectLog = `SELECT entries FROM case_log WHERE case_id = ?1 ORDER BY seq`
	insertLog = `INSERT INTO case_log (case_id, seq, entries) VALUES (?1, ?2, ?3)`
)

// Get returns the message of the case with that UUID.
func (r messageReader) Get(caseID int64, uuid store.UUID) (*store.Message, error) {
	return messageTable.one(r.c, selectMessage, caseID, uuid[:])
}

// GetByLabel returns the message of the case with that label.
func (r messageReader) GetByLabel(caseID int64, label string) (*store.Message, error) {
	return messageTable.one(r.c, selectMessageByLabel, caseID, label)
}

// List returns the messages of the case in order of creation, without
// Content.
func (r messageReader) List(caseID int64) (all []store.Message, err error) {
	err = messageTable.add(r.c, &all, selectMessages, caseID)
	return all, Failure("read the messages of a case", err)
}

// Put creates a message or replaces the one of that case and label.
func (t messageWriter) Put(m *store.Message) error {
	err := upsertMessage.exec(t.c, m)
	if isReferred(err) {
		return notFound("case")
	}
	return Failure("store a message", err)
}

// Log returns the log of the case, a JSON array, oldest entry first.
func (r caseReader) Log(id int64) ([]byte, error) {
	out := []byte{'['}
	err := r.c.Each(selectLog, func(scan Scan) error {
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
		return nil, Failure("read the log of a case", err)
	}
	if len(out) == 1 {
		var one int
		exists, err := r.c.Row(caseExists, id).Scan(&one)
		if err := read(exists, err, "case"); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// AppendLog adds log entries, a JSON array, which begin at seq.
func (t caseWriter) AppendLog(caseID, seq int64, entries []byte) error {
	err := insertRow(t.c, insertLog, caseID, seq, blob(entries))
	if isReferred(err) {
		return notFound("case")
	}
	return Failure("add to the log of a case", err)
}
