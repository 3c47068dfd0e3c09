package relational

import (
	"encoding/json"
	"fmt"
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// wishes is a column that holds how a user wants to be told by mail.
type wishes struct{ of *store.MailWishes }

// Scan reads a column.
func (w wishes) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("wishes are stored as %T", src)
	}
	*w.of = store.MailWishes{} // it may belong to another row
	return json.Unmarshal([]byte(text), w.of)
}

func (w wishes) value() any {
	text, err := json.Marshal(w.of) // of texts, which always encode
	if err != nil {
		panic(fmt.Sprintf("sqlite: wishes do not encode: %v", err))
	}
	return string(text)
}

// pending is a column that holds the address that a user has asked for.
type pending struct{ of *store.PendingAddress }

// Scan reads a column.
func (p pending) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("an address is stored as %T", src)
	}
	*p.of = store.PendingAddress{} // it may belong to another row
	return json.Unmarshal([]byte(text), p.of)
}

func (p pending) value() any {
	text, err := json.Marshal(p.of) // of texts and numbers, which always encode
	if err != nil {
		panic(fmt.Sprintf("relational: an address does not encode: %v", err))
	}
	return string(text)
}

var heldMailTable = table[store.HeldMail]{"held_mails", "held mail", func(m *store.HeldMail, to []column) []column {
	return append(to, []column{
		{"id", selected, &m.ID},
		{"user_id", fixed, (*int64)(&m.UserID)},
		{"due", fixed, millis{&m.Due}},
		{"digest", fixed, &m.Digest},
		{"created", fixed, millis{&m.Created}},
		{"mail", fixed, &m.Mail},
	}...)
}}

var (
	insertHeldMail     = heldMailTable.insert()
	selectDueMailsOf   = `SELECT ` + heldMailTable.list("") + ` FROM held_mails WHERE user_id = ?1 AND due <= ?2 ORDER BY due, id`
	deleteHeldMails    = `DELETE FROM held_mails WHERE user_id = ?1 AND due <= ?2`
	selectDueHeldMails = `SELECT due, user_id FROM held_mails WHERE due <= ?1 ORDER BY due, user_id LIMIT ?2`
)

// Due returns the mails of a user that are due.
func (r heldMailReader) Due(user identity.ID, upTo time.Time) (all []store.HeldMail, err error) {
	err = heldMailTable.add(r.c, &all, selectDueMailsOf, int64(user), upTo.UnixMilli())
	return all, Failure("read the mails that wait", err)
}

// Insert stores a mail that waits.
func (t heldMailWriter) Insert(m *store.HeldMail) error {
	err := insertHeldMail.added(t.c, m, &m.ID)
	return Failure("store a mail that waits", err)
}

// Delete deletes the mails of a user that are due.
func (t heldMailWriter) Delete(user identity.ID, upTo time.Time) error {
	_, err := t.c.Exec(deleteHeldMails, int64(user), upTo.UnixMilli())
	return Failure("delete mails that waited", err)
}
