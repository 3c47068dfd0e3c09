package schedule

import (
	"strconv"
	"time"

	"flowdrive/internal/document"
)

// timeLayout is how an entry shows times: UTC, without a zone.
const timeLayout = "2006-01-02T15:04:05"

// Form returns the complete form: indented JSON with every common field and
// those of the entry's type, in the order of
// docs/contract/schedule.md#1-the-entry. It depends on the entry only.
func (e *Entry) Form() []byte {
	const usual = 1536
	f := formWriter{dst: make([]byte, 0, usual)}
	f.dst = append(f.dst, '{')
	f.uuid("UUID", e.UUID)
	f.string("type", string(e.Type))
	f.id("routeId", e.RouteID)
	f.text("route", e.Route)
	f.id("contextId", e.ContextID)
	f.text("context", e.Context)
	f.int("priority", int64(e.Priority))
	f.recurrence(e)
	f.xattrs("xattrDict", e.XattrDict)
	f.text("attachmentUUID", e.AttachmentUUID)
	f.text("document", e.Document)
	f.time("nextIteration", e.NextIteration)
	f.local("next", e.NextIteration, e.location())
	f.int("iterationsPerformed", e.IterationsPerformed)
	f.int("iterationsRemaining", e.IterationsRemaining)
	f.id("repeat", e.Repeat)
	f.policies(&e.Policies)
	f.heartbeat(&e.Heartbeat)
	f.bool("paused", e.Paused)
	f.string("note", e.Note)
	f.string("title", e.Title)
	f.string("description", e.Description)
	f.texts("warnings", e.Warnings())
	f.times("upcoming", e.Upcoming)
	f.time("lastIteration", e.LastIteration)
	f.id("lastCase", e.LastCase)
	f.text("lastError", e.LastError)
	f.time("created", e.Created)
	f.time("modified", e.Modified)
	return document.Indent(append(f.dst, '}', '\n'))
}

// formWriter appends members of an object. Keys are plain ASCII.
type formWriter struct{ dst []byte }

func (f *formWriter) key(key string) {
	if last := f.dst[len(f.dst)-1]; last != '{' {
		f.dst = append(f.dst, ',')
	}
	f.dst = append(f.dst, '"')
	f.dst = append(f.dst, key...)
	f.dst = append(f.dst, '"', ':')
}

func (f *formWriter) null(key string) {
	f.key(key)
	f.dst = append(f.dst, "null"...)
}

func (f *formWriter) string(key, value string) {
	f.key(key)
	f.dst = document.AppendString(f.dst, value)
}

// text is a string that is null when empty, id a number that is null when 0.
func (f *formWriter) text(key, value string) {
	if value == "" {
		f.null(key)
		return
	}
	f.string(key, value)
}

func (f *formWriter) int(key string, value int64) {
	f.key(key)
	f.dst = strconv.AppendInt(f.dst, value, 10)
}

func (f *formWriter) id(key string, value int64) {
	if value == 0 {
		f.null(key)
		return
	}
	f.int(key, value)
}

func (f *formWriter) bool(key string, value bool) {
	f.key(key)
	f.dst = strconv.AppendBool(f.dst, value)
}

func (f *formWriter) uuid(key, hex string) {
	if hex == "" {
		f.null(key)
		return
	}
	f.key(key)
	f.dst = append(appendUUID(append(f.dst, '"'), hex), '"')
}

func (f *formWriter) time(key string, t time.Time) {
	f.key(key)
	f.dst = appendTime(f.dst, t)
}

// local writes a time as clocks of the zone show it, with their offset.
func (f *formWriter) local(key string, t time.Time, zone *time.Location) {
	if t.IsZero() || zone == nil {
		f.null(key)
		return
	}
	f.string(key, t.In(zone).Format(time.RFC3339))
}

func (f *formWriter) texts(key string, list []string) {
	f.key(key)
	f.dst = append(f.dst, '[')
	for i, text := range list {
		if i > 0 {
			f.dst = append(f.dst, ',')
		}
		f.dst = document.AppendString(f.dst, text)
	}
	f.dst = append(f.dst, ']')
}

func (f *formWriter) times(key string, list []time.Time) {
	f.key(key)
	f.dst = append(f.dst, '[')
	for i, t := range list {
		if i > 0 {
			f.dst = append(f.dst, ',')
		}
		f.dst = appendTime(f.dst, t)
	}
	f.dst = append(f.dst, ']')
}

func appendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	return append(t.UTC().AppendFormat(append(dst, '"'), timeLayout), '"')
}

// recurrence appends the fields of the entry's type.
func (f *formWriter) recurrence(e *Entry) {
	switch e.Type {
	case TypeSimple:
		f.time("date", e.Date)
	case TypeInterval:
		for _, unit := range e.Units.list() {
			if *unit.value != nil {
				f.int(unit.key, **unit.value)
			}
		}
		f.int("interval", int64(e.Interval/time.Second))
		f.time("date", e.Date)
	case TypeCron:
		f.string("year", e.Cron.Year)
		f.string("month", e.Cron.Month)
		f.string("day", e.Cron.Day)
		f.string("week", e.Cron.Week)
		f.string("dayOfWeek", e.Cron.Weekday)
		f.string("hour", e.Cron.Hour)
		f.string("minute", e.Cron.Minute)
		f.string("second", "0")
	case TypeCrontab:
		f.string("spec", e.Spec)
	}
}

func (f *formWriter) xattrs(key string, list []XAttr) {
	f.key(key)
	f.dst = append(f.dst, '{')
	for i, x := range list {
		if i > 0 {
			f.dst = append(f.dst, ',')
		}
		f.dst = append(document.AppendString(f.dst, x.Key), ':')
		f.dst = x.appendJSON(f.dst)
	}
	f.dst = append(f.dst, '}')
}

func (f *formWriter) policies(p *Policies) {
	f.string("timezone", p.Timezone)
	f.string("misfire", string(p.Misfire))
	f.int("graceSeconds", int64(p.GraceSeconds))
	f.string("overlap", string(p.Overlap))
	f.int("jitterSeconds", int64(p.JitterSeconds))
	f.time("start", p.Start)
	f.time("end", p.End)
	f.key("exclude")
	f.dst = append(f.dst, '[')
	for i, x := range p.Exclude {
		if i > 0 {
			f.dst = append(f.dst, ',')
		}
		f.dst = x.appendJSON(f.dst)
	}
	f.dst = append(f.dst, ']')
	f.text("excludeCalendar", p.ExcludeCalendar)
	f.string("dstGap", string(p.DSTGap))
	f.string("dstOverlap", string(p.DSTOverlap))
}
