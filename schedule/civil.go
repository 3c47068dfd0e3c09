package schedule

import "time"

// Calendar dates are counted in days since 1970-01-01, and weekdays from
// Monday = 0, as the cron fields count them.
const (
	firstYear = 1970
	lastYear  = 9999

	secondsPerDay = 24 * 60 * 60
	minutesPerDay = 24 * 60
	daysPerWeek   = 7

	// lastSecond is 9999-12-31T23:59:59Z, the end of all recurrences.
	lastSecond = 253402300799
)

// daysBefore[m] is how many days of a common year come before month m.
var daysBefore = [...]int{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysIn(year, month int) int {
	switch month {
	case 2:
		if leap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

func daysInYear(year int) int {
	if leap(year) {
		return 366
	}
	return 365
}

// dayOfYear returns the number of days of the year before the date.
func dayOfYear(year, month, day int) int {
	n := daysBefore[month] + day - 1
	if month > 2 && leap(year) {
		n++
	}
	return n
}

// newYear returns the days from 1970-01-01 to the first of January.
func newYear(year int) int {
	const leapsBefore1970 = 1969/4 - 1969/100 + 1969/400
	past := year - 1
	return 365*(year-firstYear) + past/4 - past/100 + past/400 - leapsBefore1970
}

// dayNumber returns the days from 1970-01-01 to the date.
func dayNumber(year, month, day int) int { return newYear(year) + dayOfYear(year, month, day) }

// civil is the inverse of dayNumber, for days from 1970 on.
func civil(day int) (year, month, dayOfMonth int) {
	const daysIn400Years = 146097
	year = firstYear + day*400/daysIn400Years // at most one year off
	if newYear(year) > day {
		year--
	} else if newYear(year+1) <= day {
		year++
	}
	rest := day - newYear(year)
	month = rest/32 + 1 // at most one month early
	if month < 12 && dayOfYear(year, month+1, 1) <= rest {
		month++
	}
	return year, month, rest - dayOfYear(year, month, 1) + 1
}

// weekdayOf returns the weekday of a day number: 1970-01-01 was a Thursday.
func weekdayOf(day int) int { return (day + 3) % daysPerWeek }

// instant returns the moment of a day number and a minute of that day.
func instant(day, minute int) time.Time {
	return time.Unix(int64(day)*secondsPerDay+int64(minute)*60, 0).UTC()
}
