package schedule

import "time"

const (
	// MostShown is how many instants of an entry a calendar shows at most.
	MostShown = 50

	// daily is how far apart the instants of an entry lie on average that
	// comes once a day at most; a change of the clocks may take an hour.
	daily = 23 * time.Hour

	// mostWalked bounds how far the end of a repeat is looked for.
	mostWalked = 1000
)

// Agenda returns what a calendar shows of the entry before an instant. Usually
// these are the coming instants. If the entry comes more often than daily, days
// is true and times are the days on which it comes, each as its midnight in the
// entry's zone. Agenda does not notice that an entry with a repeat of more than
// a thousand ends before.
func (e *Entry) Agenda(before time.Time) (times []time.Time, days bool) {
	instants := e.coming(before, MostShown+1)
	n := len(instants)
	if n < 2 || instants[n-1].Sub(instants[0]) >= time.Duration(n-1)*daily {
		return instants[:min(n, MostShown)], false
	}
	if left := e.remaining(); n > MostShown && left >= 0 && left <= mostWalked {
		instants = e.coming(before, mostWalked)
		before = instants[len(instants)-1].Add(1)
	} else if n <= MostShown {
		before = instants[n-1].Add(1)
	}
	zone, s := e.location(), e.Schedule()
	for at := instants[0]; !at.IsZero() && at.Before(before) && len(times) < MostShown; {
		year, month, day := at.In(zone).Date()
		times = append(times, time.Date(year, month, day, 0, 0, 0, 0, zone))
		at = s.Next(time.Date(year, month, day+1, 0, 0, 0, 0, zone).Add(-1))
	}
	return times, true
}

// coming returns the next n instants that come before one.
func (e *Entry) coming(before time.Time, n int) []time.Time {
	instants := Preview(e, e.NextIteration, n)
	for i, at := range instants {
		if !at.Before(before) {
			return instants[:i]
		}
	}
	return instants
}
