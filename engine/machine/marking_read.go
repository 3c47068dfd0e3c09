package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// markingReader reads the JSON of markings. After an error it does nothing
// more.
type markingReader struct {
	data []byte
	at   int
	err  error
}

func (r *markingReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: "+format, append([]any{r.at}, args...)...)
	}
}

func (r *markingReader) unknown(key []byte) { r.fail("unknown key %q", key) }

// space skips white space. Marking writes none, but json.Indent may have.
func (r *markingReader) space() {
	for r.at < len(r.data) && (r.data[r.at] == ' ' || r.data[r.at] == '\n' || r.data[r.at] == '\t' || r.data[r.at] == '\r') {
		r.at++
	}
}

// sign reads that character of punctuation.
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

// object reads an object, calling field to read the value of each key.
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

// readList reads a list, calling read for each item. An empty list is nil.
func readList[T any](r *markingReader, read func() T) (out []T) {
	r.sign('[')
	if r.space(); r.is(']') {
		r.at++
		return nil
	}
	for r.err == nil {
		r.space()
		out = append(out, read())
		if r.space(); !r.is(',') {
			break
		}
		r.at++
	}
	r.sign(']')
	return out
}

func (r *markingReader) text() string { return string(r.quoted()) }

func (r *markingReader) texts() []string { return readList(r, r.text) }

func (r *markingReader) xattrs() (dict label.Dict) {
	r.object(func(key []byte) { dict = append(dict, label.XAttr{Key: string(key), Value: r.value()}) })
	return dict
}

// quoted reads a string. The result may share the bytes of the marking.
func (r *markingReader) quoted() []byte {
	if r.sign('"'); r.err != nil {
		return nil
	}
	begin, plain := r.at, true
	for r.at < len(r.data) {
		switch c := r.data[r.at]; {
		case c == '"':
			return r.unquote(begin, plain)
		case c == '\\':
			plain = false
			r.at++
		case c < ' ':
			r.fail("a control character in a string")
			return nil
		}
		r.at++
	}
	r.at = len(r.data)
	r.fail("a string has no end")
	return nil
}

// unquote returns the string from begin to the closing quote at r.at.
func (r *markingReader) unquote(begin int, plain bool) []byte {
	raw := r.data[begin:r.at]
	r.at++
	switch {
	case !utf8.Valid(raw):
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

// truth reads true: false is not written.
func (r *markingReader) truth() bool {
	literal := r.literal()
	if string(literal) != "true" {
		r.fail("%q is not true", literal)
	}
	return r.err == nil
}

func (r *markingReader) integer() int64 {
	literal := r.literal()
	n, err := strconv.ParseInt(string(literal), 10, 64)
	if err != nil {
		r.fail("%v", err)
		return 0
	}
	if digits := bytes.TrimPrefix(literal, []byte("-")); digits[0] == '+' || digits[0] == '0' && n != 0 || len(digits) > 1 && n == 0 {
		r.fail("%q is not a valid JSON number", literal)
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
		r.fail("%q is not a valid value of an XATTR", v.Text)
	}
	return v
}

// instant reads an instant, in UTC and of a year that RFC 3339 can write.
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
