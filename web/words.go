package web

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"flowdrive/engine/machine"
	"flowdrive/internal/clock"
)

// words writes times as people read them: in one zone, relative to one instant.
type words struct {
	now  time.Time
	zone *time.Location
}

// Zone returns the name of the zone.
func (w words) Zone() string { return w.zone.String() }

// days returns how many days of the calendar the instant is ahead.
func (w words) days(t time.Time) int {
	day := func(t time.Time) time.Time {
		y, m, d := t.In(w.zone).Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return int(day(t).Sub(day(w.now)) / (24 * time.Hour))
}

// startOf returns when the day begins that is so many days after today.
func (w words) startOf(days int) time.Time {
	y, m, d := w.now.In(w.zone).Date()
	return time.Date(y, m, d+days, 0, 0, 0, 0, w.zone)
}

// Relative returns how far away the instant is: exactly up to a day, in days up to a
// week, then the date.
func (w words) Relative(t time.Time) string {
	n := w.days(t)
	switch {
	case n == 0 || n == 1 && t.Sub(w.now) < 6*time.Hour || n == -1 && w.now.Sub(t) < 6*time.Hour:
		return distance(t.Sub(w.now))
	case n == 1:
		return "tomorrow"
	case n == -1:
		return "yesterday"
	case n > 1 && n <= 7:
		return fmt.Sprintf("in %d days", n)
	case n < -1 && n >= -7:
		return fmt.Sprintf("%d days ago", -n)
	}
	return w.date(t)
}

// distance returns a time of less than two days in words.
func distance(d time.Duration) string {
	ahead := d > 0
	if !ahead {
		d = -d
	}
	var text string
	switch {
	case d < time.Minute:
		if ahead {
			return "in a moment"
		}
		return "just now"
	case d < time.Hour:
		text = plural(int(d/time.Minute), "minute")
	default:
		text = plural(int(d/time.Hour), "hour")
	}
	if ahead {
		return "in " + text
	}
	return text + " ago"
}

// Over returns for how long an instant is past.
func (w words) Over(t time.Time) string {
	switch d := w.now.Sub(t); {
	case d < time.Hour:
		return plural(max(int(d/time.Minute), 1), "minute") + " over"
	case d < 24*time.Hour:
		return plural(int(d/time.Hour), "hour") + " over"
	default:
		return plural(int(d/(24*time.Hour)), "day") + " over"
	}
}

// Age returns for how long something is so, in one unit: "2 days".
func (w words) Age(t time.Time) string {
	switch d := w.now.Sub(t); {
	case d < time.Minute:
		return "a moment"
	case d < time.Hour:
		return plural(int(d/time.Minute), "minute")
	case d < 24*time.Hour:
		return plural(int(d/time.Hour), "hour")
	default:
		return plural(int(d/(24*time.Hour)), "day")
	}
}

// Since returns the day on which something began: today, a weekday, a date.
func (w words) Since(t time.Time) string {
	switch n := w.days(t); {
	case n >= 0:
		return "today"
	case n == -1:
		return "yesterday"
	case n > -7:
		return t.In(w.zone).Format("Monday")
	}
	return w.date(t)
}

// date returns the day, with the year if it is not this one.
func (w words) date(t time.Time) string {
	t = t.In(w.zone)
	if t.Year() != w.now.In(w.zone).Year() {
		return t.Format("2 Jan 2006")
	}
	return t.Format("2 Jan")
}

// Moment returns day and time: "today, 08:30", "Mon 12 Nov, 13:34".
func (w words) Moment(t time.Time) string {
	clock := t.In(w.zone).Format(", 15:04")
	switch w.days(t) {
	case 0:
		return "today" + clock
	case 1:
		return "tomorrow" + clock
	case -1:
		return "yesterday" + clock
	}
	return w.Exact(t)
}

// Exact returns weekday, date and time, with the year if it is not this one.
func (w words) Exact(t time.Time) string {
	layout := "Mon 2 Jan, 15:04"
	if t.In(w.zone).Year() != w.now.In(w.zone).Year() {
		layout = "Mon 2 Jan 2006, 15:04"
	}
	return t.In(w.zone).Format(layout)
}

// Instants returns a text of the engine with its instants in the words and the zone of the page.
func (w words) Instants(text string) string { return machine.WithInstants(text, w.Exact) }

// Short returns the time as a log shows it: weekday and time within a week.
func (w words) Short(t time.Time) string {
	if n := w.days(t); n <= 0 && n > -7 {
		return t.In(w.zone).Format("Mon 15:04")
	}
	return w.Exact(t)
}

// Full returns the whole of an instant, with its zone.
func (w words) Full(t time.Time) string {
	return t.In(w.zone).Format("Mon 2 Jan 2006, 15:04 ") + w.Zone()
}

// Time returns the element of an instant that is shown as the text; the whole of it is
// its title.
func (w words) Time(t time.Time, text string) template.HTML {
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` + template.HTMLEscapeString(w.Full(t)) + `">` + //nolint:gosec // escaped
		template.HTMLEscapeString(text) + `</time>`)
}

// sentDate returns a date that was typed as the drive is sent it: people type dates of the
// zone of the page, the drive has another one, so the offset goes with them. What has an
// offset stays as it is, and so does what is not a date: it may be a duration, and if not,
// the drive says what is wrong.
func (w words) sentDate(typed string) string { return w.sentAs(typed, clock.ParseDate) }

// sentEnd does it for a date until when something lasts: a day is over as the next begins.
func (w words) sentEnd(typed string) string { return w.sentAs(typed, clock.ParseEnd) }

func (w words) sentAs(typed string, parse func(string, *time.Location) (clock.Date, *clock.DateError)) string {
	d, err := parse(typed, w.zone)
	if err != nil || d.Fixed {
		return typed
	}
	return d.Time.In(w.zone).Format(time.RFC3339)
}

// Typed returns an instant as people of the page's zone type it. A time that clocks show
// twice has its offset, so that it stays the same instant when it is sent again.
func (w words) Typed(t time.Time) string {
	text := t.In(w.zone).Format("2006-01-02 15:04:05")
	text = strings.TrimSuffix(text, ":00")
	if d, err := clock.ParseDate(text, w.zone); err != nil || !d.Time.Equal(t) {
		return t.In(w.zone).Format(time.RFC3339)
	}
	return text
}

// plural returns a number with its noun.
func plural(n int, noun string) string {
	return english.Plural(n, noun, "")
}

// number returns the literal of a JSON number in groups of three digits; one with a
// fraction has two digits of it at least.
func number(literal string) string {
	if strings.ContainsAny(literal, "eE") {
		return literal
	}
	whole, fraction, has := strings.Cut(literal, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if !has {
		return sign + b.String()
	}
	if len(fraction) == 1 {
		fraction += "0"
	}
	return sign + b.String() + "." + fraction
}

// sizeOf returns a number of bytes in words.
func sizeOf(n int64) string {
	switch {
	case n < 1000:
		return plural(int(n), "byte")
	case n < 1000*1000:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	case n < 1000*1000*1000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
