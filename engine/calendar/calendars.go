// Package calendar writes the calendar of what is to come for a user, and reads
// the calendars that schedule entries exclude. It keeps what it has written
// until it would be different if it were written again, and what it has read.
package calendar

import (
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/internal/link"
	"flowdrive/route"
	"flowdrive/schedule"
	"flowdrive/store"
)

// Facts are what calendars need to know of users, documents, routes and rights.
type Facts interface {
	// Parties identifies the users and teams as they are now. It is comparable,
	// and another after every change of one.
	Parties() any
	// Principal returns the user or team of that id.
	Principal(id identity.ID) identity.Principal
	// LinkOwner returns the user who made the secret address with that token, and
	// notes that it is used. ok is false if the token is unknown or the user is
	// disabled.
	LinkOwner(token string) (by identity.Principal, ok bool)
	// DocumentNamed returns the document at the path that a text names, and the
	// path as the store spells it. The document is nil if as may not use one
	// there.
	DocumentNamed(r store.Reader, as identity.Principal, text string) (*store.Document, change.DocumentPath, error)
	// RouteVersion returns a version of a route.
	RouteVersion(r store.Reader, id, version int64) (*route.Route, error)
	// CaseOf returns the case of a marking, with the names that users and teams have now.
	CaseOf(r store.Reader, marking []byte) (*machine.Case, error)
	// SeesCase reports whether by may see the case.
	SeesCase(r store.Reader, by identity.Principal, c *store.Case) (bool, error)
}

// Calendars are the use cases of calendars. They are safe for concurrent use.
type Calendars struct {
	maker    *change.Maker
	contents *contents.Keeper
	zones    schedule.Zones
	links    link.Base
	facts    Facts
	feeds    feedCache[feedVersion]
	daysOff  daysOffCache
}

// Config is what Calendars are made of.
type Config struct {
	Maker    *change.Maker
	Contents *contents.Keeper
	Zones    schedule.Zones // nil: UTC alone
	Links    link.Base      // how calendars lead to what they show
	Facts    Facts
}

// New returns calendars.
func New(c Config) *Calendars {
	return &Calendars{maker: c.Maker, contents: c.Contents, zones: c.Zones, links: c.Links, facts: c.Facts}
}
