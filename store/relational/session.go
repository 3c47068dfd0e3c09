package relational

import (
	"time"

	"flowdrive/store"
)

var sessionTable = table[store.Session]{"sessions", "session", func(s *store.Session, to []column) []column {
	return append(to, []column{
		{"id", selected, &s.ID},
		{"user_id", fixed, (*int64)(&s.UserID)},
		{"sha256", fixed, bits(s.SHA256[:])},
		{"agent", fixed, &s.Agent},
		{"lasting", fixed, &s.Lasting},
		{"created", fixed, millis{&s.Created}},
		{"last_used", fixed, millis{&s.LastUsed}},
		{"address", fixed, &s.Address},
		{"kind", fixed, (*string)(&s.Kind)},
	}...)
}}

var (
	insertSession  = sessionTable.insert()
	selectSessions = `SELECT ` + sessionTable.list("") + ` FROM sessions ORDER BY id`
)

const (
	touchSession  = `UPDATE sessions SET last_used = ?2 WHERE id = ?1`
	deleteSession = `DELETE FROM sessions WHERE id = ?1`
)

// Sessions returns the sessions of all users by ID. They are read whole: all are
// held in memory.
func (r partyReader) Sessions() (all []store.Session, err error) {
	err = sessionTable.add(r.c, &all, selectSessions)
	return all, Failure("read the sessions", err)
}

// InsertSession stores a new session and sets its ID.
func (t partyWriter) InsertSession(s *store.Session) error {
	err := insertSession.added(t.c, s, &s.ID)
	return Failure("store a session", err)
}

// TouchSession notes when a session was used.
func (t partyWriter) TouchSession(id int64, used time.Time) error {
	n, err := t.c.Change(touchSession, id, at(used))
	return found(n, err, "session")
}

// DeleteSession deletes a session. It is not an error if there is none of that id.
func (t partyWriter) DeleteSession(id int64) error {
	_, err := t.c.Change(deleteSession, id)
	return Failure("delete a session", err)
}
