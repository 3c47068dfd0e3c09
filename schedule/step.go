package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// maxSkipped is how many instants that were passed over a step names, and how
// many missed ones have a case each (misfire all).
const maxSkipped = 1000

// Step is one occurrence of an entry: what a firing does, as a value.
type Step struct {
	Excluded        []time.Time // instants before this one that the entry excludes, oldest first, the newest of them
	ExcludedEarlier bool        // there are more before those
	Skipped         []time.Time // missed instants that are passed over, the newest as above
	SkippedEarlier  bool
	Instant         time.Time // the instant that the case is scheduled for; zero if there is no case
	Late            bool      // the instant was missed by more than the grace
	Ended           bool      // it was the last: the entry is to be deleted
	Iteration       int64     // counts from 1
}

// Nothing reports whether nothing was due.
func (s *Step) Nothing() bool { return s.Instant.IsZero() && len(s.Skipped) == 0 }

// Due returns the entry's next instant plus its jitter; ok is false if there is
// no next instant.
func (e *Entry) Due() (at time.Time, ok bool) {
	if e.NextIteration.IsZero() {
		return time.Time{}, false
	}
	return e.NextIteration.Add(e.jitter(e.NextIteration)), true
}

// jitter returns by how much a case of the instant is delayed: by chance, as
// far as one entry can tell from another, and for the same instant always the
// same. It never takes as long as until the next instant, so that their order
// is kept and none is late for another's delay.
func (e *Entry) jitter(at time.Time) time.Duration {
	s := e.Schedule()
	if e.JitterSeconds == 0 || s == nil {
		return 0
	}
	most := uint64(e.JitterSeconds)
	if next := s.Next(at); !next.IsZero() {
		most = min(most, uint64(next.Sub(at)/time.Second)-1)
	}
	// The low bits of a lesser hash would be the same for all instants of a grid.
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(e.UUID), uint64(at.Unix())))
	return time.Duration(binary.BigEndian.Uint64(sum[:])%(most+1)) * time.Second
}

// Step takes the occurrence that is due at now, if there is one, and moves
// the entry on: it counts the iteration, and computes the next instant from
// the recurrence, never from now. What becomes of instants that were missed
// by more than the grace, misfire says; an instant within the grace is an
// occurrence of its own. The caller steps again while another is due.
func (e *Entry) Step(now time.Time) Step {
	due, ok := e.Due()
	s := e.Schedule()
	if !ok || s == nil || due.After(now) {
		return Step{}
	}
	first := e.NextIteration
	step := Step{Instant: first, Late: e.late(first, now)}
	if step.Late {
		e.missed(&step, s, first, now)
	}
	e.passOver(&step, first)
	next := e.NextIteration
	if !step.Instant.IsZero() {
		e.IterationsPerformed++
		e.LastIteration = step.Instant
		step.Iteration = e.IterationsPerformed
		next = s.Next(step.Instant)
	}
	if e.Repeat != 0 && e.IterationsPerformed >= e.Repeat {
		next = time.Time{}
	}
	step.Ended = next.IsZero()
	e.setNext(next)
	return step
}

// late reports whether an instant was missed by more than the grace. A simple
// entry has minute precision: if it was created during its own minute, it is
// not late.
func (e *Entry) late(at, now time.Time) bool {
	if e.Type == TypeSimple && at.Before(e.Created) {
		at = at.Add(time.Minute - time.Second)
	}
	return at.Add(e.jitter(at)).Before(now.Add(-e.grace()))
}

// passOver notes which instants are excluded of those that the step, which
// began at first, leaves behind.
func (e *Entry) passOver(step *Step, first time.Time) {
	b, ok := e.recurrence.(*bounded)
	if !ok {
		return
	}
	before := later(first, step.Instant)
	if n := len(step.Skipped); n > 0 {
		before = later(before, step.Skipped[n-1])
	}
	from := later(e.LastIteration, e.Modified)
	step.Excluded, step.ExcludedEarlier = b.passed(from, before, maxSkipped)
}

// LeftOut returns the instants that the entry excludes, up to the one before which it ends: of
// those since its last instant, or since it was stored, the first n. The entry has been
// read with its calendar.
func (e *Entry) LeftOut(before time.Time, n int) []time.Time {
	e.Schedule()
	b, ok := e.recurrence.(*bounded)
	if !ok {
		return nil
	}
	all, _ := b.passed(later(e.LastIteration.Add(1), e.Modified), before, maxSkipped)
	return all[:min(n, len(all))]
}

// missed decides about the instants from first on that are late at now.
func (e *Entry) missed(step *Step, s Schedule, first, now time.Time) {
	grace := e.grace()
	missed, more := Latest(s, first.Add(-1), now.Add(-grace-1), maxSkipped+2)
	n := len(missed)
	if n > 1 && !e.late(missed[n-1], now) { // for its jitter
		n--
	}
	if n == 0 {
		return // the recurrence no longer has the instant that was planned
	}
	missed = missed[:n]
	switch e.Misfire {
	case MisfireSkip:
		step.Late = false
		step.Skipped, step.SkippedEarlier = missed[max(0, n-maxSkipped):], more || n > maxSkipped
		e.NextIteration = s.Next(missed[n-1])
		if step.Instant = e.NextIteration; e.NextIteration.IsZero() || e.NextIteration.Add(e.jitter(e.NextIteration)).After(now) {
			step.Instant = time.Time{}
		}
	case MisfireAll:
		if n > maxSkipped {
			step.Instant = missed[n-maxSkipped]
			step.Skipped, step.SkippedEarlier = Latest(s, first.Add(-1), step.Instant.Add(-1), maxSkipped)
		}
	case MisfireOnce:
		step.Instant = missed[n-1]
		step.Skipped, step.SkippedEarlier = missed[max(0, n-1-maxSkipped):n-1], more || n-1 > maxSkipped
	}
}

// Pause takes the entry's next instant away.
func (e *Entry) Pause(note string) {
	e.Paused, e.Note = true, note
	e.setNext(time.Time{})
}

// PausedSince returns the first instant that passes by while the entry is
// paused, from now on: the one that would be next.
func (e *Entry) PausedSince(now time.Time) time.Time {
	switch {
	case !e.NextIteration.IsZero():
		return e.NextIteration
	case !e.held.IsZero():
		return e.held
	}
	return now
}

// Resume lets an entry go on that was paused since then: the first instant
// that passed by is the next one, though it may be missed by now. It reports
// whether there is any.
func (e *Entry) Resume(since time.Time) bool {
	e.Paused = false
	s := e.Schedule()
	if s == nil {
		return false
	}
	next := s.Next(later(since.Add(-1), e.LastIteration))
	e.setNext(next)
	return !next.IsZero()
}

// SkipMissed passes over the instants of a resumed entry that are not after now, and says which
// they are. It reports whether another instant is to come.
func (e *Entry) SkipMissed(now time.Time) (step Step, ok bool) {
	first := e.NextIteration
	if first.IsZero() || first.After(now) {
		return Step{}, !first.IsZero()
	}
	s := e.Schedule()
	step.Skipped, step.SkippedEarlier = Latest(s, first.Add(-1), now, maxSkipped)
	next := s.Next(now)
	e.setNext(next)
	return step, !next.IsZero()
}

// Trigger counts a case that was asked for. It does not change the grid. It
// reports whether the case was the entry's last.
func (e *Entry) Trigger() (iteration int64, ended bool) {
	e.IterationsPerformed++
	ended = e.Repeat != 0 && e.IterationsPerformed >= e.Repeat
	next := e.NextIteration
	if ended {
		next = time.Time{}
	}
	e.setNext(next)
	return e.IterationsPerformed, ended
}

// Uncount undoes the counting of a step whose instant has no case.
func (e *Entry) Uncount(step *Step) {
	e.IterationsPerformed--
	step.Iteration = 0
	next := e.NextIteration
	if step.Ended {
		next = e.Schedule().Next(step.Instant)
	}
	step.Ended = next.IsZero()
	e.setNext(next)
}

// MaxBackfill bounds the instants of one backfill.
const MaxBackfill = 10_000

// Between returns the entry's instants in [from, to), at most one more than
// MaxBackfill.
func (e *Entry) Between(from, to time.Time) (instants []time.Time) {
	s := e.Schedule()
	for at := s.Next(from.Add(-1)); !at.IsZero() && at.Before(to) && len(instants) <= MaxBackfill; at = s.Next(at) {
		instants = append(instants, at)
	}
	return instants
}

// Backfill counts a case of a past instant; ok is false if the entry has no
// iteration left.
func (e *Entry) Backfill() (iteration int64, ok bool) {
	if e.Repeat != 0 && e.IterationsPerformed >= e.Repeat {
		return 0, false
	}
	e.IterationsPerformed++
	return e.IterationsPerformed, true
}

// Backfilled computes the entry again after a backfill, and reports whether it
// has ended.
func (e *Entry) Backfilled() (ended bool) {
	next := e.NextIteration
	if e.Repeat != 0 && e.IterationsPerformed >= e.Repeat {
		ended, next = true, time.Time{}
	}
	e.setNext(next)
	return ended
}
