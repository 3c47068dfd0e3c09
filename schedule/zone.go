package schedule

import "time"

// Zones returns the time zone of a name of the IANA database, or nil if there
// is none.
type Zones func(name string) *time.Location

// zoned is a calendar in the wall time of a zone. Between two changes of its
// clocks a zone is a fixed distance from UTC, so that the calendar is asked
// period by period, and the policies say which wall times count at the seams
// (docs/contract/schedule.md#time-zones).
type zoned struct {
	calendar *calendar
	zone     *time.Location
	shift    bool // a wall time that does not exist stands for the first instant after the gap
	first    bool // a wall time that exists twice counts the first time …
	last     bool // … the last time
}

var _ backward = (*zoned)(nil)

// inZone returns the calendar in a zone. A calendar that matches in every hour
// matches in every real hour, under any policy.
func inZone(c *calendar, zone *time.Location, p *Policies) *zoned {
	z := &zoned{calendar: c, zone: zone, first: true, last: true}
	if c.hourly {
		return z
	}
	z.shift = p.DSTGap == DSTGapShift
	z.first = p.DSTOverlap != DSTOverlapLast
	z.last = p.DSTOverlap != DSTOverlapFirst
	return z
}

// period is a time in which the clocks of a zone are not changed, in seconds
// since 1970: [start, end), and how far its wall time is ahead of UTC.
type period struct {
	start, end int64
	offset     int64
}

const (
	beginning = -1 << 62
	unending  = 1 << 62
)

func (z *zoned) period(second int64) period { return periodOf(z.zone, second) }

// periodOf returns the period of a zone that holds the instant.
func periodOf(zone *time.Location, second int64) period {
	t := time.Unix(second, 0).In(zone)
	_, offset := t.Zone()
	p := period{start: beginning, end: unending, offset: int64(offset)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		p.start = changeFrom(zone, start.Unix(), second, offset)
	}
	if !end.IsZero() {
		p.end = end.Unix()
		if p.end <= second {
			// If a zone's changes come from a rule, ZoneBounds takes every year
			// to have 365 days, and ends the period that has the last day of a
			// leap year before that day. No clock is changed until the year is
			// over.
			p.end = second - second%secondsPerDay + secondsPerDay
		}
	}
	return p
}

// changeFrom returns since when the zone has the offset that it has at second.
// That is start, except for zones whose last change before a rule comes into
// force does not follow the rule: ZoneBounds returns when the rule would have
// had one.
func changeFrom(zone *time.Location, start, second int64, offset int) int64 {
	has := func(at int64) bool {
		_, o := time.Unix(at, 0).In(zone).Zone()
		return o == offset
	}
	if has(start) {
		return start
	}
	for low := start; second-low > 1; {
		if middle := low + (second-low)/2; has(middle) {
			second = middle
		} else {
			low = middle
		}
	}
	return second
}

// before and after return the offset of the neighbouring period, or the
// period's own if there is none.
func (z *zoned) before(p period) int64 {
	if p.start == beginning {
		return p.offset
	}
	return z.period(p.start - 1).offset
}

func (z *zoned) after(p period) int64 {
	if p.end == unending {
		return p.offset
	}
	return z.period(p.end).offset
}

// walls returns the wall times of the period that count, as seconds of a
// clock without zone: [from, to).
func (z *zoned) walls(p period) (from, to int64) {
	from, to = beginning, unending
	if p.start != beginning {
		from = p.start + p.offset
		if before := z.before(p); before > p.offset && !z.last {
			from = p.start + before // these were there before
		}
	}
	if p.end != unending {
		to = p.end + p.offset
		if after := z.after(p); after < p.offset && !z.first {
			to = p.end + after // these come again
		}
	}
	return from, to
}

// gap reports whether some wall time that counts falls into the gap with
// which the period begins: it stands for the begin itself.
func (z *zoned) gap(p period) bool {
	if !z.shift || p.start == beginning {
		return false
	}
	before := z.before(p)
	if before >= p.offset {
		return false
	}
	wall, ok := z.nextWall(p.start + before - 1)
	return ok && wall < p.start+p.offset
}

// nextWall and latestWall ask the calendar in seconds. There are no wall times
// before 1970.
func (z *zoned) nextWall(after int64) (int64, bool) {
	t := z.calendar.Next(time.Unix(max(after, -1), 0).UTC())
	return t.Unix(), !t.IsZero()
}

func (z *zoned) latestWall(upTo int64) (int64, bool) {
	if upTo < 0 {
		return 0, false
	}
	t := z.calendar.latest(time.Unix(min(upTo, lastSecond), 0).UTC())
	return t.Unix(), !t.IsZero()
}

// Next returns the first instant after t.
func (z *zoned) Next(t time.Time) time.Time {
	const twoDays = 2 * secondsPerDay // more than clocks are ever changed by
	at := max(t.Unix(), -1)
	for p := z.period(at + 1); ; p = z.period(p.end) {
		if p.start > at && z.gap(p) {
			return time.Unix(p.start, 0).UTC()
		}
		from, to := z.walls(p)
		wall, ok := z.nextWall(max(at+p.offset, from-1))
		if ok && wall < to {
			return time.Unix(wall-p.offset, 0).UTC()
		}
		if p.end == unending {
			return time.Time{}
		}
		if !ok {
			// Nothing after this wall time; what the gap that follows would
			// have had is before it.
			if next := z.period(p.end); !z.gap(next) && z.after(p) >= p.offset {
				return time.Time{}
			}
			continue
		}
		// Far ahead nothing happens until shortly before that wall time, but
		// that wall times may come again.
		if far := z.period(wall - p.offset - twoDays); far.start > p.end && z.after(p) >= p.offset {
			p = period{end: far.start}
		}
	}
}

// latest returns the last instant that is not after t.
func (z *zoned) latest(t time.Time) time.Time {
	const twoDays = 2 * secondsPerDay
	at := min(t.Unix(), lastSecond)
	if at < 0 {
		return time.Time{}
	}
	for p := z.period(at); ; p = z.period(p.start - 1) {
		from, to := z.walls(p)
		wall, ok := z.latestWall(min(at+p.offset, to-1))
		if ok && wall >= from {
			return time.Unix(wall-p.offset, 0).UTC()
		}
		if z.gap(p) {
			return time.Unix(p.start, 0).UTC()
		}
		if p.start == beginning || p.start <= 0 {
			return time.Time{}
		}
		if ok && z.before(p) <= p.offset {
			if far := z.period(wall - p.offset + twoDays); far.end != unending && far.end < p.start {
				p = period{start: far.end}
			}
		}
	}
}
