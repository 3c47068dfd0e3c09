package engine

import (
	"time"

	"flowdrive/internal/identity"
)

// zoneOf returns the time zone of dates that the user writes without one.
func (e *base) zoneOf(by identity.Principal) *time.Location { return e.zoneOfParty(by.ID) }

// zoneOfParty returns the time zone of what is read for a user or team: the user's
// own, else that of the server.
func (e *base) zoneOfParty(id identity.ID) *time.Location {
	if p := e.accounts.Table().ByID(id); p != nil {
		if zone := e.zoneNamed(p.Zone); zone != nil {
			return zone
		}
	}
	return e.zone
}

// zoneNamed returns the time zone of a name, nil if there is none.
func (e *base) zoneNamed(name string) *time.Location {
	if name == "" || e.zones == nil {
		return nil
	}
	return e.zones(name)
}

// ZoneOf returns the time zone of what the user reads: the user's own, else that of the
// server. own says which it is.
func (e *Cases) ZoneOf(by identity.Principal) (zone *time.Location, own bool) {
	p := e.accounts.Table().ByID(by.ID)
	return e.zoneOf(by), p != nil && e.zoneNamed(p.Zone) != nil
}
