package schedule

import "time"

// Observe makes the entry pass over the spans, which its calendar excludes. It
// reports whether the entry has an instant left. The next instant stays, or
// becomes the first one after it that is not excluded. If the calendar excluded
// an earlier one before and no longer does, and it is still to come, it is that
// one.
func (e *Entry) Observe(holidays []Span, now time.Time) (comes bool) {
	e.holidays, e.recurrence = holidays, nil
	s := e.Schedule()
	if s == nil {
		return true // it has faults of its own
	}
	if e.Paused {
		return true
	}
	next := s.Next(later(now, e.LastIteration))
	if !e.NextIteration.IsZero() {
		if held := s.Next(e.NextIteration.Add(-1)); next.IsZero() || !held.IsZero() && held.Before(next) {
			next = held
		}
	}
	if !next.Equal(e.NextIteration) {
		e.setNext(next)
	} else if !next.IsZero() {
		e.Upcoming = Preview(e, next, upcomingCount)
	}
	return !next.IsZero()
}
