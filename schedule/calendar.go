package schedule

import (
	"math/bits"
	"time"
)

// The values of whole fields, as bits.
const (
	allMonths   = 1<<13 - 1<<1
	allDays     = 1<<32 - 1<<1
	allWeeks    = 1<<54 - 1<<1
	allWeekdays = 1<<7 - 1
	allHours    = 1<<24 - 1
	allMinutes  = 1<<60 - 1

	// ordinals is how many there are per weekday in calendar.nth: 1st to
	// 5th, and last.
	ordinals = 6
)

// calendar is the recurrence of both cron and crontab: a set of values per
// field. It steps from year to year, month to month and day to day, and
// within a day from hour to minute, by looking for the next bit; it never
// walks through minutes. All of it is wall clock; here that is UTC.
type calendar struct {
	years    []uint64 // bit y-1970; nil: every year
	months   uint64   // bits 1-12
	days     uint64   // bits 1-31
	lastDay  bool     // also the last day of the month
	nth      uint64   // also the n-th weekday of the month: bit 7*(n-1)+weekday, n = 6 for the last
	weeks    uint64   // bits 1-53
	weekdays uint64   // bits 0-6 from Monday
	hours    uint64   // bits 0-23
	minutes  uint64   // bits 0-59
	hourly   bool     // the hours are all of them, or every n-th
	either   bool     // a day matches by day or by weekday (crontab), else by both
}

// Next returns the first instant after t.
func (c *calendar) Next(t time.Time) time.Time {
	if t.Unix() >= lastSecond {
		return time.Time{}
	}
	from := 0
	if s := t.Unix(); s >= 0 {
		from = int(s/60) + 1
	}
	day := from / minutesPerDay
	year, month, dayOfMonth := civil(day)
	if c.dayMatches(year, month, dayOfMonth) {
		if minute, ok := c.minuteFrom(from % minutesPerDay); ok {
			return instant(day, minute)
		}
	}
	day, ok := c.dayFrom(year, month, dayOfMonth+1)
	if !ok {
		return time.Time{}
	}
	minute, _ := c.minuteFrom(0)
	return instant(day, minute)
}

// latest returns the last instant that is not after t.
func (c *calendar) latest(t time.Time) time.Time {
	if t.Unix() < 0 {
		return time.Time{}
	}
	upTo := int(min(t.Unix(), lastSecond) / 60)
	day := upTo / minutesPerDay
	year, month, dayOfMonth := civil(day)
	if c.dayMatches(year, month, dayOfMonth) {
		if minute, ok := c.minuteUpTo(upTo % minutesPerDay); ok {
			return instant(day, minute)
		}
	}
	day, ok := c.dayUpTo(year, month, dayOfMonth-1)
	if !ok {
		return time.Time{}
	}
	minute, _ := c.minuteUpTo(minutesPerDay - 1)
	return instant(day, minute)
}

func (c *calendar) dayMatches(year, month, day int) bool {
	return year <= lastYear && c.hasYear(year) && c.months>>month&1 != 0 && c.daysOf(year, month)>>day&1 != 0
}

// minuteFrom returns the first matching minute of a day from minute on.
func (c *calendar) minuteFrom(minute int) (int, bool) {
	h, m := minute/60, minute%60
	if c.hours>>h&1 != 0 {
		if rest := c.minutes >> m; rest != 0 {
			return minute + bits.TrailingZeros64(rest), true
		}
	}
	rest := c.hours >> (h + 1)
	if rest == 0 || c.minutes == 0 {
		return 0, false
	}
	return 60*(h+1+bits.TrailingZeros64(rest)) + bits.TrailingZeros64(c.minutes), true
}

// minuteUpTo returns the last matching minute of a day up to minute.
func (c *calendar) minuteUpTo(minute int) (int, bool) {
	h, m := minute/60, minute%60
	if c.hours>>h&1 != 0 {
		if rest := below(c.minutes, m+1); rest != 0 {
			return 60*h + bits.Len64(rest) - 1, true
		}
	}
	rest := below(c.hours, h)
	if rest == 0 || c.minutes == 0 {
		return 0, false
	}
	return 60*(bits.Len64(rest)-1) + bits.Len64(c.minutes) - 1, true
}

// below returns the bits of set below bit n.
func below(set uint64, n int) uint64 { return set & (1<<n - 1) }

// dayFrom returns the first matching day from the date on; the day may be
// one past the end of its month. A year without a match is like every other
// year of its class, so that a search in vain ends soon.
func (c *calendar) dayFrom(year, month, day int) (int, bool) {
	vain := uint32(0) // the classes of years that have no match
	for year = c.skipYears(year, &month, &day); year <= lastYear; year = c.skipYears(year+1, &month, &day) {
		whole, class := month == 1 && day == 1, yearClass(year)
		if whole && vain>>class&1 != 0 {
			continue
		}
		for rest := c.months >> month << month; rest != 0; rest &= rest - 1 {
			m := bits.TrailingZeros64(rest)
			match := c.daysOf(year, m)
			if m == month {
				match = match >> day << day
			}
			if match != 0 {
				return dayNumber(year, m, bits.TrailingZeros64(match)), true
			}
		}
		if whole {
			vain |= 1 << class
		}
		month, day = 1, 1
	}
	return 0, false
}

// skipYears returns the first year of the set from year on. If that is another
// year, the search begins at its first of January.
func (c *calendar) skipYears(year int, month, day *int) int {
	if c.years == nil || year > lastYear {
		return year
	}
	word, bit := (year-firstYear)/64, (year-firstYear)%64
	set := c.years[word] >> bit << bit
	for set == 0 {
		if word++; word == len(c.years) {
			return lastYear + 1
		}
		set = c.years[word]
	}
	found := firstYear + 64*word + bits.TrailingZeros64(set)
	if found != year {
		*month, *day = 1, 1
	}
	return found
}

// dayUpTo returns the last matching day up to the date; the day may be 0.
func (c *calendar) dayUpTo(year, month, day int) (int, bool) {
	vain := uint32(0)
	for ; year >= firstYear; year, month, day = year-1, 12, 31 {
		whole, class := month == 12 && day == 31, yearClass(year)
		if !c.hasYear(year) || whole && vain>>class&1 != 0 {
			continue
		}
		for rest := below(c.months, month+1); rest != 0; {
			m := bits.Len64(rest) - 1
			match := c.daysOf(year, m)
			if m == month {
				match = below(match, day+1)
			}
			if match != 0 {
				return dayNumber(year, m, bits.Len64(match)-1), true
			}
			rest = below(rest, m)
		}
		if whole {
			vain |= 1 << class
		}
	}
	return 0, false
}

func (c *calendar) hasYear(year int) bool {
	return c.years == nil || c.years[(year-firstYear)/64]>>((year-firstYear)%64)&1 != 0
}

// yearClass tells apart what the days of a year can depend on: its weekdays,
// whether it is a leap year, and for the week of its first days whether the
// year before was one.
func yearClass(year int) int {
	class := weekdayOf(newYear(year))
	if leap(year) {
		class |= 1 << 3
	}
	if leap(year - 1) {
		class |= 1 << 4
	}
	return class
}

// daysOf returns the matching days of a month, as bits 1-31.
func (c *calendar) daysOf(year, month int) uint64 {
	length := daysIn(year, month)
	month1 := dayNumber(year, month, 1)
	weekday1 := weekdayOf(month1)
	days := c.days
	if c.lastDay {
		days |= 1 << length
	}
	if c.nth != 0 {
		days |= nthDays(c.nth, weekday1, length)
	}
	weekdays := uint64(allDays)
	if c.weekdays != allWeekdays {
		weekdays = weekdayDays(c.weekdays, weekday1)
	}
	if c.either {
		days |= weekdays
	} else {
		days &= weekdays
	}
	if c.weeks != allWeeks {
		days &= weekDays(c.weeks, year, dayOfYear(year, month, 1), weekday1, length)
	}
	return below(days, length+1)
}

// weekdayDays returns the days of a month that begins with weekday1 which
// are among the weekdays: the week's pattern, turned to the first of the
// month and repeated.
func weekdayDays(weekdays uint64, weekday1 int) uint64 {
	const everyWeek = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
	turned := (weekdays>>weekday1 | weekdays<<(daysPerWeek-weekday1)) & allWeekdays
	return turned * everyWeek << 1
}

// nthDays returns the days of a month that calendar.nth means.
func nthDays(nth uint64, weekday1, length int) (days uint64) {
	for ; nth != 0; nth &= nth - 1 {
		bit := bits.TrailingZeros64(nth)
		ordinal, weekday := bit/daysPerWeek, bit%daysPerWeek
		day := 1 + (weekday-weekday1+daysPerWeek)%daysPerWeek
		if ordinal == ordinals-1 {
			day += (length - day) / daysPerWeek * daysPerWeek
		} else {
			day += ordinal * daysPerWeek
		}
		days |= 1 << day
	}
	return days
}

// weekDays returns the days of a month that lie in one of the ISO weeks
// (ISO 8601): a week runs from Monday and belongs to the year of its
// Thursday. The month begins at day yearDay of its year, with weekday1.
func weekDays(weeks uint64, year, yearDay, weekday1, length int) (days uint64) {
	const thursday, oneWeek = 3, 1<<daysPerWeek - 1
	for monday := 1 - weekday1; monday <= length; monday += daysPerWeek {
		week := 1
		switch at := yearDay + monday - 1 + thursday; {
		case at < 0:
			week = (at+daysInYear(year-1))/daysPerWeek + 1
		case at < daysInYear(year):
			week = at/daysPerWeek + 1
		}
		if weeks>>week&1 == 0 {
			continue
		}
		if monday >= 0 {
			days |= oneWeek << monday
		} else {
			days |= oneWeek >> -monday
		}
	}
	return days &^ 1
}
