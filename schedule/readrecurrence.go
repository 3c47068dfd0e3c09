package schedule

import (
	"math"
	"strconv"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// maxInterval bounds the period of an interval: a century.
const maxInterval = 36525 * secondsPerDay

// readRecurrence reads the fields of the entry's type and compiles them; ok is
// false if they have faults.
func (r *reader) readRecurrence() (ok bool) {
	switch r.entry.Type {
	case TypeSimple:
		return r.readSimple()
	case TypeInterval:
		return r.readInterval()
	case TypeCron:
		return r.readCron()
	case TypeCrontab:
		return r.readCrontab()
	}
	return false
}

func (r *reader) readSimple() (ok bool) {
	v := r.get("date")
	if !v.Given() {
		v.Fail(errs.CodeRequired, "is required: when the case is to be created")
		return false
	}
	given, ok := ParseTime(v)
	if !ok {
		return false
	}
	// Seconds are ignored, as ever; what is late is judged with them, so
	// that "now" is always in time.
	r.entry.Date = given.Truncate(time.Minute)
	grace := r.entry.grace()
	kept := r.replaces && r.entry.sameRecurrence(&r.was)
	if given.Before(r.now.Add(-grace)) && !kept {
		v.Fail(errs.CodeNeverFires, "is in the past: it is now %s", r.now.In(offsetOf(v)).Format(time.RFC3339))
		return false
	}
	return r.entry.compile() == nil
}

// offsetOf returns the offset that a date was given with, as a zone, UTC if it has none.
func offsetOf(date document.Value) *time.Location {
	if date.Node.Kind == document.String {
		if t, err := time.Parse(time.RFC3339, date.Node.Text); err == nil {
			_, offset := t.Zone()
			return time.FixedZone("", offset)
		}
	}
	return time.UTC
}

// unit is one of an interval's units.
type unit struct {
	key     string
	seconds int64
	value   **int64
}

// list returns the units in the order of the complete form.
func (u *Units) list() [5]unit {
	return [...]unit{
		{"weeks", daysPerWeek * secondsPerDay, &u.Weeks},
		{"days", secondsPerDay, &u.Days},
		{"hours", 60 * 60, &u.Hours},
		{"minutes", 60, &u.Minutes},
		{"seconds", 1, &u.Seconds},
	}
}

func (r *reader) readInterval() (ok bool) {
	e := r.entry
	ok = true
	total, first := int64(0), document.Value{}
	for _, unit := range e.Units.list() {
		v := r.get(unit.key)
		if !v.Given() {
			continue
		}
		if first.Node == nil {
			first = v
		}
		n, legal := v.Int(0, maxInterval/unit.seconds)
		if !legal {
			ok = false
			continue
		}
		*unit.value = &n
		total += n * unit.seconds
	}
	switch {
	case first.Node == nil:
		total := ""
		if given := r.get("interval"); given.Given() && given.Node.Kind == document.Number {
			total = `; the server computes "interval" of them: did you mean "seconds": ` + errs.Clip(given.Node.Text, 60) + "?"
		}
		r.get("minutes").Fail(errs.CodeRequired, "is required, or another of weeks, days, hours, minutes, seconds%s", total)
		return false
	case ok && (total < 1 || total > maxInterval):
		first.Fail(errs.CodeRange, "makes an interval of %d seconds; it must be from 1 to %d", total, int64(maxInterval))
		ok = false
	}
	e.Interval = time.Duration(total) * time.Second
	return r.readAnchor() && ok && e.compile() == nil
}

// readAnchor reads where an interval's grid starts: at the date. Without a date
// it starts where it did before, unless the interval has changed, else now.
func (r *reader) readAnchor() (ok bool) {
	e := r.entry
	if v := r.get("date"); v.Given() {
		e.Date, ok = ParseTime(v)
		return ok
	}
	if r.was.Type == TypeInterval && r.was.Interval == e.Interval {
		e.Date = r.was.Date
		return true
	}
	e.Date = r.now.Truncate(time.Second)
	r.fresh = true
	return true
}

func (r *reader) readCron() (ok bool) {
	fields := &r.entry.Cron
	var at [fieldCount]document.Value // the value of each field
	given := false
	ok = true
	for i, text := range fields.list() {
		at[i] = r.get(fieldRules[i].key)
		if i == fieldWeekday && !at[i].Given() {
			at[i] = r.get("dayOfWeek")
		}
		*text = "*"
		if at[i].Given() {
			given = true
			ok = cronText(at[i], text) && ok
		}
	}
	if !given {
		r.get("minute").Fail(errs.CodeRequired, "is required, or another of year, month, day, week, weekday, hour, minute")
		return false
	}
	c := parseFields(fields, func(field int, p *problem) {
		at[field].Fail(p.code, "%s", p.detail)
		ok = false
	})
	if !r.readDayOfWeek(fields.Weekday) || !r.readSecond() || !ok {
		return false
	}
	r.entry.recurrence = c
	return true
}

// cronText reads a cron field: text, or a number, which means the text of
// it.
func cronText(v document.Value, text *string) (ok bool) {
	if v.Node.Kind == document.Number {
		n, ok := v.Int(math.MinInt64, math.MaxInt64)
		if ok {
			*text = strconv.FormatInt(n, 10)
		}
		return ok
	}
	if v.Node.Kind != document.String {
		v.Fail(errs.CodeType, "must be a string or a whole number, not %s", v.Node.Kind)
		return false
	}
	*text = v.Node.Text
	return true
}

// readDayOfWeek compares dayOfWeek with weekday.
func (r *reader) readDayOfWeek(weekday string) (ok bool) {
	v := r.get("dayOfWeek")
	if !v.Given() || !r.get("weekday").Given() {
		return true
	}
	var text string
	if !cronText(v, &text) {
		return false
	}
	canonical, _, p := fieldRules[fieldWeekday].parse(text)
	if p != nil {
		v.Fail(p.code, "%s", p.detail)
		return false
	}
	if canonical != weekday {
		v.Fail(errs.CodeConflict, "is another name of weekday, which says %q: leave one of them out", weekday)
		return false
	}
	return true
}

// readSecond checks the second, which the complete form shows.
func (r *reader) readSecond() (ok bool) {
	v := r.get("second")
	if !v.Given() {
		return true
	}
	if n, isNumber := v.Int(math.MinInt64, math.MaxInt64); !isNumber || n == 0 {
		return isNumber
	}
	v.Fail(errs.CodeRange, "must be 0: a cron entry fires at the full minute; use the type interval for seconds")
	return false
}

func (r *reader) readCrontab() (ok bool) {
	v := r.get("spec")
	if !v.Given() {
		v.Fail(errs.CodeRequired, `is required: a crontab line such as "30 5 * * 1-5"`)
		return false
	}
	text, ok := v.Str()
	if !ok {
		return false
	}
	c, canonical, p := parseCrontab(text)
	if p != nil {
		v.Fail(p.code, "%s", p.detail)
		return false
	}
	r.entry.Spec, r.entry.recurrence = canonical, c
	return true
}

// place puts the recurrence into its zone and bounds. A zone that there is
// not has its fault already.
func (r *reader) place() bool {
	c, _ := r.entry.recurrence.(*calendar)
	return r.entry.place(c) == nil
}

// plan sets the entry's next instant. An instant that is just now counts,
// except of a grid that starts now; one that a replaced entry has reached
// does not come again.
func (r *reader) plan() {
	e := r.entry
	next := r.next()
	switch {
	case e.Paused:
		e.held, next = next, time.Time{}
	case next.IsZero():
		r.neverFires()
	}
	e.setNext(next)
}

func (r *reader) next() time.Time {
	e := r.entry
	if r.replaces && e.sameRecurrence(&r.was) && !r.was.NextIteration.IsZero() {
		return r.was.NextIteration
	}
	after := r.now.Add(-1)
	if r.fresh {
		after = r.now
	}
	if e.Type == TypeSimple {
		after = e.Date.Add(-1)
		if e.LastIteration.Equal(e.Date) {
			after = e.Date
		}
	} else if e.LastIteration.After(after) {
		after = e.LastIteration
	}
	return e.recurrence.Next(after)
}

// neverFires notes the fault at the field that is the likely cause.
func (r *reader) neverFires() {
	e := r.entry
	key := "date"
	if v := r.get("end"); !e.End.IsZero() {
		if !e.Start.IsZero() && !e.End.After(e.Start) {
			return // which is said already
		}
		unbound := *e
		if unbound.End = (time.Time{}); unbound.compile() == nil && !unbound.recurrence.Next(r.now).IsZero() {
			v.Fail(errs.CodeNeverFires, "is before the entry's first instant: the entry would never create a case")
			return
		}
	}
	switch e.Type {
	case TypeCron:
		key = "day"
		anyYear := e.Cron
		anyYear.Year = "*"
		if s, _, _ := ParseCron(anyYear); s != nil && !s.Next(r.now).IsZero() {
			key = "year"
		}
	case TypeCrontab:
		key = "spec"
	case TypeSimple, TypeInterval:
	}
	r.get(key).Fail(errs.CodeNeverFires, "has no instant after %s: the entry would never create a case", r.now.Format(timeLayout))
}
