package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"flowdrive/internal/errs"
)

// CronFields are the fields of a cron entry as text. "second" is always 0
// and so is not among them.
type CronFields struct {
	Year, Month, Day, Week, Weekday, Hour, Minute string
}

// problem is what is wrong with a text. The caller, who knows its place, makes
// a fault of it.
type problem struct {
	code   errs.Code
	detail string
}

func problemf(code errs.Code, format string, args ...any) *problem {
	return &problem{code: code, detail: fmt.Sprintf(format, args...)}
}

// maxFieldText bounds the text of a field; all sixty minutes one by one take
// 169 bytes.
const maxFieldText = 1024

// fieldRule is what one cron field takes.
type fieldRule struct {
	key      string // as in a document
	min, max int
	hint     string // what it takes in addition to numbers
}

const (
	fieldYear = iota
	fieldMonth
	fieldDay
	fieldWeek
	fieldWeekday
	fieldHour
	fieldMinute
	fieldCount
)

// fieldRules are in the order of CronFields and of the complete form.
var fieldRules = [fieldCount]fieldRule{
	fieldYear:    {key: "year", min: firstYear, max: lastYear},
	fieldMonth:   {key: "month", min: 1, max: 12},
	fieldDay:     {key: "day", min: 1, max: 31, hint: `, "last", "last fri" or "2nd tue"`},
	fieldWeek:    {key: "week", min: 1, max: 53},
	fieldWeekday: {key: "weekday", min: 0, max: 6, hint: `, a name (mon tue wed thu fri sat sun) or "mon-fri"`},
	fieldHour:    {key: "hour", min: 0, max: 23},
	fieldMinute:  {key: "minute", min: 0, max: 59},
}

func (f *CronFields) list() [fieldCount]*string {
	return [fieldCount]*string{&f.Year, &f.Month, &f.Day, &f.Week, &f.Weekday, &f.Hour, &f.Minute}
}

// valueSet is the meaning of a field.
type valueSet struct {
	bits    uint64   // the values; years are in years
	years   []uint64 // bit y-1970; nil for every year
	nth     uint64   // as in calendar
	lastDay bool
}

// ParseCron returns the recurrence of the fields and their canonical text:
// numbers without leading zeros, names in lower case, no blanks. An empty field
// is "*". If a field has a fault, the recurrence is nil. Every fault has its
// pointer ("/weekday").
func ParseCron(fields CronFields) (Schedule, CronFields, []errs.Fault) {
	var faults []errs.Fault
	for _, text := range fields.list() {
		if *text == "" {
			*text = "*"
		}
	}
	c := parseFields(&fields, func(field int, p *problem) {
		faults = append(faults, errs.Fault{Pointer: "/" + fieldRules[field].key, Code: p.code, Detail: p.detail})
	})
	if len(faults) > 0 {
		return nil, fields, faults
	}
	return c, fields, nil
}

// parseFields parses every field, puts the canonical text in its place, and
// reports each problem.
func parseFields(fields *CronFields, report func(field int, p *problem)) *calendar {
	var sets [fieldCount]valueSet
	for i, text := range fields.list() {
		canonical, set, p := fieldRules[i].parse(*text)
		if p != nil {
			report(i, p)
			continue
		}
		*text, sets[i] = canonical, set
	}
	return &calendar{
		years:    sets[fieldYear].years,
		months:   sets[fieldMonth].bits,
		days:     sets[fieldDay].bits,
		lastDay:  sets[fieldDay].lastDay,
		nth:      sets[fieldDay].nth,
		weeks:    sets[fieldWeek].bits,
		weekdays: sets[fieldWeekday].bits,
		hours:    sets[fieldHour].bits,
		minutes:  sets[fieldMinute].bits,
		hourly:   sets[fieldHour].bits == allHours || everyNth(*fields.list()[fieldHour]),
	}
}

// everyNth reports whether the text of a field is a step over all its values.
func everyNth(text string) bool { return strings.HasPrefix(text, "*/") && !strings.Contains(text, ",") }

// parse reads the text of a field: a list of items, separated by commas.
func (r *fieldRule) parse(text string) (canonical string, set valueSet, p *problem) {
	if text == "*" {
		set.bits = r.all()
		return text, set, nil
	}
	if len(text) > maxFieldText {
		return "", set, problemf(errs.CodeRange, "must not be longer than %d characters", maxFieldText)
	}
	if r.key == "year" {
		set.years = make([]uint64, (lastYear-firstYear)/64+1)
	}
	var b strings.Builder
	for item := range strings.SplitSeq(text, ",") {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		item, p := r.item(strings.ToLower(strings.TrimSpace(item)), &set)
		if p != nil {
			return "", set, p
		}
		b.WriteString(item)
	}
	return b.String(), set, nil
}

func (r *fieldRule) all() uint64 {
	if r.key == "year" {
		return 0
	}
	return 1<<(r.max+1) - 1<<r.min
}

// item reads one item into the set and returns its canonical text.
func (r *fieldRule) item(item string, set *valueSet) (canonical string, p *problem) {
	switch {
	case item == "":
		return "", problemf(errs.CodeFormat, "an item of the list is empty: write %s", r.takes())
	case r.key == "day" && (strings.HasPrefix(item, "last") || strings.ContainsAny(item, " \t")):
		return r.ordinal(item, set)
	case r.key == "weekday" && item[0] >= 'a' && item[0] <= 'z':
		return r.names(item, set)
	}
	return r.numeric(item, set)
}

// numeric reads *, */n, a, a-b, a-b/n or a/n.
func (r *fieldRule) numeric(item string, set *valueSet) (canonical string, p *problem) {
	span, stepText, stepped := strings.Cut(item, "/")
	from, to, step := r.min, r.max, 1
	if span == "*" {
		canonical = "*"
	} else {
		low, high, ranged := strings.Cut(span, "-")
		if from, p = r.number(item, low); p != nil {
			return "", p
		}
		canonical = strconv.Itoa(from)
		switch {
		case ranged:
			if to, p = r.number(item, high); p != nil {
				return "", p
			}
			canonical += "-" + strconv.Itoa(to)
		case !stepped:
			to = from
		}
	}
	if from > to {
		return "", problemf(errs.CodeRange, "%q ends before it begins: write the lower value first, or two ranges", item)
	}
	if stepped {
		var ok bool
		if step, ok = digits(stepText); !ok {
			return "", r.notUnderstood(item)
		}
		if most := r.max - r.min + 1; step < 1 || step > most {
			return "", problemf(errs.CodeRange, "the step in %q must be from 1 to %d", item, most)
		}
		canonical += "/" + strconv.Itoa(step)
	}
	set.add(from, to, step)
	return canonical, nil
}

// number reads a value of the field.
func (r *fieldRule) number(item, text string) (int, *problem) {
	n, ok := digits(text)
	switch {
	case !ok:
		return 0, r.notUnderstood(item)
	case r.key == "weekday" && n == daysPerWeek:
		return 0, problemf(errs.CodeRange, "weekdays count from 0 = Monday to 6 = Sunday, so there is no 7: write 6 or sun for Sunday")
	case n < r.min || n > r.max:
		return 0, problemf(errs.CodeRange, "%s is out of range: values go from %d to %d", text, r.min, r.max)
	}
	return n, nil
}

// digits reads a number of decimal digits and nothing else. A long one is
// cut off at a value that is out of every range.
func digits(text string) (n int, ok bool) {
	const tooLarge = 1_000_000
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = min(10*n+int(text[i]-'0'), tooLarge)
	}
	return n, text != ""
}

// weekdayNames are in the order of the numbers.
var weekdayNames = [daysPerWeek]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func weekdayNamed(name string) (weekday int, ok bool) {
	for i, n := range weekdayNames {
		if n == name {
			return i, true
		}
	}
	return 0, false
}

// names reads mon or mon-fri.
func (r *fieldRule) names(item string, set *valueSet) (canonical string, p *problem) {
	low, high, ranged := strings.Cut(item, "-")
	if !ranged {
		high = low
	}
	from, ok1 := weekdayNamed(low)
	to, ok2 := weekdayNamed(high)
	if !ok1 || !ok2 {
		return "", r.notUnderstood(item)
	}
	if from > to {
		return "", problemf(errs.CodeRange, "%q ends before it begins, because the week begins on Monday: name its days one by one, or write two ranges", item)
	}
	set.add(from, to, 1)
	return item, nil
}

// ordinal reads last, last fri or 2nd tue.
func (r *fieldRule) ordinal(item string, set *valueSet) (canonical string, p *problem) {
	words := strings.Fields(item)
	if len(words) == 1 && words[0] == "last" {
		set.lastDay = true
		return "last", nil
	}
	if len(words) != 2 {
		return "", r.notUnderstood(item)
	}
	for n, ordinal := range [ordinals]string{"1st", "2nd", "3rd", "4th", "5th", "last"} {
		if words[0] != ordinal {
			continue
		}
		weekday, ok := weekdayNamed(words[1])
		if !ok {
			break
		}
		set.nth |= 1 << (n*daysPerWeek + weekday)
		return ordinal + " " + words[1], nil
	}
	return "", r.notUnderstood(item)
}

func (r *fieldRule) notUnderstood(item string) *problem {
	return problemf(errs.CodeFormat, "%q is not understood: write %s", item, r.takes())
}

func (r *fieldRule) takes() string {
	return fmt.Sprintf(`*, */n, a number from %d to %d, a range a-b, a range with a step a-b/n%s, or several of them with commas between`,
		r.min, r.max, r.hint)
}

// add puts every step-th value from the first to the last into the set.
func (s *valueSet) add(from, to, step int) {
	for v := from; v <= to; v += step {
		if s.years != nil {
			s.years[(v-firstYear)/64] |= 1 << ((v - firstYear) % 64)
		} else {
			s.bits |= 1 << v
		}
	}
}

// values returns the bits of set that are one, in rising order.
func values(set uint64) []int {
	out := make([]int, 0, bits.OnesCount64(set))
	for ; set != 0; set &= set - 1 {
		out = append(out, bits.TrailingZeros64(set))
	}
	return out
}
