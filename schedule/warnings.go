package schedule

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// Warnings returns what is allowed in the entry and may not be what its author means,
// a sentence each, in the order of the fields. It depends on the entry only.
func (e *Entry) Warnings() []string {
	return slices.Concat(e.unevenTimes(), e.startOffGrid(), e.unfilledLabels(), e.Unknown, e.CannotStart, e.Unfilled)
}

// cannotStart begins the warnings in CannotStart.
const cannotStart = "No case of this entry can start: "

// WarnCannotStart warns of something that only the server knows, and that keeps all cases
// of the entry from starting.
func (e *Entry) WarnCannotStart(why string) { e.CannotStart = append(e.CannotStart, cannotStart+why) }

// unknownXattr begins the warnings in Unknown.
const unknownXattr = "May be mistyped: "

// WarnUnknown warns of XATTRs that the server does not find in the route.
func (e *Entry) WarnUnknown(sentences []string) {
	for _, text := range sentences {
		e.Unknown = append(e.Unknown, unknownXattr+text)
	}
}

// WarnsByRoute reports whether a complete form may have warnings that follow from its route.
func WarnsByRoute(form []byte) bool {
	return bytes.Contains(form, []byte(`"`+unknownXattr)) || bytes.Contains(form, []byte(`"`+cannotStart))
}

// leftUnfilled begins the warning in Unfilled.
const leftUnfilled = "The last case of this entry has labels as they are written: "

// SetUnfilled warns of labels that nothing has filled in the last case; "" for none.
func (e *Entry) SetUnfilled(which string) {
	if e.Unfilled = nil; which != "" {
		e.Unfilled = []string{leftUnfilled + which}
	}
}

// mostUnfilled is how many labels are named that nothing fills.
const mostUnfilled = 20

// unfilledLabels warns of labels in the title and the XATTRs that nothing fills: cases
// have them as they are written.
func (e *Entry) unfilledLabels() (warnings []string) {
	dict := make(label.Dict, 0, len(e.XattrDict))
	for i := range e.XattrDict {
		text, is := e.XattrDict[i].Value.(string)
		v := label.Text(text)
		if !is {
			v = label.Value{Kind: document.Bool, Text: "true"} // it has no labels
		}
		dict = append(dict, label.XAttr{Key: e.XattrDict[i].Name(), Value: v})
	}
	zero := time.Unix(0, 0)
	_, left, _ := label.Expand(dict, &label.Values{Now: zero, Created: zero})
	of := func(where, text string) {
		for _, ref := range label.References(text) {
			_, there := dict.Get(ref.Key)
			var why string
			switch {
			case !ref.Known:
				why = label.Mistake(ref.Written)
			case ref.Key != "" && !there:
				why = fmt.Sprintf("%s is not replaced: the entry has no XATTR %s", ref.Written, ref.Key)
			case ref.Key != "" && where != "title" && slices.Contains(left, ref.Written):
				why = ref.Written + " is not replaced: it leads back to itself"
			default:
				continue
			}
			if why = where + ": " + why; !slices.Contains(warnings, why) {
				warnings = append(warnings, why)
			}
		}
	}
	of("title", e.Title)
	for i := range dict {
		if dict[i].Value.Kind == document.String {
			of("xattrDict/"+dict[i].Key, dict[i].Value.Text)
		}
	}
	if more := len(warnings) - mostUnfilled; more > 0 {
		warnings = append(warnings[:mostUnfilled], fmt.Sprintf("%d further labels are not replaced", more))
	}
	return warnings
}

func (e *Entry) unevenTimes() []string {
	var minute, hour, day, month, weekday string
	switch e.Type {
	case TypeCron:
		minute, hour, day, month, weekday = e.Cron.Minute, e.Cron.Hour, e.Cron.Day, e.Cron.Month, e.Cron.Weekday
	case TypeCrontab:
		fields := strings.Fields(e.Spec)
		if len(fields) != 5 {
			return nil // @daily and its like
		}
		minute, hour, day, month, weekday = fields[0], fields[1], fields[2], fields[3], fields[4]
	case TypeSimple, TypeInterval:
		return nil
	}
	warnings := unevenSteps("minute", minute, 60, "hour")
	warnings = append(warnings, unevenSteps("hour", hour, 24, "day")...)
	warnings = append(warnings, singleSteps("minute", minute, 0, 59)...)
	warnings = append(warnings, singleSteps("hour", hour, 0, 23)...)
	warnings = append(warnings, singleSteps("day", day, 1, 31)...)
	warnings = append(warnings, singleSteps("month", month, 1, 12)...)
	warnings = append(warnings, singleSteps("weekday", weekday, 0, 6)...)
	return append(warnings, e.everyDayByEither(day, weekday)...)
}

// everyDayByEither warns of a crontab with a day and a weekday one of which has all values:
// either is enough there, so that the other one chooses nothing.
func (e *Entry) everyDayByEither(day, weekday string) []string {
	if e.Type != TypeCrontab || strings.HasPrefix(day, "*") || strings.HasPrefix(weekday, "*") {
		return nil
	}
	e.Schedule()
	if c := e.calendar; c == nil || c.days != allDays || c.weekdays != allWeekdays {
		return nil
	}
	return []string{fmt.Sprintf("The day %q and the weekday %q are both given, and either of them is enough in a crontab: this is every day. Write * for the one that is not to choose.", day, weekday)}
}

// singleSteps warns of steps that lead past the last value at once, so that the first value
// is the only one. Of steps over all minutes and hours unevenSteps warns.
func singleSteps(field, text string, least, most int) (warnings []string) {
	for item := range strings.SplitSeq(text, ",") {
		span, step, stepped := strings.Cut(strings.TrimSpace(item), "/")
		n, ok := digits(step)
		if !stepped || !ok {
			continue
		}
		first, last := least, most
		if span == "*" {
			if least == 0 && most > 6 || n == most-least+1 && field != "day" { // a step of 12 months is a year
				continue
			}
		} else {
			from, to, ranged := strings.Cut(span, "-")
			if first, ok = digits(from); !ok {
				continue
			}
			if last, ok = digits(to); ranged && !ok {
				continue
			} else if !ranged {
				last = most
			}
		}
		if first < last && first+n > last {
			warnings = append(warnings, fmt.Sprintf("%q in the %s means %s %d alone: a step of %d leads past %d.", item, field, field, first, n, last))
		}
	}
	return warnings
}

// Doubts returns Warnings for people who are about to store the entry: also of free
// minutes, which an answer of the drive does not warn of, because the description says it.
func (e *Entry) Doubts() []string { return append(e.freeMinute(), e.Warnings()...) }

// startOffGrid warns of an interval whose start is between two of its instants: start says
// before when nothing happens, and the instants are counted from date, which is when the
// entry was stored if its author has not written one.
func (e *Entry) startOffGrid() []string {
	zone := e.location()
	if e.Type != TypeInterval || e.Interval < time.Hour || zone == nil || !e.Start.After(e.Date) || e.Start.Sub(e.Date)%e.Interval == 0 {
		return nil
	}
	s := e.Schedule()
	if s == nil || e.IterationsPerformed > 0 {
		return nil
	}
	first := s.Next(e.Start)
	if first.IsZero() {
		return nil
	}
	const layout = "2006-01-02 15:04"
	start := e.Start.In(zone).Format(layout)
	return []string{fmt.Sprintf("The first instant is at %s, not at %s: start says before when nothing happens, and the instants are counted from date. To begin with start, write \"date\": %q.", first.In(zone).Format(layout), start, start)}
}

// freeMinute warns of an entry that comes every minute in hours or on days that are
// chosen: lesser fields do not default to 0.
func (e *Entry) freeMinute() []string {
	e.Schedule()
	c := e.calendar
	if c == nil || c.minutes != allMinutes || c.hours == allHours && c.everyDay() {
		return nil
	}
	text, daily := c.timeText()
	return []string{text + c.dayText(daily) + ": is that meant? The minute is free, and does not stand for 0."}
}

// everyDay reports whether the calendar does not choose among days.
func (c *calendar) everyDay() bool {
	return c.years == nil && c.months == allMonths && c.days == allDays && !c.lastDay && c.nth == 0 && c.weeks == allWeeks && c.weekdays == allWeekdays
}

// unevenSteps warns of steps over all values of a field that are not equally far apart
// in time, because they begin anew with the next larger unit.
func unevenSteps(field, text string, values int, larger string) (warnings []string) {
	for item := range strings.SplitSeq(text, ",") {
		span, step, stepped := strings.Cut(strings.TrimSpace(item), "/")
		n, ok := digits(step)
		if !stepped || !ok || span != "*" || n == 0 || values%n == 0 {
			continue
		}
		if n >= values {
			warnings = append(warnings, fmt.Sprintf("%q in the %s means %s 0 alone, once %s: a step of %d is more than the %s has; use the type interval for every %d %ss.",
				item, field, field, every(larger), n, larger, n, field))
			continue
		}
		warnings = append(warnings, fmt.Sprintf("%q in the %s begins anew with each %s: the last step of it is %d %ss long, not %d.",
			item, field, larger, values%n, field, n))
	}
	return warnings
}

func every(unit string) string {
	if unit == "hour" {
		return "an hour"
	}
	return "a " + unit
}
