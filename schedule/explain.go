package schedule

import (
	"slices"
	"time"
)

// Instant is an instant of an entry as people are shown it.
type Instant struct {
	At   time.Time
	Why  string // what is particular about it, "" for nothing
	Left bool   // it is left out: nothing happens then
}

// mostLeft bounds how many instants that are left out stand among the others.
const mostLeft = 10

// Explained returns the next n instants of the entry, from NextIteration on, as far as
// its repeat allows. Among them are those from an instant on that are left out: because
// the entry excludes them, or because the clocks skip them. The order is that of time.
func Explained(e *Entry, from time.Time, n int) []Instant {
	var out []Instant
	left := 0
	for _, at := range Preview(e, e.NextIteration, n) {
		if left < mostLeft {
			some := e.leftOut(from, at, mostLeft-left)
			left += len(some)
			out = append(out, some...)
		}
		out = append(out, Instant{At: at, Why: e.clocksAt(at)})
		from = at.Add(1)
	}
	return out
}

// Excluded returns the instants in [from, before) that the entry excludes, the last n
// of them, oldest first.
func (e *Entry) Excluded(from, before time.Time, n int) []time.Time {
	e.Schedule()
	b, ok := e.recurrence.(*bounded)
	if !ok || n <= 0 {
		return nil
	}
	out, _ := b.passed(from, before, n)
	return out
}

// leftOut returns the instants in [from, before) that are left out.
func (e *Entry) leftOut(from, before time.Time, n int) (out []Instant) {
	for _, at := range e.Excluded(from, before, n) {
		out = append(out, Instant{At: at, Why: "left out: " + e.WhyExcluded(at), Left: true})
	}
	out = append(out, e.skipped(from, before)...)
	slices.SortFunc(out, func(a, b Instant) int { return a.At.Compare(b.At) })
	return out[:min(len(out), n)]
}

// skipped returns the changes of the clocks in [from, before) that skip a local time of
// an entry which leaves such times out.
func (e *Entry) skipped(from, before time.Time) (out []Instant) {
	const mostChanges = 20 // ten years, for a zone that changes its clocks twice a year
	z := e.inOwnZone()
	if z == nil || e.DSTGap != DSTGapSkip {
		return nil
	}
	z.shift = true
	for p, n := z.period(from.Unix()), 0; p.end < before.Unix() && n < mostChanges; n++ {
		p = z.period(p.end)
		if wall, ok := z.missing(p); ok {
			out = append(out, Instant{At: time.Unix(p.start, 0).UTC(), Why: "left out: clocks go forward, there is no " + wall, Left: true})
		}
	}
	return out
}

// inOwnZone returns the calendar in the entry's zone, nil if it has none, or if it
// happens in every real hour whatever clocks show.
func (e *Entry) inOwnZone() *zoned {
	e.Schedule()
	zone := e.location()
	if e.calendar == nil || e.calendar.hourly || zone == nil || zone == time.UTC {
		return nil
	}
	return inZone(e.calendar, zone, &e.Policies)
}

// clocksAt says what changed clocks have to do with an instant, "" for nothing.
func (e *Entry) clocksAt(at time.Time) string {
	z := e.inOwnZone()
	if z == nil {
		return ""
	}
	second := at.Unix()
	p := z.period(second)
	if wall, ok := z.missing(p); ok && second == p.start {
		return "clocks go forward: there is no " + wall
	}
	local := second + p.offset
	again := p.end != unending && local >= p.end+z.after(p)
	before := p.start != beginning && local < p.start+z.before(p)
	if !again && !before {
		return ""
	}
	text := wallTime(local) + " comes twice; "
	switch {
	case z.first && z.last && again:
		return text + "this is the first time"
	case z.first && z.last:
		return text + "this is the second time"
	case z.first:
		return text + "the first counts"
	}
	return text + "the second counts"
}

// missing returns the first local time of the calendar that the clocks skip where the
// period begins.
func (z *zoned) missing(p period) (wall string, ok bool) {
	if !z.gap(p) {
		return "", false
	}
	at, _ := z.nextWall(p.start + z.before(p) - 1)
	return wallTime(at), true
}

// wallTime writes seconds of a clock without zone as the clock shows them.
func wallTime(second int64) string { return time.Unix(second, 0).UTC().Format("15:04") }
