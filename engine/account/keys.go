package account

import (
	"encoding/json"
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Keys is what a user logs in by apart from the password, as administrators are told:
// nothing of it lets anyone in.
type Keys struct {
	AppPasswords  []json.RawMessage // their complete forms, in order of creation
	CalendarLinks int
	Sessions      int       // log-ins to the pages that last
	LastSeen      time.Time // when one of these was used last, as far as that is kept; zero: that is not known
}

// Keys returns what the user logs in by.
func (e *Accounts) Keys(user identity.ID) Keys {
	k := Keys{AppPasswords: []json.RawMessage{}}
	seen := func(at time.Time) {
		if at.After(k.LastSeen) {
			k.LastSeen = at
		}
	}
	t := e.Table()
	for _, s := range t.Secrets(store.AppPassword, user) {
		form, used := s.Form()
		k.AppPasswords = append(k.AppPasswords, form)
		seen(used)
	}
	for _, s := range t.Secrets(store.CalendarLink, user) {
		_, used := s.Form()
		k.CalendarLinks++
		seen(used)
	}
	now := e.maker.Wall()
	for _, s := range t.sessions {
		if s.UserID == user && s.lasts(now) {
			k.Sessions++
			seen(s.seen())
		}
	}
	return k
}
