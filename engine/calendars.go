package engine

import (
	"flowdrive/engine/files"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// calendarFacts implements calendar.Facts.
type calendarFacts struct {
	*base
	files *files.Files
}

// Parties implements calendar.Facts.
func (e calendarFacts) Parties() any { return e.accounts.Table() }

// Principal implements calendar.Facts.
func (e calendarFacts) Principal(id identity.ID) identity.Principal {
	return e.directory().Principal(id)
}

// DocumentNamed implements calendar.Facts.
func (e calendarFacts) DocumentNamed(r store.Reader, as identity.Principal, text string) (*store.Document, DocumentPath, error) {
	return e.files.Named(r, as, text)
}

// RouteVersion implements calendar.Facts.
func (e calendarFacts) RouteVersion(r store.Reader, id, version int64) (*route.Route, error) {
	return e.versions.get(r, id, version)
}

// CaseOf implements calendar.Facts.
func (e calendarFacts) CaseOf(r store.Reader, marking []byte) (*machine.Case, error) {
	return e.caseOf(r, marking)
}

// SeesCase implements calendar.Facts.
func (e calendarFacts) SeesCase(r store.Reader, by identity.Principal, c *store.Case) (bool, error) {
	return e.rights.SeesCase(r, by, c)
}

// LinkOwner implements calendar.Facts.
func (e calendarFacts) LinkOwner(token string) (by identity.Principal, ok bool) {
	t := e.accounts.Table()
	link := t.CalendarLink(token)
	if link == nil {
		return identity.Principal{}, false
	}
	e.accounts.NoteUse(store.CalendarLink, link)
	return t.Directory().Principal(link.UserID), true
}
