package ical

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// rule is a recurrence rule (RFC 5545, section 3.3.10) that chooses days: all
// happen at the clock time of the first. Rules that choose times within a day
// say nothing about days off, and are refused.
type rule struct {
	first    time.Time // the begin, as wall time
	freq     byte      // Y, M, W or D
	interval int
	count    int       // 0: no end by count
	until    time.Time // as wall time; zero: no end by date
	start    time.Weekday

	months, monthDays, yearDays, weeks, positions []int
	weekdays                                      []nthDay

	look func(days int) *Fault // is told how many days are looked at
}

// nthDay is a weekday, or the nth of a month or year; 0: every one.
type nthDay struct {
	n   int
	day time.Weekday
}

// weekdayNames are those of RFC 5545, from Sunday on.
const weekdayNames = "SUMOTUWETHFRSA"

func weekday(name string) (time.Weekday, bool) {
	at := strings.Index(weekdayNames, name)
	return time.Weekday(at / 2), len(name) == 2 && at >= 0 && at%2 == 0
}

// rule reads a recurrence rule.
func (r *reader) rule(l *line, start moment) (*rule, *Fault) {
	out := &rule{first: start.wall, interval: 1, start: time.Monday}
	for part := range strings.SplitSeq(strings.ToUpper(l.value), ";") {
		name, value, ok := strings.Cut(part, "=")
		if part == "" {
			continue
		}
		if ok {
			ok = out.part(name, value)
		}
		if name == "UNTIL" {
			end, fault := r.moment(l, value)
			if fault != nil {
				return nil, fault
			}
			ok, out.until = true, end.wall
			if !end.day && !start.day {
				local := end.in(end.wall).In(start.zone)
				out.until = time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, time.UTC)
			} else if end.day {
				out.until = end.wall.AddDate(0, 0, 1).Add(-1)
			}
		}
		if !ok {
			return nil, l.fault("the part %q of the rule is not supported: rules choose days, by FREQ=YEARLY, MONTHLY, WEEKLY or DAILY", clip(part))
		}
	}
	if out.freq == 0 {
		return nil, l.fault("is a rule without FREQ")
	}
	out.fill()
	return out, nil
}

// part reads a part of the rule, but UNTIL.
func (r *rule) part(name, value string) (ok bool) {
	switch name {
	case "FREQ":
		freqs := []string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY"}
		if ok = slices.Contains(freqs, value); ok {
			r.freq = value[0]
		}
	case "INTERVAL":
		r.interval, ok = number(value, 1, 10_000)
	case "COUNT":
		r.count, ok = number(value, 1, 1_000_000)
	case "WKST":
		r.start, ok = weekday(value)
	case "BYMONTH":
		r.months, ok = numbers(value, 1, 12)
	case "BYMONTHDAY":
		r.monthDays, ok = numbers(value, -31, 31)
	case "BYYEARDAY":
		r.yearDays, ok = numbers(value, -366, 366)
	case "BYWEEKNO":
		r.weeks, ok = numbers(value, -53, 53)
	case "BYSETPOS":
		r.positions, ok = numbers(value, -366, 366)
	case "BYDAY":
		r.weekdays, ok = nthDays(value)
	}
	return ok
}

func number(text string, lo, hi int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= lo && n <= hi
}

// numbers reads a list of numbers, 0 not among them.
func numbers(text string, lo, hi int) (list []int, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		n, ok := number(part, lo, hi)
		if !ok || n == 0 {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

func nthDays(text string) (list []nthDay, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		if len(part) < 2 {
			return nil, false
		}
		at := len(part) - 2
		day, ok := weekday(part[at:])
		n := 0
		if ok && at > 0 {
			n, ok = number(part[:at], -53, 53)
			ok = ok && n != 0
		}
		if !ok {
			return nil, false
		}
		list = append(list, nthDay{n, day})
	}
	return list, true
}

// fill takes from the begin what the rule leaves open.
func (r *rule) fill() {
	if len(r.weekdays)+len(r.monthDays)+len(r.yearDays)+len(r.weeks) > 0 {
		return
	}
	switch r.freq {
	case 'Y':
		if len(r.months) == 0 {
			r.months = []int{int(r.first.Month())}
		}
		r.monthDays = []int{r.first.Day()}
	case 'M':
		r.monthDays = []int{r.first.Day()}
	case 'W':
		r.weekdays = []nthDay{{day: r.first.Weekday()}}
	}
}

// each calls f with the wall times of the recurrences that begin before an
// instant, in order. It goes from period to period, and looks at each day of
// those that count.
func (r *rule) each(before time.Time, f func(wall time.Time) *Fault) *Fault {
	year, month, day := r.first.Date()
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	clock, found := r.first.Sub(midnight), 0
	for begin := r.periodOf(midnight); begin.Before(before); begin = r.after(begin, r.interval) {
		if !r.until.IsZero() && begin.AddDate(0, 0, -6).After(r.until) {
			return nil
		}
		end := r.after(begin, 1)
		if fault := r.look(int(end.Sub(begin) / (24 * time.Hour))); fault != nil {
			return fault
		}
		for _, at := range r.days(begin, end) {
			wall := at.Add(clock)
			if wall.Before(r.first) {
				continue
			}
			if found++; r.count > 0 && found > r.count || !r.until.IsZero() && wall.After(r.until) || !wall.Before(before) {
				return nil
			}
			if fault := f(wall); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// periodOf returns the begin of the period that has the day.
func (r *rule) periodOf(day time.Time) time.Time {
	switch r.freq {
	case 'Y':
		return time.Date(day.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	case 'M':
		return time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	case 'W':
		return day.AddDate(0, 0, -int(day.Weekday()-r.start+7)%7)
	}
	return day
}

// after returns the begin of a later period.
func (r *rule) after(begin time.Time, n int) time.Time {
	switch r.freq {
	case 'Y':
		return begin.AddDate(n, 0, 0)
	case 'M':
		return begin.AddDate(0, n, 0)
	case 'W':
		return begin.AddDate(0, 0, 7*n)
	}
	return begin.AddDate(0, 0, n)
}

// days returns the days of a period that the rule chooses.
func (r *rule) days(begin, end time.Time) []time.Time {
	from, to := begin, end
	if r.freq == 'Y' && len(r.weeks) > 0 { // the weeks of a year may reach beyond it
		from, to = begin.AddDate(0, 0, -6), end.AddDate(0, 0, 6)
	}
	var chosen []time.Time
	for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
		if r.chooses(day, begin) {
			chosen = append(chosen, day)
		}
	}
	if len(r.positions) == 0 {
		return chosen
	}
	var out []time.Time
	for i, day := range chosen {
		if slices.Contains(r.positions, i+1) || slices.Contains(r.positions, i-len(chosen)) {
			out = append(out, day)
		}
	}
	return out
}

// chooses reports whether each part of the rule allows the day, in the period
// that begins then.
func (r *rule) chooses(day, begin time.Time) bool {
	year, month, date := day.Date()
	inMonth := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	inYear := time.Date(year, time.December, 31, 0, 0, 0, 0, time.UTC).YearDay()
	if len(r.weeks) > 0 && r.freq == 'Y' {
		week, weeks, ok := r.week(day, begin.Year())
		if !ok || !among(r.weeks, week, weeks) {
			return false
		}
	} else if year != begin.Year() && r.freq == 'Y' {
		return false
	}
	return (len(r.months) == 0 || slices.Contains(r.months, int(month))) &&
		(len(r.monthDays) == 0 || among(r.monthDays, date, inMonth)) &&
		(len(r.yearDays) == 0 || among(r.yearDays, day.YearDay(), inYear)) &&
		(len(r.weekdays) == 0 || r.onWeekday(day, inMonth, inYear))
}

// among reports whether a list has the number, counted from the begin or,
// negative, from the end.
func among(list []int, n, of int) bool {
	return slices.Contains(list, n) || slices.Contains(list, n-of-1)
}

// week returns which week of the year the day is in, and how many that has: the
// first is the one with four days at least.
func (r *rule) week(day time.Time, year int) (week, weeks int, ok bool) {
	first := r.firstWeek(year)
	next := r.firstWeek(year + 1)
	if day.Before(first) || !day.Before(next) {
		return 0, 0, false
	}
	const aWeek = 7 * 24 * time.Hour
	return int(day.Sub(first)/aWeek) + 1, int(next.Sub(first) / aWeek), true
}

func (r *rule) firstWeek(year int) time.Time {
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
	return fourth.AddDate(0, 0, -int(fourth.Weekday()-r.start+7)%7)
}

// onWeekday reports whether the day is one of the rule's weekdays: the nth of
// its month, or, of a yearly rule without months, of its year.
func (r *rule) onWeekday(day time.Time, inMonth, inYear int) bool {
	date, of := day.Day(), inMonth
	if r.freq == 'Y' && len(r.months) == 0 {
		date, of = day.YearDay(), inYear
	}
	for _, w := range r.weekdays {
		if w.day != day.Weekday() {
			continue
		}
		if w.n == 0 || r.freq == 'W' || r.freq == 'D' || w.n == (date-1)/7+1 || w.n == -((of-date)/7+1) {
			return true
		}
	}
	return false
}
