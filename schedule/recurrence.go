package schedule

import (
	"slices"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a recurrence: Next returns the first instant strictly after its
// argument, in UTC, or the zero time if there is none.
type Schedule = cron.Schedule

// backward is a recurrence that can be walked backwards, as all of this
// package can: latest returns the last instant that is not after t, or the
// zero time.
type backward interface {
	Schedule
	latest(t time.Time) time.Time
}

var (
	_ backward = (*calendar)(nil)
	_ backward = grid{}
	_ backward = once(0)
)

// once is a single instant, in seconds since 1970.
type once int64

// Once returns the recurrence that happens at t alone. A fraction of a
// second is cut off.
func Once(t time.Time) Schedule { return once(t.Unix()) }

// Next returns the instant, unless t has reached it.
func (o once) Next(t time.Time) time.Time {
	if t.Unix() >= int64(o) {
		return time.Time{}
	}
	return time.Unix(int64(o), 0).UTC()
}

func (o once) latest(t time.Time) time.Time {
	if t.Unix() < int64(o) {
		return time.Time{}
	}
	return time.Unix(int64(o), 0).UTC()
}

// grid is anchor + k·period for k ≥ 0, in seconds.
type grid struct{ anchor, period int64 }

// Interval returns the recurrence anchor + k·period, k ≥ 0. It never drifts.
// Fractions of a second are cut off; a period is a second at least.
func Interval(anchor time.Time, period time.Duration) Schedule {
	return grid{anchor: anchor.Unix(), period: max(int64(period/time.Second), 1)}
}

// Next returns the first instant of the grid after t.
func (g grid) Next(t time.Time) time.Time {
	s := t.Unix()
	if s >= lastSecond {
		return time.Time{}
	}
	next := g.anchor
	if s >= g.anchor {
		next += ((s-g.anchor)/g.period + 1) * g.period
	}
	if next > lastSecond {
		return time.Time{}
	}
	return time.Unix(next, 0).UTC()
}

func (g grid) latest(t time.Time) time.Time {
	s := min(t.Unix(), lastSecond)
	if s < g.anchor {
		return time.Time{}
	}
	return time.Unix(s-(s-g.anchor)%g.period, 0).UTC()
}

// Latest returns the last n instants of s in (after, upTo], oldest first,
// and whether there are more before them. Its cost grows with n, not with
// how many instants there are.
func Latest(s Schedule, after, upTo time.Time, n int) (instants []time.Time, more bool) {
	b, ok := s.(backward)
	if !ok {
		return latestOf(s, after, upTo, n)
	}
	for at := b.latest(upTo); !at.IsZero() && at.After(after); at = b.latest(at.Add(-1)) {
		if len(instants) == n {
			more = true
			break
		}
		instants = append(instants, at)
	}
	slices.Reverse(instants)
	return instants, more
}

// latestOf is Latest for a recurrence that only goes forward: it looks into
// windows that end at upTo and grow until one holds enough.
func latestOf(s Schedule, after, upTo time.Time, n int) (instants []time.Time, more bool) {
	const growth = 4
	for width := time.Hour; ; width *= growth {
		from := after
		if whole := upTo.Sub(after); width < whole/growth {
			from = upTo.Add(-width)
		}
		instants = instants[:0]
		for at := s.Next(from); !at.IsZero() && !at.After(upTo); at = s.Next(at) {
			instants = append(instants, at)
		}
		if extra := len(instants) - n; extra > 0 {
			return instants[extra:], true
		}
		if from.Equal(after) {
			return instants, false
		}
	}
}
