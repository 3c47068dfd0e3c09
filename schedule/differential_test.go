package schedule_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/schedule"
)

// draws is how many entries TestNextAgainstDays draws. CI does some seconds
// of it; a million take some minutes:
//
//	go test ./schedule -run TestNextAgainstDays -draws 1000000
var draws = flag.Int("draws", 5_000, "how many random entries are compared with the walk through the days")

// The time in which random entries are tried, and how far the walk goes.
const (
	drawnFrom, drawnTo = 2005, 2018
	walkedYears        = 6
)

// drawnZones change their clocks by an hour, half an hour or two hours, at
// midnight, over the date line, for Ramadan, or not at all.
func drawnZones() []string {
	return []string{
		"UTC", "UTC", "UTC", "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "Pacific/Apia", "Africa/Cairo",
		"America/Havana", "America/Asuncion", "America/Sao_Paulo", "Africa/Casablanca", "Antarctica/Troll", "America/St_Johns",
		"Asia/Kolkata", "Pacific/Chatham",
	}
}

// wallClock knows what clocks in a zone show, from nothing but what
// time.Time says at single instants.
type wallClock struct {
	zone    *time.Location
	changes []time.Time // of the clocks
}

func newWallClock(tb testing.TB, name string) *wallClock {
	tb.Helper()
	w := &wallClock{zone: zoneNamed(name)}
	if w.zone == nil {
		tb.Fatalf("there is no zone %s", name)
	}
	offset := func(at time.Time) int { _, o := at.In(w.zone).Zone(); return o }
	const slot = 6 * time.Hour
	end := time.Date(drawnTo+walkedYears+1, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := time.Date(drawnFrom-1, 1, 1, 0, 0, 0, 0, time.UTC); at.Before(end); at = at.Add(slot) {
		if offset(at) == offset(at.Add(slot)) {
			continue
		}
		low, high := at, at.Add(slot)
		for high.Sub(low) > time.Second {
			if middle := low.Add(high.Sub(low) / 2); offset(middle) == offset(low) {
				low = middle
			} else {
				high = middle
			}
		}
		w.changes = append(w.changes, high.Truncate(time.Second))
	}
	return w
}

// shows returns what clocks show at an instant, as if they showed UTC.
func (w *wallClock) shows(at time.Time) time.Time {
	_, offset := at.In(w.zone).Zone()
	return at.Add(time.Duration(offset) * time.Second)
}

// instants returns when clocks show that: once, twice, or never; then skipped
// is the first instant after.
func (w *wallClock) instants(wall time.Time) (out []time.Time, skipped time.Time) {
	const far = 30 * time.Hour
	probes := []time.Time{wall.Add(-far)}
	i, _ := slices.BinarySearchFunc(w.changes, wall.Add(-far), time.Time.Compare)
	for ; i < len(w.changes) && w.changes[i].Before(wall.Add(far)); i++ {
		probes = append(probes, w.changes[i])
		if before := w.shows(w.changes[i].Add(-time.Second)); before.Before(wall) && w.shows(w.changes[i]).After(wall) {
			skipped = w.changes[i]
		}
	}
	for _, probe := range probes {
		at := wall.Add(probe.Sub(w.shows(probe)))
		if w.shows(at).Equal(wall) && !slices.ContainsFunc(out, at.Equal) {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return out, skipped
}

// steady returns how far clocks are ahead of UTC on a day, and whether they
// are so long before and after it.
func (w *wallClock) steady(day time.Time) (offset time.Duration, ok bool) {
	const far = 60 * time.Hour
	i, _ := slices.BinarySearchFunc(w.changes, day.Add(-far), time.Time.Compare)
	if i < len(w.changes) && w.changes[i].Before(day.Add(far)) {
		return 0, false
	}
	return w.shows(day).Sub(day), true
}

// drawn is a random entry: its document, and what it means said once more.
type drawn struct {
	members []string
	kind    schedule.Type
	clock   *wallClock

	day       func(time.Time) bool // of calendars
	times     []time.Duration      // of the day
	hourly    bool
	skipGap   bool
	overlap   schedule.DSTOverlap
	anchor    time.Time // of intervals; of simple entries the instant
	period    time.Duration
	fresh     bool // the grid starts now
	allowed   []func(at time.Time) bool
	lastAfter time.Time // nothing comes after that, zero: no bound
}

func (d *drawn) add(format string, args ...any) {
	d.members = append(d.members, fmt.Sprintf(format, args...))
}

// drawNow draws an instant: any, or one shortly before a change of the clocks.
func (w *wallClock) drawNow(r *rand.Rand) time.Time {
	now := time.Date(drawnFrom, 1, 1, 0, 0, r.IntN((drawnTo-drawnFrom)*365*24*60*60), 0, time.UTC)
	if i, _ := slices.BinarySearchFunc(w.changes, now, time.Time.Compare); i < len(w.changes) && r.IntN(2) == 0 {
		now = w.changes[i].Add(-time.Duration(r.IntN(100*60*60)) * time.Second)
	}
	return now.Add(time.Duration(r.IntN(2)) * time.Second / 2)
}

func draw(r *rand.Rand, clock *wallClock, now time.Time) *drawn {
	d := &drawn{clock: clock}
	switch kind := r.IntN(8); {
	case kind > 2:
		d.drawCalendar(r, kind > 5)
	case clock.zone == time.UTC && kind == 0:
		d.drawSimple(r, now)
	case clock.zone == time.UTC:
		d.drawInterval(r, now)
	default:
		d.drawCalendar(r, kind > 0)
	}
	d.drawBounds(r, now)
	return d
}

func (d *drawn) drawSimple(r *rand.Rand, now time.Time) {
	d.kind = schedule.TypeSimple
	given := now.Add(time.Duration(r.IntN(90*24*60*60)) * time.Second)
	d.add(`"date": %q`, given.Format("2006-01-02T15:04:05"))
	d.anchor = given.Truncate(time.Minute)
}

func (d *drawn) drawInterval(r *rand.Rand, now time.Time) {
	d.kind = schedule.TypeInterval
	for _, unit := range []struct {
		name   string
		length time.Duration
		most   int
	}{{"weeks", 7 * 24 * time.Hour, 3}, {"days", 24 * time.Hour, 40}, {"hours", time.Hour, 50}, {"minutes", time.Minute, 100}, {"seconds", time.Second, 100}} {
		if r.IntN(3) > 0 {
			continue
		}
		n := r.IntN(unit.most + 1)
		d.add(`%q: %d`, unit.name, n)
		d.period += time.Duration(n) * unit.length
	}
	if d.period == 0 {
		d.members, d.period = []string{`"seconds": 1`}, time.Second
	}
	if d.fresh = r.IntN(3) == 0; d.fresh {
		d.anchor = now.Truncate(time.Second)
		return
	}
	d.anchor = now.Add(time.Duration(r.IntN(200*24*60*60)-100*24*60*60) * time.Second).Truncate(time.Second)
	d.add(`"date": %q`, d.anchor.Format("2006-01-02T15:04:05"))
}

func (d *drawn) drawCalendar(r *rand.Rand, crontab bool) {
	month, hour, minute := randomPattern(r, "month", 1, 12), randomPattern(r, "hour", 0, 23), randomPattern(r, "minute", 0, 59)
	if crontab {
		d.kind = schedule.TypeCrontab
		day, weekday := randomPattern(r, "", 1, 31), randomPattern(r, "", 0, 6)
		d.add(`"spec": %q`, strings.Join([]string{minute.text, hour.text, day.text, month.text, weekday.text}, " "))
		either := !starred(day) && !starred(weekday)
		d.day = func(t time.Time) bool {
			byDay, byWeekday := day.matches(t.Day(), t), weekday.matches(int(t.Weekday()), t)
			return month.matches(int(t.Month()), t) && (byDay && byWeekday || either && (byDay || byWeekday))
		}
	} else {
		d.kind = schedule.TypeCron
		year := pattern{"*", func(int, time.Time) bool { return true }}
		if r.IntN(4) == 0 {
			a := drawnFrom + r.IntN(drawnTo-drawnFrom)
			year = pattern{fmt.Sprintf("%d,%d", a, a+2), func(v int, _ time.Time) bool { return v == a || v == a+2 }}
		}
		day, week, weekday := randomPattern(r, "day", 1, 31), randomPattern(r, "week", 1, 53), randomPattern(r, "weekday", 0, 6)
		d.add(`"year": %q, "month": %q, "day": %q, "week": %q, "weekday": %q, "hour": %q, "minute": %q`,
			year.text, month.text, day.text, week.text, weekday.text, hour.text, minute.text)
		d.day = func(t time.Time) bool {
			_, isoWeek := t.ISOWeek()
			return month.matches(int(t.Month()), t) && day.matches(t.Day(), t) && year.matches(t.Year(), t) &&
				weekday.matches(fromMonday(t), t) && week.matches(isoWeek, t)
		}
	}
	hours := 0
	for h := range 24 {
		if !hour.matches(h, time.Time{}) {
			continue
		}
		hours++
		for m := range 60 {
			if minute.matches(m, time.Time{}) {
				d.times = append(d.times, time.Duration(60*h+m)*time.Minute)
			}
		}
	}
	d.hourly = hours == 24 || strings.HasPrefix(hour.text, "*/") && !strings.Contains(hour.text, ",")
	d.drawPolicies(r)
}

// starred reports whether a field of a crontab line does not restrict.
func starred(p pattern) bool {
	items := strings.Split(p.text, ",")
	return slices.Contains(items, "*") || slices.Contains(items, "*/1")
}

func (d *drawn) drawPolicies(r *rand.Rand) {
	if d.clock.zone != time.UTC || r.IntN(4) == 0 {
		d.add(`"timezone": %q`, d.clock.zone)
	}
	if d.skipGap = r.IntN(2) == 0; d.skipGap {
		d.add(`"dstGap": "skip"`)
	}
	d.overlap = []schedule.DSTOverlap{schedule.DSTOverlapFirst, schedule.DSTOverlapLast, schedule.DSTOverlapBoth}[r.IntN(3)]
	d.add(`"dstOverlap": %q`, d.overlap)
}

// drawBounds adds start, end and exclude. Days are excluded at the changes of
// the clocks too, where they begin late or twice.
func (d *drawn) drawBounds(r *rand.Rand, now time.Time) {
	someday := func() time.Time {
		if changes := d.clock.changes; len(changes) > 0 && r.IntN(2) == 0 {
			i, _ := slices.BinarySearchFunc(changes, now, time.Time.Compare)
			return d.clock.shows(changes[min(i, len(changes)-1)]).Add(time.Duration(r.IntN(48)-36) * time.Hour)
		}
		return now.AddDate(0, 0, r.IntN(60))
	}
	if r.IntN(5) == 0 {
		start := someday().Truncate(time.Second)
		d.add(`"start": %q`, start.Format("2006-01-02T15:04:05"))
		d.allowed = append(d.allowed, func(at time.Time) bool { return !at.Before(start) })
	}
	if r.IntN(5) == 0 {
		end := someday().AddDate(0, 3, 0).Truncate(time.Second)
		d.add(`"end": %q`, end.Format("2006-01-02T15:04:05"))
		d.lastAfter = end
		d.allowed = append(d.allowed, func(at time.Time) bool { return !at.After(end) })
	}
	var excluded []string
	for range max(0, r.IntN(8)-4) {
		from := someday().Truncate(time.Second)
		to := from.AddDate(0, 0, 1+r.IntN(20))
		fromDate, toDate := from.Format(time.DateOnly), to.Format(time.DateOnly)
		switch r.IntN(3) {
		case 0:
			excluded = append(excluded, fmt.Sprintf("%q", fromDate))
			d.allowed = append(d.allowed, func(at time.Time) bool { return d.clock.shows(at).Format(time.DateOnly) != fromDate })
		case 1:
			excluded = append(excluded, fmt.Sprintf(`{"from": %q, "to": %q}`, fromDate, toDate))
			d.allowed = append(d.allowed, func(at time.Time) bool {
				day := d.clock.shows(at).Format(time.DateOnly)
				return day < fromDate || day >= toDate
			})
		default:
			excluded = append(excluded, fmt.Sprintf(`{"from": %q, "to": %q}`, from.Format("2006-01-02T15:04:05"), to.Format("2006-01-02T15:04:05")))
			d.allowed = append(d.allowed, func(at time.Time) bool { return at.Before(from) || !at.Before(to) })
		}
	}
	if len(excluded) > 0 {
		d.add(`"exclude": [%s]`, strings.Join(excluded, ", "))
	}
}

func (d *drawn) document() string { return with(string(d.kind), strings.Join(d.members, ", ")) }

func (d *drawn) allows(at time.Time) bool {
	return !slices.ContainsFunc(d.allowed, func(allow func(time.Time) bool) bool { return !allow(at) })
}

// next returns the first instant after t, zero for none within so many years.
func (d *drawn) next(t time.Time) time.Time {
	horizon := t.AddDate(walkedYears, 0, 0)
	if !d.lastAfter.IsZero() && d.lastAfter.Before(horizon) {
		horizon = d.lastAfter
	}
	switch d.kind {
	case schedule.TypeSimple:
		if d.anchor.After(t) && d.allows(d.anchor) {
			return d.anchor
		}
	case schedule.TypeInterval:
		at := d.anchor
		if passed := t.Sub(at); passed >= 0 {
			at = at.Add(passed / d.period * d.period)
		}
		for ; !at.After(horizon); at = at.Add(d.period) {
			if at.After(t) && d.allows(at) {
				return at
			}
		}
	case schedule.TypeCron, schedule.TypeCrontab:
		return d.walk(t, horizon)
	}
	return time.Time{}
}

// walk goes through the days of the zone. Some further days are looked at
// when one has an instant, for where clocks are turned back or over the date
// line days do not come in their order.
func (d *drawn) walk(t, horizon time.Time) (first time.Time) {
	further := 3
	for day := d.clock.shows(t).Truncate(24*time.Hour).AddDate(0, 0, -2); further > 0 && day.Before(horizon.AddDate(0, 0, 3)); day = day.AddDate(0, 0, 1) {
		if d.day(day) {
			d.ofDay(day, func(at time.Time) bool {
				if !at.After(t) || !first.IsZero() && !at.Before(first) || !d.allows(at) {
					return false
				}
				first = at
				return true
			})
		}
		if !first.IsZero() {
			further--
		}
	}
	return first
}

// ofDay calls take with the instants of the times of a day, until it says
// that it has enough.
func (d *drawn) ofDay(day time.Time, take func(time.Time) (enough bool)) {
	if offset, steady := d.clock.steady(day); steady {
		for _, time := range d.times {
			if take(day.Add(time - offset)) {
				return
			}
		}
		return
	}
	for _, time := range d.times {
		at, skipped := d.clock.instants(day.Add(time))
		switch {
		case len(at) == 0 && (d.skipGap || d.hourly):
		case len(at) == 0:
			take(skipped)
		case d.hourly || d.overlap == schedule.DSTOverlapBoth:
			for _, at := range at {
				take(at)
			}
		case d.overlap == schedule.DSTOverlapLast:
			take(at[len(at)-1])
		default:
			take(at[0])
		}
	}
}

// TestNextAgainstDays compares the next instants of random entries of all
// types with a walk through days that shares nothing with the implementation:
// an entry's first instant when it is stored, those after it, and the way
// back.
func TestNextAgainstDays(t *testing.T) {
	t.Parallel()
	var clocks []*wallClock
	for _, name := range drawnZones() {
		clocks = append(clocks, newWallClock(t, name))
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	n := *draws
	if testing.Short() {
		n /= 10
	}
	never := 0
	for i := range n {
		clock := clocks[r.IntN(len(clocks))]
		now := clock.drawNow(r)
		d := draw(r, clock, now)
		found, diff := d.compare(t, now)
		if diff != "" {
			t.Fatalf("seed %d, draw %d: %s at %s: %s", seed, i, d.document(), now, diff)
		}
		if !found {
			never++
		}
	}
	if never > n/2 {
		t.Errorf("%d of %d entries never happen", never, n)
	}
}

// compare says what is different, and whether the entry ever happens.
func (d *drawn) compare(t *testing.T, now time.Time) (found bool, diff string) {
	t.Helper()
	after := now.Add(-1)
	switch {
	case d.fresh:
		after = now
	case d.kind == schedule.TypeSimple:
		after = d.anchor.Add(-1) // the minute has begun already
	}
	e, faults := read(t, d.document(), now, nil)
	want := d.next(after)
	if len(faults) > 0 {
		if !want.IsZero() {
			return false, fmt.Sprintf("got %v, want %s", faults, want)
		}
		return false, ""
	}
	s := e.Schedule()
	from := after
	var walked []time.Time
	for got := e.NextIteration; ; got = s.Next(got) {
		if want.IsZero() && (got.IsZero() || got.After(from.AddDate(walkedYears, 0, 0))) {
			break
		}
		if got != want {
			return false, fmt.Sprintf("after %s got %s, want %s", from, got, want)
		}
		if walked = append(walked, got); len(walked) == 3 {
			break
		}
		from = got
		want = d.next(from)
	}
	if len(walked) == 0 {
		return false, ""
	}
	if !slices.Equal(walked, e.Upcoming[:min(len(walked), len(e.Upcoming))]) {
		return true, fmt.Sprintf("upcoming is %s, want %s", e.Upcoming, walked)
	}
	back, more := schedule.Latest(s, after, walked[len(walked)-1], len(walked))
	if more {
		return true, "backwards there are more"
	}
	return true, cmp.Diff(walked, back)
}
