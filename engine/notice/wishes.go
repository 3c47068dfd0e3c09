package notice

import (
	"slices"
	"time"

	"flowdrive/store"
)

// at once is what a kind has behind it in the wishes of a user who wants to be told
// of it in spite of digest and quiet hours.
const atOnce = ":now"

// WishedKinds returns what the list of kinds in a user's wishes may have.
func WishedKinds() (all []string) {
	for _, kind := range Kinds() {
		all = append(all, string(kind), string(kind)+atOnce)
	}
	return all
}

// Wish is when a user is sent a mail.
type Wish struct {
	Never  bool
	At     time.Time // zero: at once
	Digest bool      // in one mail with the others that are due then
}

// WishFor returns when a user with these wishes is sent a mail of that kind that is
// written now. Times are of the zone. A time that the day does not have, as clocks
// are put forward, is an hour off; of a time that it has twice the digest comes at the later one
// (docs/contract/drive.md#mejson).
func WishFor(w store.MailWishes, kind Kind, now time.Time, zone *time.Location) Wish {
	if slices.Contains(w.Kinds, string(kind)+atOnce) {
		return Wish{}
	}
	if w.Kinds != nil && !slices.Contains(w.Kinds, string(kind)) {
		return Wish{Never: true}
	}
	if w.Digest != "" {
		return Wish{At: nextAt(w.Digest, now, zone, false), Digest: true}
	}
	if w.Quiet != nil && isQuiet(w.Quiet, now.In(zone)) {
		return Wish{At: nextAt(w.Quiet.To, now, zone, true)}
	}
	return Wish{}
}

// isQuiet reports whether the local time is within the hours.
func isQuiet(q *store.QuietHours, local time.Time) bool {
	at := local.Format("15:04")
	if q.From <= q.To {
		return q.From <= at && at < q.To
	}
	return q.From <= at || at < q.To
}

// nextAt returns the next instant after now at which it is that time of day in the
// zone. With again set, both instants count of a time that a day has twice.
func nextAt(clock string, now time.Time, zone *time.Location, again bool) time.Time {
	of, err := time.Parse("15:04", clock)
	if err != nil {
		return now // never stored
	}
	year, month, day := now.In(zone).Date()
	for i := 0; ; i++ {
		at := time.Date(year, month, day+i, of.Hour(), of.Minute(), 0, 0, zone)
		instants := []time.Time{at}
		if again {
			instants = []time.Time{at.Add(-time.Hour), at, at.Add(time.Hour)}
		}
		for _, at := range instants {
			if at.After(now) && (at.Equal(instants[len(instants)/2]) || at.Format("15:04") == clock) {
				return at.UTC()
			}
		}
	}
}
