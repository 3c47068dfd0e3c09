package schedule

import "time"

// Observe has the entry pass over the spans, which its calendar excludes, and
// reports whether it comes at all. Its next instant is the one that it had, or
// the first after that which is not excluded; an earlier one that is still to
// come, where the calendar has excluded it before and does not any more.
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
