package schedule

import (
	"cmp"
	"path"
	"slices"
	"time"
)

// Span is a half-open range of time: [From, To).
type Span struct {
	From, To time.Time
	Name     string // of what takes it, as of a holiday; "" for nothing
}

// bounded is a recurrence between two instants, both included, without some
// spans (docs/contract/schedule.md#exclude).
type bounded struct {
	backward
	start, end time.Time // zero: none
	out        []Span    // ascending, apart from each other
}

var _ backward = (*bounded)(nil)

// restricted returns the recurrence within the entry's bounds, and without
// what is excluded.
func (e *Entry) restricted(b backward, zone *time.Location) backward {
	if within, ok := b.(*bounded); ok { // of other bounds
		b = within.backward
	}
	out := e.spans(zone)
	if e.Start.IsZero() && e.End.IsZero() && len(out) == 0 {
		return b
	}
	return &bounded{backward: b, start: e.Start, end: e.End, out: out}
}

// Next returns the first instant after t.
func (b *bounded) Next(t time.Time) time.Time {
	if t.Before(b.start) {
		t = b.start.Add(-1)
	}
	for {
		at := b.backward.Next(t)
		if at.IsZero() || !b.end.IsZero() && at.After(b.end) {
			return time.Time{}
		}
		span := b.excludes(at)
		if span == nil {
			return at
		}
		t = span.To.Add(-1)
	}
}

func (b *bounded) latest(t time.Time) time.Time {
	if !b.end.IsZero() && t.After(b.end) {
		t = b.end
	}
	for {
		at := b.backward.latest(t)
		if at.IsZero() || at.Before(b.start) {
			return time.Time{}
		}
		span := b.excludes(at)
		if span == nil {
			return at
		}
		t = span.From.Add(-1)
	}
}

// excludes returns the span that holds the instant, nil for none.
func (b *bounded) excludes(at time.Time) *Span {
	i, _ := slices.BinarySearchFunc(b.out, at, func(s Span, at time.Time) int {
		if s.To.After(at) {
			return 1
		}
		return -1
	})
	if i < len(b.out) && !b.out[i].From.After(at) {
		return &b.out[i]
	}
	return nil
}

// passed returns the instants in [from, before) that are excluded: the last
// n of them, oldest first, and whether there are more.
func (b *bounded) passed(from, before time.Time, n int) (instants []time.Time, more bool) {
	for i := len(b.out) - 1; i >= 0 && !more; i-- {
		low, high := later(from, b.out[i].From), earlier(before, b.out[i].To)
		if low = later(low, b.start); !high.After(low) {
			continue
		}
		if !b.end.IsZero() {
			high = earlier(high, b.end.Add(1))
		}
		var some []time.Time
		some, more = Latest(b.backward, low.Add(-1), high.Add(-1), n-len(instants))
		instants = append(some, instants...)
	}
	return instants, more
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// spans returns what the entry excludes, in order and joined.
func (e *Entry) spans(zone *time.Location) []Span {
	var all []Span
	for _, x := range e.Exclude {
		all = append(all, x.spans(zone)...)
	}
	all = append(all, e.holidays...)
	slices.SortFunc(all, func(a, b Span) int { return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To)) })
	var out []Span
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && !s.From.After(out[last].To) {
			out[last].To = later(out[last].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// WhyExcluded says what excludes an instant, in a few words: "Christmas (holidays.ics)", "2026-12-24
// (exclude)". It is empty if nothing does. The entry has been read with its calendar.
func (e *Entry) WhyExcluded(at time.Time) string {
	holds := func(s Span) bool { return !at.Before(s.From) && at.Before(s.To) }
	zone := cmp.Or(e.location(), time.UTC)
	for _, x := range e.Exclude {
		if slices.ContainsFunc(x.spans(zone), holds) {
			if x.Date != "" {
				return x.Date + " (exclude)"
			}
			return x.From + " to " + x.To + " (exclude)"
		}
	}
	i := slices.IndexFunc(e.holidays, holds)
	if i < 0 {
		return ""
	}
	calendar := path.Base(e.ExcludeCalendar)
	if name := e.holidays[i].Name; name != "" {
		return name + " (" + calendar + ")"
	}
	return calendar
}

func (x Exclusion) spans(zone *time.Location) []Span {
	if x.Date != "" {
		day := sideOf(x.Date)
		return spansBetween(day, side{day.second + secondsPerDay, true}, zone)
	}
	return spansBetween(sideOf(x.From), sideOf(x.To), zone)
}

// side is the begin or the end of an exclusion: an instant, or midnight by the
// clocks of the entry's zone, in seconds of a clock without zone. Such a
// midnight may come twice, or not at all.
type side struct {
	second int64
	wall   bool
}

// sideOf reads what readExclusions has judged.
func sideOf(text string) side {
	layout := timeLayout
	if dateOnly(text) {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return side{}
	}
	return side{t.Unix(), layout == time.DateOnly}
}

// in returns the instant within a period in which the clocks are not changed.
func (s side) in(p period) int64 {
	if s.wall {
		return s.second - p.offset
	}
	return s.second
}

// spansBetween returns the instants from one side to the other: several spans
// if clocks are turned back over midnight, none if they skip a whole day.
func spansBetween(from, to side, zone *time.Location) (out []Span) {
	add := func(low, high int64) {
		if low < high {
			out = append(out, Span{From: time.Unix(low, 0).UTC(), To: time.Unix(high, 0).UTC()})
		}
	}
	const near = 2 * secondsPerDay // more than clocks are ever changed by
	for at := from.second - near; ; {
		p := periodOf(zone, at)
		add(max(p.start, from.in(p)), min(p.end, to.in(p)))
		if at = p.end; at > to.second+near {
			return out
		}
		if lastDays := to.second - near; at > from.second+near && at < lastDays {
			add(at, lastDays)
			at = lastDays
		}
	}
}
