package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robfig/cron/v3"

	"flowdrive/internal/errs"
)

// ParseCrontab returns the recurrence of a crontab line of five fields, or
// of @yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly,
// and the line in canonical text. Its syntax is the conventional one: Sunday
// is 0 and 7, months and weekdays have names, and a day matches when its number or
// its weekday does. The fault's pointer is "/spec".
func ParseCrontab(spec string) (Schedule, string, *errs.Fault) {
	c, canonical, p := parseCrontab(spec)
	if p != nil {
		return nil, "", &errs.Fault{Pointer: "/spec", Code: p.code, Detail: p.detail}
	}
	return c, canonical, nil
}

// parseCrontab lets robfig/cron read the line, and keeps its sets of values
// only: its own search gives up after five years and stumbles over changes
// of the clocks.
func parseCrontab(spec string) (*calendar, string, *problem) {
	spec, p := crontabText(spec)
	if p != nil {
		return nil, "", p
	}
	parsed, p := robfig(sundaysAsZero(spec))
	if p != nil {
		return nil, "", p
	}
	// A star does not restrict the day. robfig marks it by a bit that no value
	// has.
	const star = 1 << 63
	sundays := parsed.Dow & 1
	c := &calendar{
		months:   parsed.Month & allMonths,
		days:     parsed.Dom & allDays,
		weeks:    allWeeks,
		weekdays: parsed.Dow&allWeekdays>>1 | sundays<<6,
		hours:    parsed.Hour & allHours,
		minutes:  parsed.Minute & allMinutes,
		either:   (parsed.Dom|parsed.Dow)&star == 0,
		hourly:   parsed.Hour&allHours == allHours,
	}
	if fields := strings.Fields(spec); len(fields) == 5 {
		c.hourly = c.hourly || everyNth(fields[1])
	}
	if c.either && (c.days == allDays || c.weekdays == allWeekdays) {
		c.days, c.weekdays, c.either = allDays, allWeekdays, false // 1-31 or a Friday is every day
	}
	return c, spec, nil
}

// crontabText returns the line in canonical text, or says why robfig's parser
// must not see it: that parser takes zones (and panics over one without
// fields), @every, empty lists, and rubbish after a star.
func crontabText(spec string) (string, *problem) {
	if len(spec) > maxFieldText {
		return "", problemf(errs.CodeRange, "must not be longer than %d characters", maxFieldText)
	}
	fields := strings.Fields(strings.ToLower(spec))
	if len(fields) > 0 && (strings.HasPrefix(fields[0], "tz=") || strings.HasPrefix(fields[0], "cron_tz=")) {
		return "", problemf(errs.CodeFormat, "a zone does not belong in the line: write it in the field timezone")
	}
	if len(fields) > 0 && fields[0][0] == '@' {
		spec = strings.Join(fields, " ")
		switch spec {
		case "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly":
			return spec, nil
		}
		if fields[0] == "@every" {
			return "", problemf(errs.CodeFormat, `@every is not supported: use the type "interval", whose grid never drifts`)
		}
		return "", problemf(errs.CodeFormat, "%q is not known: write @yearly, @monthly, @weekly, @daily, @hourly, or five fields", spec)
	}
	if len(fields) != 5 {
		return "", problemf(errs.CodeFormat,
			"a crontab line has five fields (minute, hour, day of the month, month, weekday with 0 or 7 = Sunday), not %d", len(fields))
	}
	for i, field := range fields {
		for item := range strings.SplitSeq(field, ",") {
			if !crontabItem(item) {
				return "", problemf(errs.CodeFormat, "%q in %q is not understood: write *, a value, a-b, or one of them with a step /n", item, field)
			}
			if detail := crontabFields()[i].fault(item); detail != "" {
				return "", problemf(errs.CodeFormat, "%s", detail)
			}
		}
	}
	return strings.Join(fields, " "), nil
}

// sunday is the other number of Sunday, 7, which crontabs have always taken. The
// parser knows only 0.
const sunday = 7

// sundaysAsZero rewrites a canonical line for the parser: items of the weekday that
// reach to the Sunday at the end of a week become lists of their days.
func sundaysAsZero(line string) string {
	fields := strings.Fields(line)
	if len(fields) != 5 {
		return line
	}
	var items []string
	for item := range strings.SplitSeq(fields[4], ",") {
		items = append(items, sundayAsZero(item)...)
	}
	fields[4] = strings.Join(items, ",")
	return strings.Join(fields, " ")
}

func sundayAsZero(item string) []string {
	weekday := crontabFields()[4]
	span, text, stepped := strings.Cut(item, "/")
	low, high, ranged := strings.Cut(span, "-")
	first, ok := weekday.value(low)
	if !ok {
		return []string{item} // a star
	}
	last := first
	switch n, _ := weekday.value(high); {
	case ranged && (high == "sun" || n == sunday):
		last = sunday
	case !ranged && first == sunday:
	default:
		return []string{item}
	}
	step := 1
	if stepped {
		step, _ = digits(text)
	}
	var days []string
	for day := first; day <= last; day += step {
		days = append(days, strconv.Itoa(day%sunday))
	}
	return days
}

// crontabField is what a field of a crontab line takes.
type crontabField struct {
	name      string
	low, high int
	words     string // names for values, three letters each, "" for none
	first     int    // the value of the first name …
	begins    string // … written out
}

func crontabFields() [5]crontabField {
	return [5]crontabField{
		{name: "minute", high: 59},
		{name: "hour", high: 23},
		{name: "day of the month", low: 1, high: 31},
		{name: "month", low: 1, high: 12, words: "jan feb mar apr may jun jul aug sep oct nov dec", first: 1, begins: "January"},
		{name: "weekday", high: sunday, words: "sun mon tue wed thu fri sat", begins: "Sunday"},
	}
}

// fault says what is wrong with an item of the right form, "" for nothing.
func (f crontabField) fault(item string) string {
	span, step, stepped := strings.Cut(item, "/")
	if n, _ := digits(step); stepped && n == 0 {
		return fmt.Sprintf("%q: the step of the %s must be at least 1", item, f.name)
	}
	if span == "*" || span == "?" {
		return ""
	}
	low, high, ranged := strings.Cut(span, "-")
	a, ok := f.value(low)
	if !ok {
		return f.refuse(low)
	}
	if !ranged {
		return ""
	}
	b, ok := f.value(high)
	if !ok {
		return f.refuse(high)
	}
	if high == "sun" {
		b = sunday // fri-sun ends the week
	}
	if b < a {
		return fmt.Sprintf("%q: a range of the %s must not end before it begins", item, f.name)
	}
	return ""
}

func (f crontabField) value(text string) (int, bool) {
	n, ok := digits(text)
	if !ok {
		i := slices.Index(strings.Fields(f.words), text)
		return f.first + i, i >= 0
	}
	return n, n >= f.low && n <= f.high
}

func (f crontabField) refuse(text string) string {
	takes := fmt.Sprintf("%d to %d", f.low, f.high)
	if words := strings.Fields(f.words); len(words) > 0 {
		first := strconv.Itoa(f.first)
		if f.high == sunday {
			first = fmt.Sprintf("%d and %d", f.first, sunday)
		}
		takes += fmt.Sprintf(" (%s = %s), or the names %s to %s", first, f.begins, words[0], words[len(words)-1])
	}
	return fmt.Sprintf("%q is not a valid %s: write %s", text, f.name, takes)
}

// crontabItem reports whether the item has the form *, a, a-b, */n, a/n or
// a-b/n, with any values.
func crontabItem(item string) bool {
	span, step, stepped := strings.Cut(item, "/")
	if _, ok := digits(step); stepped && !ok {
		return false
	}
	if span == "*" || span == "?" {
		return true
	}
	low, high, ranged := strings.Cut(span, "-")
	return crontabValue(low) && (!ranged || crontabValue(high))
}

func crontabValue(text string) bool {
	if _, ok := digits(text); ok {
		return true
	}
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") == ""
}

// robfig parses the line. A panic of the parser would be a client's doing,
// so it is taken for a fault of the line.
func robfig(spec string) (parsed *cron.SpecSchedule, p *problem) {
	defer func() {
		if recover() != nil {
			parsed, p = nil, problemf(errs.CodeFormat, "%q is not understood", spec)
		}
	}()
	s, err := cron.ParseStandard(spec)
	if err != nil {
		return nil, problemf(errs.CodeFormat, "%s (the order is minute, hour, day of the month, month, weekday; weekdays are 0 or 7 = Sunday to 6 = Saturday)", err)
	}
	parsed, ok := s.(*cron.SpecSchedule)
	if !ok {
		return nil, problemf(errs.CodeFormat, "%q is not understood", spec)
	}
	return parsed, nil
}
