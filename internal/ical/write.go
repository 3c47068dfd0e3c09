package ical

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Calendar is a calendar to be published.
type Calendar struct {
	Name    string
	Refresh time.Duration // how often to fetch it; whole minutes
	Events  []Event
}

// Event is an event to be published.
type Event struct {
	UID         string
	Stamp       time.Time // when it was last changed
	Start       time.Time
	AllDay      bool // the whole day that Start has in its location
	Summary     string
	Description string
	Category    string
	URL         string // absolute, of what the event is about; "" for none
}

const (
	product  = "-//Flowdrive//Flowdrive//EN"
	formUTC  = "20060102T150405Z"
	formDate = "20060102"

	mostOctets = 75 // of a line, without its end (RFC 5545, section 3.1)
)

// Append appends the calendar as an iCalendar object. Equal calendars give
// equal bytes.
func (c *Calendar) Append(dst []byte) []byte {
	w := writer{dst}
	w.line("BEGIN", "VCALENDAR")
	w.line("VERSION", "2.0")
	w.line("PRODID", product)
	w.line("CALSCALE", "GREGORIAN")
	w.line("METHOD", "PUBLISH")
	w.text("NAME", c.Name) // RFC 7986, section 5.1
	w.text("X-WR-CALNAME", c.Name)
	refresh := "PT" + strconv.Itoa(int(c.Refresh/time.Minute)) + "M"
	w.line("REFRESH-INTERVAL;VALUE=DURATION", refresh) // RFC 7986, section 5.7
	w.line("X-PUBLISHED-TTL", refresh)
	if len(c.Events) == 0 {
		w.zone() // an object has a component at least (RFC 5545, section 3.4)
	}
	for i := range c.Events {
		w.event(&c.Events[i])
	}
	w.line("END", "VCALENDAR")
	return w.dst
}

// writer appends content lines.
type writer struct{ dst []byte }

func (w *writer) event(e *Event) {
	w.line("BEGIN", "VEVENT")
	w.text("UID", e.UID)
	w.line("DTSTAMP", e.Stamp.UTC().Format(formUTC))
	if e.AllDay {
		w.line("DTSTART;VALUE=DATE", e.Start.Format(formDate))
		w.line("DTEND;VALUE=DATE", e.Start.AddDate(0, 0, 1).Format(formDate))
	} else {
		w.line("DTSTART", e.Start.UTC().Format(formUTC)) // without an end it is a moment
	}
	w.text("SUMMARY", e.Summary)
	if e.Description != "" {
		w.text("DESCRIPTION", e.Description)
	}
	if e.Category != "" {
		w.text("CATEGORIES", e.Category)
	}
	if e.URL != "" {
		w.line("URL", e.URL) // a URI is not escaped as a text is (RFC 5545, section 3.3.13)
	}
	w.line("STATUS", "CONFIRMED")
	w.line("TRANSP", "TRANSPARENT") // it does not make anyone busy
	w.line("END", "VEVENT")
}

// zone describes the time zone that needs no description.
func (w *writer) zone() {
	for _, line := range [][2]string{
		{"BEGIN", "VTIMEZONE"},
		{"TZID", "UTC"},
		{"BEGIN", "STANDARD"},
		{"DTSTART", "19700101T000000"},
		{"TZOFFSETFROM", "+0000"},
		{"TZOFFSETTO", "+0000"},
		{"END", "STANDARD"},
		{"END", "VTIMEZONE"},
	} {
		w.line(line[0], line[1])
	}
}

// text appends a property whose value is text of any kind.
func (w *writer) text(name, value string) { w.line(name, escape(value)) }

// line appends a content line, folded between characters.
func (w *writer) line(name, value string) {
	text, room := name+":"+value, mostOctets
	for len(text) > room {
		cut := room
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		w.dst = append(append(w.dst, text[:cut]...), "\r\n "...)
		text, room = text[cut:], mostOctets-1
	}
	w.dst = append(append(w.dst, text...), "\r\n"...)
}

// escape writes a text as a value (RFC 5545, section 3.3.11). Control
// characters, which it cannot have, become blanks.
func escape(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case r == '\\' || r == ';' || r == ',':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
