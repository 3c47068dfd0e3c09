package schedule

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

const (
	defaultPriority = 200
	maxPriority     = 65535
	maxID           = 1<<53 - 1 // what a JSON reader keeps exactly
)

// commonFields are what an entry of every type may have. Of those only the
// server sets, interval is among them so that it does not hinder a change
// of the type.
var commonFields = []string{
	"UUID", "type", "routeId", "route", "contextId", "context", "priority",
	"interval", "xattrDict", "attachmentUUID", "document",
	"nextIteration", "next", "iterationsPerformed", "iterationsRemaining", "repeat",
	"timezone", "misfire", "graceSeconds", "overlap", "jitterSeconds",
	"start", "end", "exclude", "excludeCalendar", "dstGap", "dstOverlap",
	"heartbeat", "paused", "note", "title", "description", "warnings", "upcoming",
	"lastIteration", "lastCase", "lastError", "created", "modified",
}

// typeFields are the fields that each type has in addition.
var typeFields = []struct {
	of     Type
	fields []string
}{
	{TypeSimple, []string{"date"}},
	{TypeInterval, []string{"weeks", "days", "hours", "minutes", "seconds", "date"}},
	{TypeCron, []string{"year", "month", "day", "week", "weekday", "dayOfWeek", "hour", "minute", "second"}},
	{TypeCrontab, []string{"spec"}},
}

// Read returns the entry that a client's document describes: a new one, or the
// one that replaces old. All faults of the document go to root.Faults; if there
// are any, the entry must not be used. Route and context are in the entry as
// they are in the document, by id, by name, or both. The caller resolves them,
// and looks for the attachment or document. Counters, history and the next
// instant of an unchanged recurrence come from old. If zones is nil, UTC is the
// only zone.
func Read(root document.Value, now time.Time, old *Entry, zones Zones) *Entry {
	r := reader{root: root, now: now.UTC(), entry: &Entry{Policies: defaultPolicies(), zones: zones}}
	e := r.entry
	e.Modified = r.now.Truncate(time.Second)
	e.Created = e.Modified
	if old != nil {
		r.replaces, r.was = true, *old
		e.UUID, e.Created = old.UUID, old.Created
		e.IterationsPerformed, e.LastIteration = old.IterationsPerformed, old.LastIteration
		e.LastCase, e.LastError, e.Unfilled = old.LastCase, old.LastError, old.Unfilled
	}
	if !root.Is(document.Object) {
		return e
	}
	r.readType()
	r.readKnown()
	r.readIdentity()
	r.readTarget()
	r.readInput()
	r.readPolicies()
	e.Heartbeat = readHeartbeat(r.get("heartbeat"))
	e.Paused = r.truth("paused")
	if v := r.get("note"); v.Given() {
		e.Note, _ = ReadNote(v)
	}
	if v := r.get("title"); v.Given() {
		e.Title, _ = ReadTitle(v)
	}
	definite := r.readRecurrence() && r.place()
	r.readRepeat()
	if definite {
		r.plan()
		e.Description = e.Describe()
	}
	return e
}

// reader is a document on its way to become an entry.
type reader struct {
	root     document.Value
	now      time.Time
	replaces bool
	was      Entry // what is replaced; zero for a new entry
	entry    *Entry
	fresh    bool // the interval's grid starts now
}

func (r *reader) get(key string) document.Value { return r.root.Get(key) }

// number reads a whole number; standard is the default.
func (r *reader) number(key string, lo, hi, standard int64) int64 {
	if v := r.get(key); v.Given() {
		if n, ok := v.Int(lo, hi); ok {
			return n
		}
	}
	return standard
}

func (r *reader) string(key string) string {
	if v := r.get(key); v.Given() {
		s, _ := v.Str()
		return s
	}
	return ""
}

func (r *reader) truth(key string) bool {
	if v := r.get(key); v.Given() {
		b, _ := v.Truth()
		return b
	}
	return false
}

func (r *reader) time(key string) time.Time {
	if v := r.get(key); v.Given() {
		t, _ := ParseTime(v)
		return t
	}
	return time.Time{}
}

// path reads the path of a document, which may be percent-encoded. What
// stands in the complete form is decoded already and taken as it is.
func (r *reader) path(key, was string) string {
	v := r.get(key)
	text := r.string(key)
	if text == "" {
		if v.Given() && v.Node.Kind == document.String {
			v.Fail(errs.CodeFormat, "must be the path of a document, or null")
		}
		return ""
	}
	if text == was {
		return was
	}
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		v.Fail(errs.CodeFormat, "must be the path of a document: UTF-8 without control characters")
	}
	return text
}

func (r *reader) readType() {
	v := r.get("type")
	if !v.Given() {
		r.root.Faults.Add(v.Node, v.Pointer, errs.CodeRequired, "is required: simple, interval, cron or crontab")
		return
	}
	text, ok := v.Str()
	if !ok {
		return
	}
	known := make([]string, 0, len(typeFields))
	for _, t := range typeFields {
		known = append(known, string(t.of))
	}
	if !slices.Contains(known, text) {
		v.Fail(errs.CodeRange, "must be one of %s, not %q%s", strings.Join(known, ", "), text, typeSlips.Hint(text, known))
		return
	}
	r.entry.Type = Type(text)
}

// readKnown notes the fields that the type does not have. Without a type all
// types' fields are known.
func (r *reader) readKnown() {
	known := slices.Clone(commonFields)
	for _, t := range typeFields {
		if t.of == r.entry.Type || r.entry.Type == "" {
			known = append(known, t.fields...)
		}
	}
	for i := range r.root.Node.Members {
		key, member := r.root.Member(i)
		if slices.Contains(known, key) || document.NamesSchema(&r.root.Node.Members[i]) {
			continue
		}
		if of := typeOf(key); of != "" {
			member.Fail(errs.CodeUnknownField, "is a field of the type %q, not of %q%s", of, r.entry.Type, document.Hint(key, known))
			continue
		}
		member.Fail(errs.CodeUnknownField, "is not a known field%s", fieldSlips.Hint(key, known))
	}
}

// typeOf returns the first type that has the field, "" for none.
func typeOf(key string) Type {
	for _, t := range typeFields {
		if slices.Contains(t.fields, key) {
			return t.of
		}
	}
	return ""
}

// readIdentity compares what identifies a stored entry. The server gives a new
// one its identity and ignores the document's.
func (r *reader) readIdentity() {
	if !r.replaces {
		return
	}
	if v := r.get("UUID"); v.Given() {
		if hex, ok := parseUUID(v.Node.Text); !ok || hex != r.was.UUID {
			v.Fail(errs.CodeReadOnly, "identifies the entry and cannot change: leave it out, or write %s", appendUUID(nil, r.was.UUID))
		}
	}
	if v := r.get("created"); v.Given() {
		if t, p := parseTime(v.Node.Text); p != nil || !t.Equal(r.was.Created) {
			v.Fail(errs.CodeReadOnly, "cannot change: leave it out, or write %s", r.was.Created.Format(timeLayout))
		}
	}
}

// readTarget reads what is created, and for whom.
func (r *reader) readTarget() {
	e := r.entry
	id, name := r.get("routeId"), r.get("route")
	if !id.Given() && !name.Given() {
		id.Fail(errs.CodeRequired, "is required, or route (the route's name) instead")
	}
	e.RouteID = r.number("routeId", 1, maxID, 0)
	e.Route = r.name(name)
	e.ContextID = r.number("contextId", 1, maxID, 0)
	e.Context = r.name(r.get("context"))
	e.Priority = int(r.number("priority", 0, maxPriority, defaultPriority))
}

// name reads a name, which cannot be empty.
func (r *reader) name(v document.Value) string {
	if !v.Given() {
		return ""
	}
	text, ok := v.Str()
	if ok && text == "" {
		v.Fail(errs.CodeFormat, "must not be empty")
	}
	return text
}

// readInput reads what the cases are given.
func (r *reader) readInput() {
	e := r.entry
	e.XattrDict = readXAttrs(r.get("xattrDict"))
	if v := r.get("attachmentUUID"); v.Given() {
		if text, ok := v.Str(); ok {
			if e.AttachmentUUID, ok = parseUUID(text); !ok {
				v.Fail(errs.CodeFormat, "must be the UUID of an attachment: 32 hexadecimal digits, with or without dashes and braces")
			}
		}
	}
	e.Document = r.path("document", r.was.Document)
	if v := r.get("document"); v.Given() && r.get("attachmentUUID").Given() {
		v.Fail(errs.CodeConflict, "cannot be given together with attachmentUUID: a case has one input message")
	}
}

// readRepeat reads the limit of iterations. A simple entry has none: it
// happens once.
func (r *reader) readRepeat() {
	v := r.get("repeat")
	if !v.Given() {
		return
	}
	repeat, ok := v.Int(1, maxID)
	switch {
	case !ok:
	case r.entry.Type == TypeSimple && repeat != 1:
		v.Fail(errs.CodeRange, "must be 1 or null: a simple entry happens once")
	case r.entry.Type == TypeSimple:
	case repeat <= r.entry.IterationsPerformed:
		v.Fail(errs.CodeRange, "must be more than %d, because the entry has fired that often; to end the entry, delete it", r.entry.IterationsPerformed)
	default:
		r.entry.Repeat = repeat
	}
}
