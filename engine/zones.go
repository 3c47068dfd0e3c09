package engine

import (
	"time"

	"flowdrive/internal/identity"
)

// zoneOf returns the time zone of dates that the user writes without one.
func (e *base) zoneOf(by identity.Principal) *time.Location { return e.zoneOfParty(by.ID) }

// zoneOfParty returns the time zone of what is read for a user or team.
func (e *base) zoneOfParty(identity.ID) *time.Location { return e.zone }
