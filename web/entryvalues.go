package web

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/schedule"
)

// entryFieldNames are the names of the fields of an entry: the keys of its document.
func entryFieldNames() []string {
	return []string{
		"type", "title", "route", "context", "priority", "date", "weeks", "days", "hours", "minutes", "seconds",
		"year", "month", "day", "week", "weekday", "hour", "minute", "spec", "timezone", "xattrDict", "attachmentUUID", "document",
		"repeat", "misfire", "graceSeconds", "overlap", "jitterSeconds", "start", "end", "exclude", "excludeCalendar", "dstGap", "dstOverlap", "heartbeat", "paused", "note",
	}
}

// entryDefaults are the values of a new entry: it comes every morning.
func entryDefaults() url.Values {
	return url.Values{
		"type": {"cron"}, "hour": {"9"}, "minute": {"0"}, "day": {"*"}, "month": {"*"}, "weekday": {"*"}, "year": {"*"}, "week": {"*"}, "hours": {"6"},
		"spec": {"0 9 * * mon-fri"}, "timezone": {"UTC"}, "misfire": {"once"}, "overlap": {"allow"}, "dstGap": {"shift"}, "dstOverlap": {"first"},
	}
}

// entryValues returns the fields of a form from an entry. What is as by default is left
// out. typed writes its instants.
func entryValues(e *schedule.Entry, typed func(time.Time) string) url.Values {
	v := url.Values{}
	set := func(name, value, standard string) {
		if value != standard {
			v.Set(name, value)
		}
	}
	number := func(name string, n, standard int64) {
		set(name, strconv.FormatInt(n, 10), strconv.FormatInt(standard, 10))
	}
	moment := func(name string, t time.Time) {
		if !t.IsZero() {
			v.Set(name, typed(t))
		}
	}
	v.Set("type", string(e.Type))
	v.Set("route", e.Route)
	set("title", e.Title, "")
	set("context", e.Context, "")
	number("priority", int64(e.Priority), 200)
	switch e.Type {
	case schedule.TypeSimple:
		moment("date", e.Date)
	case schedule.TypeInterval:
		moment("date", e.Date)
		for name, n := range map[string]*int64{"weeks": e.Units.Weeks, "days": e.Units.Days, "hours": e.Units.Hours, "minutes": e.Units.Minutes, "seconds": e.Units.Seconds} {
			if n != nil {
				v.Set(name, strconv.FormatInt(*n, 10))
			}
		}
	case schedule.TypeCron:
		c := &e.Cron
		for name, text := range map[string]string{"year": c.Year, "month": c.Month, "day": c.Day, "week": c.Week, "weekday": c.Weekday, "hour": c.Hour, "minute": c.Minute} {
			v.Set(name, text)
		}
	case schedule.TypeCrontab:
		v.Set("spec", e.Spec)
	}
	set("timezone", e.Timezone, "UTC")
	set("misfire", string(e.Misfire), "once")
	number("graceSeconds", int64(e.GraceSeconds), 58)
	set("overlap", string(e.Overlap), "allow")
	number("jitterSeconds", int64(e.JitterSeconds), 0)
	number("repeat", e.Repeat, 0)
	moment("start", e.Start)
	moment("end", e.End)
	set("exclude", exclusionLines(e.Exclude), "")
	set("excludeCalendar", e.ExcludeCalendar, "")
	set("dstGap", string(e.DSTGap), "shift")
	set("dstOverlap", string(e.DSTOverlap), "first")
	set("document", e.Document, "")
	set("attachmentUUID", e.AttachmentUUID, "")
	set("xattrDict", xattrLines(e.XattrDict), "")
	set("heartbeat", heartbeatText(&e.Heartbeat), "")
	set("note", e.Note, "")
	if e.Paused {
		v.Set("paused", "true")
	}
	return v
}

// exclusionLines writes what is left out: a day or a range a line.
func exclusionLines(list []schedule.Exclusion) string {
	var lines []string
	for _, one := range list {
		if one.Date != "" {
			lines = append(lines, one.Date)
			continue
		}
		lines = append(lines, one.From+" to "+one.To)
	}
	return strings.Join(lines, "\n")
}

// xattrLines writes XATTRs, a line each. A text that would be read as something else is in
// quotes.
func xattrLines(list []schedule.XAttr) string {
	var lines []string
	for _, one := range list {
		var value string
		switch text := one.Value.(type) {
		case string:
			if value = text; scalar(strings.TrimSpace(text)) || strings.TrimSpace(text) != text || strings.ContainsAny(text, "\r\n") {
				value = string(document.AppendString(nil, text))
			}
		case bool:
			value = strconv.FormatBool(text)
		case json.Number:
			value = text.String()
		}
		lines = append(lines, one.Key+" = "+value)
	}
	return strings.Join(lines, "\n")
}

// scalar reports whether the text is a value of JSON that an XATTR can have.
func scalar(text string) bool {
	return text != "" && json.Valid([]byte(text)) && text[0] != '{' && text[0] != '[' && text != "null"
}

// entryBody returns the document of an entry by the fields of its form. Fields that are
// not of its type, and those that are as by default, are left out.
func entryBody(w words, v url.Values) []byte {
	b := &bodyOf{w: w, v: v}
	b.text("type", "title", "route")
	b.context()
	switch schedule.Type(v.Get("type")) {
	case schedule.TypeSimple:
		b.date()
	case schedule.TypeInterval:
		b.number("weeks", "days", "hours", "minutes", "seconds")
		b.date()
	case schedule.TypeCron:
		b.cron()
		b.zone()
	case schedule.TypeCrontab:
		b.text("spec")
		b.zone()
	}
	b.numberUnless("priority", "200")
	b.numberUnless("repeat", "")
	b.textUnless("misfire", "once")
	b.numberUnless("graceSeconds", "58")
	b.textUnless("overlap", "allow")
	b.numberUnless("jitterSeconds", "0")
	b.bounds()
	b.exclude()
	b.text("excludeCalendar", "document", "attachmentUUID")
	b.xattrs()
	b.heartbeat()
	if v.Get("paused") == "true" {
		b.add("paused", []byte("true"))
	}
	b.text("note")
	return object(b.members...)
}

// bodyOf makes the members of a document.
type bodyOf struct {
	w       words
	v       url.Values
	members []member
}

func (b *bodyOf) get(name string) string { return strings.TrimSpace(b.v.Get(name)) }

func (b *bodyOf) add(name string, value []byte) { b.members = append(b.members, member{name, value}) }

func (b *bodyOf) text(names ...string) {
	for _, name := range names {
		b.textUnless(name, "")
	}
}

func (b *bodyOf) textUnless(name, standard string) {
	if value := b.get(name); value != "" && value != standard {
		b.add(name, document.AppendString(nil, value))
	}
}

// date adds the instant of an entry that has no zone of its own.
func (b *bodyOf) date() {
	if value := b.w.sentDate(b.get("date")); value != "" {
		b.add("date", document.AppendString(nil, value))
	}
}

// bounds adds from when until when the entry happens. A day without a time is one of the
// entry's zone, which the drive knows; an entry that has none has that of the page.
func (b *bodyOf) bounds() {
	zoned := schedule.Type(b.v.Get("type")) != schedule.TypeSimple && schedule.Type(b.v.Get("type")) != schedule.TypeInterval
	for _, name := range []string{"start", "end"} {
		value := b.get(name)
		d, err := clock.ParseDate(value, b.w.zone)
		switch {
		case value == "":
			continue
		case err != nil || d.Day && zoned:
		case d.Day && name == "end": // the last second of that day is the last at which it happens
			if next, err := clock.ParseEnd(value, b.w.zone); err == nil {
				value = next.Time.Add(-time.Second).In(b.w.zone).Format(time.RFC3339)
			}
		default:
			value = b.w.sentDate(value)
		}
		b.add(name, document.AppendString(nil, value))
	}
}

func (b *bodyOf) number(names ...string) {
	for _, name := range names {
		b.numberUnless(name, "")
	}
}

// numberUnless adds a number. What is none is sent as it was typed, for the drive to say
// what is wrong with it.
func (b *bodyOf) numberUnless(name, standard string) {
	if value := b.get(name); value != "" && value != standard {
		b.add(name, numberOr(value))
	}
}

// context adds whose entry it is; without it is the user's own.
func (b *bodyOf) context() { b.text("context") }

// cron adds the fields of the calendar that are not free. If all are, the minute is
// said to be, because one of them is needed.
func (b *bodyOf) cron() {
	n := len(b.members)
	for _, name := range []string{"year", "month", "day", "week", "weekday", "hour", "minute"} {
		if b.get(name) != "*" {
			b.numberUnless(name, "")
		}
	}
	if len(b.members) == n {
		b.add("minute", []byte(`"*"`))
	}
}

func (b *bodyOf) zone() {
	b.textUnless("timezone", "UTC")
	b.textUnless("dstGap", "shift")
	b.textUnless("dstOverlap", "first")
}

// exclude adds what is left out: a day or a range a line.
func (b *bodyOf) exclude() {
	var items [][]byte
	for line := range strings.SplitSeq(b.v.Get("exclude"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if from, to, is := strings.Cut(line, " to "); is {
			items = append(items, object(text("from", strings.TrimSpace(from)), text("to", strings.TrimSpace(to))))
			continue
		}
		items = append(items, document.AppendString(nil, line))
	}
	if len(items) > 0 {
		b.add("exclude", append(append([]byte{'['}, bytes.Join(items, []byte(", "))...), ']'))
	}
}

// heartbeat adds the heartbeat address, or the object that was typed.
func (b *bodyOf) heartbeat() {
	if value := b.get("heartbeat"); strings.HasPrefix(value, "{") && json.Valid([]byte(value)) {
		b.add("heartbeat", []byte(value))
		return
	}
	b.text("heartbeat")
}

// heartbeatText writes heartbeat addresses: one as it is, several as an object.
func heartbeatText(h *schedule.Heartbeat) string {
	if *h == (schedule.Heartbeat{Done: schedule.Address{URL: h.Done.URL}}) {
		return h.Done.URL
	}
	var parts []member
	h.Each(func(pointer string, a schedule.Address) {
		m := text(strings.TrimPrefix(pointer, "/heartbeat/"), a.URL)
		if a.Secret != "" {
			m.value = object(text("secret", a.Secret))
		}
		parts = append(parts, m)
	})
	return string(object(parts...))
}

// xattrs adds the XATTRs: a key and a value a line. Numbers, true and false are that, and
// all else is text.
func (b *bodyOf) xattrs() {
	var list []member
	for line := range strings.SplitSeq(b.v.Get("xattrDict"), "\n") {
		key, value, is := strings.Cut(line, "=")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); key == "" && !is {
			continue
		}
		if scalar(value) {
			list = append(list, member{key, []byte(value)})
			continue
		}
		list = append(list, member{key, document.AppendString(nil, value)})
	}
	if len(list) > 0 {
		b.add("xattrDict", object(list...))
	}
}
