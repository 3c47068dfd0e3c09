package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
)

// Describe says in English when the entry happens. The wording is for people
// and may change.
func (e *Entry) Describe() string {
	switch e.Type {
	case TypeSimple:
		return "Once at " + e.Date.Format("2006-01-02 15:04") + " (UTC)" // its date is an instant, whatever zone it was written in
	case TypeInterval:
		return "Every " + periodText(int64(e.Interval/time.Second))
	case TypeCron, TypeCrontab:
		e.Schedule()
		if c := e.calendar; c != nil {
			text, daily := c.timeText()
			text += c.dayText(daily) + c.yearText(e.Cron.Year)
			if e.Timezone != zoneUTC && e.Timezone != "" {
				text += " (" + e.Timezone + ")"
			}
			return text
		}
	}
	return ""
}

// periodText writes a number of seconds as people say it: in one unit if the number stays
// small, "90 minutes", "day", else in the largest units that fit, "2 hours and 1 minute".
func periodText(seconds int64) string {
	const minute, hour, day, week = 60, 60 * 60, secondsPerDay, daysPerWeek * secondsPerDay
	const small = 120 // two hours of minutes, five days of hours
	units := []struct {
		seconds int64
		name    string
	}{{week, "week"}, {day, "day"}, {hour, "hour"}, {minute, "minute"}, {1, "second"}}
	for _, unit := range units {
		switch n := seconds / unit.seconds; {
		case seconds%unit.seconds != 0:
		case n == 1:
			return unit.name
		case n <= small || unit.seconds >= day:
			return english.Plural(int(n), unit.name, "")
		}
	}
	var parts []string
	for _, unit := range units[1:] {
		if n := seconds / unit.seconds; n > 0 {
			parts = append(parts, english.Plural(int(n), unit.name, ""))
			seconds %= unit.seconds
		}
	}
	return inWords(parts)
}

// inWords writes "a", "a and b", "a, b and c".
func inWords(words []string) string { return english.WordSeries(words, "and") }

// series is a set as a first value and a step up to the field's end.
func series(set uint64, end int) (first, step int, ok bool) {
	first = bits.TrailingZeros64(set)
	rest := set >> first >> 1
	if rest == 0 {
		return first, 0, false
	}
	step = bits.TrailingZeros64(rest) + 1
	want := uint64(0)
	for v := first; v <= end; v += step {
		want |= 1 << v
	}
	return first, step, set == want
}

// runs writes the values of a set by name; three or more in a row are a
// range.
func runs(set uint64, name func(int) string) []string {
	var out []string
	for list := values(set); len(list) > 0; {
		n := 1
		for n < len(list) && list[n] == list[0]+n {
			n++
		}
		if n < 3 {
			n = 1
			out = append(out, name(list[0]))
		} else {
			out = append(out, name(list[0])+" to "+name(list[n-1]))
		}
		list = list[n:]
	}
	return out
}

func clockText(hour, minute int) string { return fmt.Sprintf("%02d:%02d", hour, minute) }

// timeText says when on a day. daily reports whether the text is a time of the
// day, which needs "every day" if no day is named.
func (c *calendar) timeText() (text string, daily bool) {
	const fewTimes = 6
	every := c.everyMinutes()
	switch {
	case c.hours == allHours && every != "":
		return every, false
	case c.hours == allHours && c.minutes == 1:
		return "Every hour", false
	case c.hours == allHours:
		return "At " + setText("minute", c.minutes, 59) + " of every hour", false
	}
	if first, step, ok := series(c.hours, 23); ok && first == 0 && 24%step == 0 && c.minutes == 1 {
		return fmt.Sprintf("Every %d hours", step), false
	}
	if bits.OnesCount64(c.hours)*bits.OnesCount64(c.minutes) <= fewTimes {
		var times []string
		for _, h := range values(c.hours) {
			for _, m := range values(c.minutes) {
				times = append(times, clockText(h, m))
			}
		}
		return "At " + inWords(times), true
	}
	if every != "" {
		return every + " " + inWords(c.hourSpans()), false
	}
	return "At " + setText("minute", c.minutes, 59) + " of " + setText("hour", c.hours, 23), false
}

// everyMinutes writes an even step of minutes, or "" if there is none.
func (c *calendar) everyMinutes() string {
	if c.minutes == allMinutes {
		return "Every minute"
	}
	first, step, ok := series(c.minutes, 59)
	if !ok || first != 0 || 60%step != 0 {
		return ""
	}
	return fmt.Sprintf("Every %d minutes", step)
}

// hourSpans writes the hours as times of the day, "from 08:00 to 10:59".
func (c *calendar) hourSpans() []string {
	var out []string
	for set := c.hours; set != 0; {
		first := bits.TrailingZeros64(set)
		length := bits.TrailingZeros64(^(set >> first))
		out = append(out, "from "+clockText(first, 0)+" to "+clockText(first+length-1, 59))
		set = set >> (first + length) << (first + length)
	}
	return out
}

func weekdayText(weekday int) string { return time.Weekday((weekday + 1) % daysPerWeek).String() }

// dayText says on which days, weeks and months.
func (c *calendar) dayText(daily bool) string {
	const ofMonth = " of the month"
	text, months := "", ""
	if c.months != allMonths {
		months = inWords(runs(c.months, func(m int) string { return time.Month(m).String() }))
	}
	weekdays := runs(c.weekdays, weekdayText)
	switch {
	case c.days == allDays && c.weekdays == allWeekdays:
		if daily {
			text = " every day"
		}
	case c.days == allDays:
		text = " on " + inWords(weekdays)
	case c.either:
		text = " on " + inWords(c.monthDays()) + ofMonth + " and on every " + inWords(weekdays)
	default:
		text = " on " + inWords(c.monthDays()) + ofMonth
		if months != "" {
			text = strings.TrimSuffix(text, ofMonth) + " of " + months
			months = ""
		}
		if c.weekdays != allWeekdays {
			text += " if it is a " + strings.ReplaceAll(inWords(weekdays), " and ", " or ")
		}
	}
	if c.weeks != allWeeks {
		text += " in " + setText("ISO week", c.weeks, 53)
	}
	if months != "" {
		text += " in " + months
	}
	return text
}

// monthDays writes the days of the month.
func (c *calendar) monthDays() []string {
	var out []string
	if c.days != 0 {
		out = append(out, setText("day", c.days, 31))
	}
	if c.lastDay {
		out = append(out, "the last day")
	}
	for _, bit := range values(c.nth) {
		ordinal := [ordinals]string{"1st", "2nd", "3rd", "4th", "5th", "last"}[bit/daysPerWeek]
		out = append(out, "the "+ordinal+" "+weekdayText(bit%daysPerWeek))
	}
	return out
}

// setText writes "day 13", "days 1 and 15", "every 2nd day from day 1".
func setText(name string, set uint64, end int) string {
	const fewValues = 3
	count := bits.OnesCount64(set)
	if first, step, ok := series(set, end); ok && step > 1 && count > fewValues {
		return fmt.Sprintf("every %s %s from %s %d", nth(step), name, name, first)
	}
	if count == 1 {
		return name + " " + strconv.Itoa(bits.TrailingZeros64(set))
	}
	return name + "s " + inWords(runs(set, strconv.Itoa))
}

// nth writes a step. Steps that are written are from 2 to 17.
func nth(n int) string {
	switch {
	case n == 2:
		return "2nd"
	case n == 3:
		return "3rd"
	}
	return strconv.Itoa(n) + "th"
}

// yearText says in which years, in the words of the field.
func (c *calendar) yearText(field string) string {
	switch {
	case c.years == nil:
		return ""
	case strings.ContainsAny(field, ",-/*"):
		return " in the years of " + strconv.Quote(field)
	}
	return " in " + field
}
