package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// ReadMarking returns the case that Marking wrote. Anything that Marking
// would not write, an unknown key too, is an internal error: a marking is
// ours alone, and what is read from it will be written back.
func ReadMarking(data []byte) (*Case, error) {
	r := markingReader{data: data}
	c := &Case{}
	r.space()
	r.object(func(key []byte) { r.caseField(c, key) })
	if r.space(); r.err == nil && r.at < len(r.data) {
		r.fail("something follows the end")
	}
	if r.err != nil {
		return nil, errs.Wrap("machine: the marking of a case can't be read", r.err)
	}
	return c, nil
}

// markingReader reads the JSON of markings: a reader of its own, because
// each event reads one and encoding/json takes several times as long. After
// an error it does nothing more.
type markingReader struct {
	data []byte
	at   int
	err  error
}

func (r *markingReader) caseField(c *Case, key []byte) {
	switch string(key) {
	case "id":
		c.ID = r.integer()
	case "guid":
		c.GUID = r.text()
	case "rid":
		c.RouteID = r.integer()
	case "rn":
		c.RouteName = r.text()
	case "rv":
		c.RouteVersion = r.integer()
	case "t":
		c.Title = r.text()
	case "l":
		c.Life = Life(r.text())
	case "h":
		c.Held = r.yes()
	case "hu":
		c.HeldUntil = r.instant()
	case "sa":
		c.StartAt = r.instant()
	case "s":
		c.Status = r.text()
	case "cid":
		c.ContextID = r.integer()
	case "c":
		c.Context = r.text()
	case "by":
		c.Starter = r.text()
	case "p":
		c.Priority = int(r.integer())
	case "r":
		c.Roles = list(r, r.players)
	case "sh":
		c.Stakeholders = list(r, r.text)
	case "x":
		c.Xattrs = nil
		r.object(func(name []byte) { c.Xattrs = append(c.Xattrs, label.XAttr{Key: string(name), Value: r.value()}) })
	default:
		r.courseField(c, key)
	}
}

// courseField reads what the course of the case has left: its second half.
func (r *markingReader) courseField(c *Case, key []byte) {
	switch string(key) {
	case "e":
		c.Enabled = list(r, r.enabled)
	case "lr":
		c.LastRow = r.integer()
	case "ti":
		c.Timers = list(r, r.timer)
	case "v":
		c.Visit = r.integer()
	case "vd":
		c.Done = list(r, r.text)
	case "wd":
		c.Withdrawn = list(r, r.text)
	case "in":
		c.Interrupted = list(r, r.text)
	case "d":
		c.Performed = list(r, r.performed)
	case "wr":
		c.Written = list(r, r.written)
	case "re":
		c.Resolution = r.text()
	case "w":
		c.Warnings = list(r, r.warning)
	case "ob":
		c.Outbox = list(r, r.outgoing)
	case "q":
		c.LogSeq = r.integer()
	case "ver":
		c.Version = r.integer()
	case "rev":
		c.Revision = r.integer()
	case "su":
		c.ScheduleUUID = r.text()
	case "sf":
		c.ScheduledFor = r.instant()
	case "si":
		c.Iteration = r.integer()
	case "cr":
		c.Created = r.instant()
	case "st":
		c.Started = r.instant()
	case "mo":
		c.Modified = r.instant()
	case "co":
		c.Completed = r.instant()
	case "en":
		c.Ended = r.instant()
	default:
		r.familyField(&c.Family, key)
	}
}

func (r *markingReader) players() (p Players) {
	r.object(func(key []byte) {
		switch string(key) {
		case "r":
			p.Role = r.text()
		case "p":
			p.Parties = list(r, r.text)
		default:
			r.unknown(key)
		}
	})
	return p
}

func (r *markingReader) enabled() (e Enabled) {
	r.object(func(key []byte) {
		switch string(key) {
		case "n":
			e.Row = r.integer()
		case "a":
			e.Action = r.text()
		case "s":
			e.State = TaskState(r.text())
		case "f":
			e.Since = r.instant()
		case "d":
			e.Due = r.instant()
		case "k":
			e.Kids = r.kids()
		case "ta":
			e.AcceptBy = new(r.timer())
		case "td":
			e.DoBy = new(r.timer())
		case "tf":
			e.FireBy = new(r.timer())
		case "rm":
			e.Remind = r.instant()
		default:
			r.offerField(&e.Offer, key)
		}
	})
	return e
}

func (r *markingReader) performed() (p Performed) {
	r.object(func(key []byte) {
		switch string(key) {
		case "a":
			p.Action = r.text()
		case "n":
			p.Count = r.integer()
		case "by":
			p.By = r.text()
		case "fo":
			p.For = r.text()
		case "at":
			p.At = r.instant()
		case "fr":
			p.From = r.text()
		case "re":
			p.Resolution = r.text()
		case "o":
			p.Output = r.text()
		case "us":
			p.Used = r.integer()
		case "q":
			p.Seq = r.integer()
		default:
			r.unknown(key)
		}
	})
	return p
}

func (r *markingReader) written() (w Written) {
	r.object(func(key []byte) {
		switch string(key) {
		case "l":
			w.Label = r.text()
		case "n":
			w.Number = r.integer()
		case "by":
			w.By = r.text()
		case "at":
			w.At = r.instant()
		default:
			r.unknown(key)
		}
	})
	return w
}

func (r *markingReader) warning() (w Warning) {
	r.object(func(key []byte) {
		switch string(key) {
		case "timer":
			w.Timer = r.text()
		case "time":
			w.Time = r.instant()
		case "text":
			w.Text = r.text()
		case "n":
			w.Row = r.integer()
		default:
			r.unknown(key)
		}
	})
	return w
}

func (r *markingReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: "+format, append([]any{r.at}, args...)...)
	}
}

func (r *markingReader) unknown(key []byte) { r.fail("unknown key %q", key) }

// space passes over white space; Marking writes none, json.Indent may have.
func (r *markingReader) space() {
	for r.at < len(r.data) && (r.data[r.at] == ' ' || r.data[r.at] == '\n' || r.data[r.at] == '\t' || r.data[r.at] == '\r') {
		r.at++
	}
}

// sign reads one character of punctuation.
func (r *markingReader) sign(want byte) {
	r.space()
	if !r.is(want) {
		r.fail("%q is missing", want)
		return
	}
	r.at++
}

func (r *markingReader) is(c byte) bool {
	return r.err == nil && r.at < len(r.data) && r.data[r.at] == c
}

// object reads an object; field reads the value of each key.
func (r *markingReader) object(field func(key []byte)) {
	r.sign('{')
	if r.space(); r.is('}') {
		r.at++
		return
	}
	for r.err == nil {
		r.space()
		key := r.quoted()
		r.sign(':')
		r.space()
		if r.err != nil {
			return
		}
		field(key)
		if r.space(); !r.is(',') {
			break
		}
		r.at++
	}
	r.sign('}')
}

// list reads a list; an empty one is nil.
func list[T any](r *markingReader, item func() T) (out []T) {
	r.sign('[')
	if r.space(); r.is(']') {
		r.at++
		return nil
	}
	for r.err == nil {
		r.space()
		out = append(out, item())
		if r.space(); !r.is(',') {
			break
		}
		r.at++
	}
	r.sign(']')
	return out
}

func (r *markingReader) text() string { return string(r.quoted()) }

// quoted reads a string. The result is valid while the marking is.
func (r *markingReader) quoted() []byte {
	if r.sign('"'); r.err != nil {
		return nil
	}
	begin, plain, ascii := r.at, true, true
	for r.at < len(r.data) {
		switch c := r.data[r.at]; {
		case c == '"':
			return r.unquote(begin, plain, ascii)
		case c == '\\':
			plain = false
			r.at++
		case c < ' ':
			r.fail("a control character in a string")
			return nil
		case c >= utf8.RuneSelf:
			ascii = false
		}
		r.at++
	}
	r.at = len(r.data)
	r.fail("a string has no end")
	return nil
}

// unquote returns the string from begin to the closing quote at r.at.
func (r *markingReader) unquote(begin int, plain, ascii bool) []byte {
	raw := r.data[begin:r.at]
	r.at++
	switch {
	case !ascii && !utf8.Valid(raw):
		r.fail("a string that is not UTF-8")
	case plain:
		return raw
	default:
		var s string
		if err := json.Unmarshal(r.data[begin-1:r.at], &s); err != nil {
			r.fail("%v", err)
		}
		return []byte(s)
	}
	return nil
}

// literal returns the characters of a number, true or false.
func (r *markingReader) literal() []byte {
	begin := r.at
	for r.at < len(r.data) {
		c := r.data[r.at]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' && c != '+' && c != '.' && c != 'E' {
			break
		}
		r.at++
	}
	return r.data[begin:r.at]
}

// yes reads true: what is false is not written.
func (r *markingReader) yes() bool {
	if literal := r.literal(); string(literal) != "true" {
		r.fail("%q is not true", literal)
	}
	return true
}

func (r *markingReader) integer() int64 {
	literal := r.literal()
	n, err := strconv.ParseInt(string(literal), 10, 64)
	if err != nil {
		r.fail("%v", err)
		return 0
	}
	if digits := bytes.TrimPrefix(literal, []byte("-")); digits[0] == '+' || digits[0] == '0' && n != 0 || len(digits) > 1 && n == 0 {
		r.fail("%q is no number of JSON", literal)
	}
	return n
}

// value reads the value of an XATTR; a number keeps its spelling.
func (r *markingReader) value() label.Value {
	if r.is('"') {
		return label.Text(r.text())
	}
	v := label.Value{Kind: document.Number, Text: string(r.literal())}
	switch {
	case v.Text == "true" || v.Text == "false":
		v.Kind = document.Bool
	case v.Text == "null" || !json.Valid([]byte(v.Text)):
		r.fail("%q is no value of an XATTR", v.Text)
	}
	return v
}

// instant reads a time. It is in UTC, and of a year that can be written.
func (r *markingReader) instant() time.Time {
	var t time.Time
	if err := t.UnmarshalText(r.quoted()); err != nil {
		r.fail("%v", err)
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		r.fail("the year %d", t.Year())
	}
	return t
}
