package schedule

import "time"

// maxSkipped is how many missed instants a step names.
const maxSkipped = 1000

// Step is one occurrence of an entry: what a firing does, as a value.
type Step struct {
	Skipped        []time.Time // missed instants that are passed over, oldest first, the newest of them
	SkippedEarlier bool        // there are more before those
	Instant        time.Time   // what the case is scheduled for; zero: nothing is due
	Late           bool        // the instant was missed by more than the grace
	Ended          bool        // it was the last: the entry is to be deleted
	Iteration      int64       // counts from 1
}

// Due returns the entry's next instant; ok is false where it has none.
func (e *Entry) Due() (at time.Time, ok bool) { return e.NextIteration, !e.NextIteration.IsZero() }

// Step takes the occurrence that is due at now, if there is one, and moves
// the entry on: it counts the iteration, and computes the next instant from
// the recurrence, never from now. Of instants that were missed by more than
// the grace the latest is taken and the others are skipped (misfire once);
// an instant within the grace is an occurrence of its own. The caller steps
// again while another is due.
func (e *Entry) Step(now time.Time) Step {
	due, ok := e.Due()
	s := e.Schedule()
	if !ok || s == nil || due.After(now) {
		return Step{}
	}
	step := Step{Instant: due}
	inTime := now.Add(-time.Duration(e.GraceSeconds) * time.Second)
	if due.Before(inTime) {
		step.Late = true
		missed, more := Latest(s, due.Add(-1), inTime.Add(-1), maxSkipped+1)
		if n := len(missed); n > 0 {
			step.Skipped, step.SkippedEarlier = missed[:n-1], more
			step.Instant = missed[n-1]
		}
	}
	e.IterationsPerformed++
	e.LastIteration = step.Instant
	step.Iteration = e.IterationsPerformed
	next := s.Next(step.Instant)
	if e.Repeat != 0 && e.IterationsPerformed >= e.Repeat {
		next = time.Time{}
	}
	step.Ended = next.IsZero()
	e.setNext(next)
	return step
}
