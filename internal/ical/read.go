package ical

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/errs"
)

// The limits of a calendar that is read.
const (
	MaxSize  = 1 << 20 // bytes of a calendar
	MaxSpans = 10_000  // events of it, each recurrence counted

	firstYear = 1970 // nothing before is of interest
	mostLine  = 64 << 10
	mostDepth = 16
	mostSteps = 4_000_000 // days that are looked at, of all rules
)

// Span is a half-open range of time, [From, To), that an event takes.
type Span struct {
	From, To time.Time
	Name     string // the event's SUMMARY, in one line
}

// Options say how a calendar is read.
type Options struct {
	// Zone has the days of whole-day events, and times without a zone.
	Zone *time.Location
	// Zones returns the time zone of a name, or nil if there is none. A zone
	// that only the calendar describes is taken to be the calendar's own
	// (X-WR-TIMEZONE), or Zone if the calendar names none.
	Zones func(name string) *time.Location
	// Until ends what recurs.
	Until time.Time
}

// Fault says what is wrong with a calendar.
type Fault struct {
	Line   int // from 1; 0: the whole of it
	Detail string
}

// Error implements error.
func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.Detail
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.Detail)
}

// Read returns the times that the events of a calendar take, from 1970 on, in
// order. What is canceled takes none. The first fault is an error of type
// [*Fault].
func Read(data []byte, o Options) ([]Span, error) {
	if len(data) > MaxSize {
		return nil, &Fault{Detail: fmt.Sprintf("a calendar of more than %d bytes is not read", MaxSize)}
	}
	r := reader{options: o, own: o.Zone}
	lines, fault := unfold(data)
	if fault == nil {
		fault = r.read(lines)
	}
	if fault == nil {
		fault = r.finish()
	}
	if fault != nil {
		return nil, fault
	}
	slices.SortFunc(r.spans, func(a, b Span) int { return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To)) })
	return r.spans, nil
}

// line is a content line, taken apart (RFC 5545, section 3.1).
type line struct {
	number int
	name   string // upper case
	params []param
	value  string
}

type param struct{ name, value string }

// param returns the value of a parameter, "" for none.
func (l *line) param(name string) string {
	for _, p := range l.params {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

func (l *line) fault(format string, args ...any) *Fault {
	return &Fault{Line: l.number, Detail: fmt.Sprintf(format, args...)}
}

// unfold returns the content lines of a calendar.
func unfold(data []byte) (lines []line, fault *Fault) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	number, begun := 0, 0
	var text []byte
	end := func() *Fault {
		if len(bytes.TrimSpace(text)) == 0 {
			return nil
		}
		l, fault := takeApart(begun, string(text))
		lines = append(lines, l)
		return fault
	}
	for raw := range bytes.Lines(data) {
		number++
		raw = bytes.TrimRight(raw, "\r\n")
		if len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\t') && begun > 0 {
			if text = append(text, raw[1:]...); len(text) > mostLine {
				return nil, &Fault{Line: begun, Detail: fmt.Sprintf("is longer than %d bytes", mostLine)}
			}
			continue
		}
		if fault := end(); fault != nil {
			return nil, fault
		}
		text, begun = append(text[:0], raw...), number
	}
	return lines, end()
}

// takeApart reads name, parameters and value.
func takeApart(number int, text string) (line, *Fault) {
	l := line{number: number}
	at := strings.IndexAny(text, ";:")
	if at <= 0 {
		return l, l.fault("is not a valid line of a calendar, which is NAME:value")
	}
	l.name = strings.ToUpper(text[:at])
	for text[at] == ';' {
		text = text[at+1:]
		equals := strings.IndexByte(text, '=')
		if equals <= 0 {
			return l, l.fault("has a parameter without a value")
		}
		p := param{name: strings.ToUpper(text[:equals])}
		text = text[equals+1:]
		quoted := false
		for at = 0; at < len(text); at++ {
			if c := text[at]; c == '"' {
				quoted = !quoted
			} else if (c == ';' || c == ':') && !quoted {
				break
			}
		}
		if at == len(text) {
			return l, l.fault("has no value; a line of a calendar is NAME:value")
		}
		p.value = strings.Trim(text[:at], `"`)
		l.params = append(l.params, p)
	}
	l.value = strings.TrimSpace(text[at+1:])
	return l, nil
}

// reader reads the events of a calendar.
type reader struct {
	options Options
	own     *time.Location // the calendar's
	events  []event
	spans   []Span
	steps   int
}

// step counts work that no number of events bounds.
func (r *reader) step(l int, n int) *Fault {
	if r.steps += n; r.steps > mostSteps {
		return &Fault{Line: l, Detail: "takes too much work to read: give the rules a later DTSTART, or leave some of them out"}
	}
	return nil
}

// event is what is of interest of a VEVENT.
type event struct {
	line                                 int
	uid                                  string
	start, end, duration, rule, instance *line
	more, less                           []*line // RDATE, EXDATE
	summary                              string
	canceled                             bool
}

// read walks through the components.
func (r *reader) read(lines []line) *Fault {
	var open []string
	for i := range lines {
		l := &lines[i]
		switch {
		case l.name == "BEGIN":
			if open = append(open, strings.ToUpper(l.value)); len(open) > mostDepth {
				return l.fault("is nested too deep")
			}
			if len(open) == 2 && open[1] == "VEVENT" {
				r.events = append(r.events, event{line: l.number})
			}
		case len(open) == 0 || open[0] != "VCALENDAR":
			return l.fault("is outside of BEGIN:VCALENDAR and END:VCALENDAR: is it a calendar?")
		case l.name == "END":
			if !strings.EqualFold(l.value, open[len(open)-1]) {
				return l.fault("ends %q, but %q must be ended first", l.value, open[len(open)-1])
			}
			open = open[:len(open)-1]
		case len(open) == 1 && l.name == "X-WR-TIMEZONE":
			if zone := r.options.Zones(l.value); zone != nil {
				r.own = zone
			}
		case len(open) == 2 && open[1] == "VEVENT":
			r.events[len(r.events)-1].property(l)
		}
	}
	switch {
	case len(lines) == 0:
		return &Fault{Detail: "is empty: a calendar begins with BEGIN:VCALENDAR"}
	case len(open) > 0:
		return lines[len(lines)-1].fault("is the last line, but %q is not ended", open[len(open)-1])
	}
	return nil
}

func (e *event) property(l *line) {
	switch l.name {
	case "UID":
		e.uid = l.value
	case "SUMMARY":
		e.summary = oneLine(l.value)
	case "DTSTART":
		e.start = l
	case "DTEND":
		e.end = l
	case "DURATION":
		e.duration = l
	case "RRULE":
		e.rule = l
	case "RDATE":
		e.more = append(e.more, l)
	case "EXDATE":
		e.less = append(e.less, l)
	case "RECURRENCE-ID":
		e.instance = l
	case "STATUS":
		e.canceled = strings.EqualFold(l.value, "CANCELLED")
	}
}

// finish makes the spans of the events. An event with a RECURRENCE-ID replaces
// one recurrence of another event.
func (r *reader) finish() *Fault {
	replaced := map[string][]*line{}
	for i := range r.events {
		if e := &r.events[i]; e.instance != nil {
			replaced[e.uid] = append(replaced[e.uid], e.instance)
		}
	}
	for i := range r.events {
		e := &r.events[i]
		if e.instance == nil {
			e.less = append(e.less, replaced[e.uid]...)
		}
		if fault := r.event(e); fault != nil {
			return fault
		}
	}
	return nil
}

// moment is a date or a date and time, as wall time.
type moment struct {
	wall time.Time // in UTC
	zone *time.Location
	day  bool
}

// in returns the instant of a wall time of the moment's zone.
func (m moment) in(wall time.Time) time.Time {
	year, month, day := wall.Date()
	hour, minute, second := wall.Clock()
	return time.Date(year, month, day, hour, minute, second, 0, m.zone).UTC()
}

// event makes the spans of an event.
func (r *reader) event(e *event) *Fault {
	if e.start == nil {
		return &Fault{Line: e.line, Detail: "begins an event without DTSTART"}
	}
	start, fault := r.moment(e.start, e.start.value)
	if fault != nil {
		return fault
	}
	days, length, fault := r.length(e, start)
	if fault != nil || e.canceled {
		return fault
	}
	without := map[time.Time]bool{}
	for _, l := range e.less {
		if fault := r.step(e.line, 1+strings.Count(l.value, ",")); fault != nil {
			return fault
		}
		for text := range strings.SplitSeq(l.value, ",") {
			m, fault := r.moment(l, text)
			if fault != nil {
				return fault
			}
			without[m.in(m.wall)] = true
		}
	}
	add := func(m moment, wall time.Time) *Fault {
		from := m.in(wall)
		to := m.in(wall.AddDate(0, 0, days)).Add(length)
		if without[from] || !to.After(from) || to.Year() < firstYear {
			return nil
		}
		if len(r.spans) == MaxSpans {
			return &Fault{Line: e.line, Detail: fmt.Sprintf("begins an event too many: a calendar may have %d, each recurrence counted", MaxSpans)}
		}
		r.spans = append(r.spans, Span{From: from, To: to, Name: e.summary})
		return nil
	}
	for _, l := range e.more {
		for text := range strings.SplitSeq(l.value, ",") {
			begin, _, _ := strings.Cut(text, "/") // of a period
			m, fault := r.moment(l, begin)
			if fault == nil {
				fault = add(m, m.wall)
			}
			if fault != nil {
				return fault
			}
		}
	}
	if e.rule == nil {
		return add(start, start.wall)
	}
	rule, fault := r.rule(e.rule, start)
	if fault != nil {
		return fault
	}
	rule.look = func(days int) *Fault { return r.step(e.line, days) }
	return rule.each(r.options.Until, func(wall time.Time) *Fault { return add(start, wall) })
}

// length returns how long an event takes: whole days of the clock, plus a time.
func (r *reader) length(e *event, start moment) (days int, length time.Duration, fault *Fault) {
	switch {
	case e.end != nil:
		end, fault := r.moment(e.end, e.end.value)
		if fault != nil {
			return 0, 0, fault
		}
		if start.day != end.day {
			return 0, 0, e.end.fault("is a date but DTSTART is a time, or the other way round")
		}
		if start.day {
			days = int(end.wall.Sub(start.wall) / (24 * time.Hour))
			if days < 0 {
				return 0, 0, e.end.fault("is before DTSTART")
			}
			return max(days, 1), 0, nil // programs write the last day, too
		}
		length = end.in(end.wall).Sub(start.in(start.wall))
		if length < 0 {
			return 0, 0, e.end.fault("is before DTSTART")
		}
		return 0, length, nil
	case e.duration != nil:
		days, length, ok := parseDuration(e.duration.value)
		if !ok {
			return 0, 0, e.duration.fault("%q is not a valid duration of an event, such as P1D or PT8H", clip(e.duration.value))
		}
		return days, length, nil
	case start.day:
		return 1, 0, nil
	}
	return 0, 0, nil
}

// moment reads a date or a time of a property.
func (r *reader) moment(l *line, text string) (moment, *Fault) {
	text = strings.TrimSpace(text)
	m := moment{zone: r.options.Zone}
	var err error
	switch {
	case len(text) == len(formDate):
		m.day = true
		m.wall, err = time.Parse(formDate, text)
	case strings.HasSuffix(text, "Z"):
		m.zone = time.UTC
		m.wall, err = time.Parse(formUTC, text)
	default:
		if name := l.param("TZID"); name != "" {
			if m.zone = r.options.Zones(strings.TrimPrefix(name, "/")); m.zone == nil {
				m.zone = r.own
			}
		}
		m.wall, err = time.Parse("20060102T150405", text)
	}
	if err != nil {
		return m, l.fault("%q is not a valid date (20121224) or time (20121224T080000, or with Z in UTC)", clip(text))
	}
	return m, nil
}

// oneLine returns a text of a calendar (RFC 5545, section 3.3.11) as people are shown it in a
// line, at most 200 bytes of it.
func oneLine(value string) string {
	text := strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(value)
	return errs.Clip(strings.Join(strings.Fields(text), " "), 200)
}

// clip bounds what a message repeats.
func clip(text string) string { return errs.Clip(text, 40) }

// parseDuration reads the duration of an event (RFC 5545, section 3.3.6). Weeks
// and days are those of the clock.
func parseDuration(text string) (days int, length time.Duration, ok bool) {
	rest, found := strings.CutPrefix(strings.TrimPrefix(text, "+"), "P")
	if !found || rest == "" || strings.HasSuffix(rest, "T") {
		return 0, 0, false
	}
	units, timed := "WD", false
	for rest != "" {
		if rest[0] == 'T' && !timed {
			rest, units, timed = rest[1:], "HMS", true
			continue
		}
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == len(rest) || n == 0 {
			return 0, 0, false
		}
		count, err := strconv.Atoi(rest[:n])
		at := strings.IndexByte(units, rest[n])
		if err != nil || count > 100_000 || at < 0 {
			return 0, 0, false
		}
		switch rest[n] {
		case 'W':
			days += 7 * count
		case 'D':
			days += count
		case 'H':
			length += time.Duration(count) * time.Hour
		case 'M':
			length += time.Duration(count) * time.Minute
		case 'S':
			length += time.Duration(count) * time.Second
		}
		rest, units = rest[n+1:], units[at+1:]
	}
	return days, length, true
}
