package machine

import (
	"time"

	"flowdrive/route"
)

// appendOwnTimer appends a timer of an enablement, if something is known of
// it.
func appendOwnTimer(b []byte, key string, t *Timer) []byte {
	if t == nil {
		return b
	}
	return appendTimer(append(b, key...), t)
}

func appendTimer(b []byte, t *Timer) []byte {
	from := len(b)
	b = appendFilled(b, `,"n":`, t.Name)
	b = appendNonzero(b, `,"r":`, t.Row)
	b = appendNonzero(b, `,"v":`, t.Visit)
	if t.On {
		b = append(b, `,"on":true`...)
	}
	if t.Limit != nil {
		b = appendLimit(append(b, `,"l":`...), t.Limit)
	}
	b = appendSet(b, `,"d":`, t.Date)
	if t.Expired {
		b = append(b, `,"x":true`...)
	}
	return closed(appendSet(b, `,"f":`, t.Fired), from)
}

func appendLimit(b []byte, l *route.Limit) []byte {
	from := len(b)
	b = appendFilled(b, `,"k":`, string(l.Kind))
	b = appendNonzero(b, `,"s":`, int64(l.After))
	return closed(appendSet(b, `,"t":`, l.At), from)
}

// closed makes an object of the members from there on, each of which has a
// comma before it.
func closed(b []byte, from int) []byte {
	if len(b) == from {
		return append(b, "{}"...)
	}
	b[from] = '{'
	return append(b, '}')
}

func (r *markingReader) timer() (t Timer) {
	r.object(func(key []byte) {
		switch string(key) {
		case "n":
			t.Name = r.text()
		case "r":
			t.Row = r.integer()
		case "v":
			t.Visit = r.integer()
		case "on":
			t.On = r.truth()
		case "l":
			limit := r.limit()
			t.Limit = &limit
		case "d":
			t.Date = r.instant()
		case "x":
			t.Expired = r.truth()
		case "f":
			t.Fired = r.instant()
		default:
			r.unknown(key)
		}
	})
	return t
}

func (r *markingReader) limit() (l route.Limit) {
	r.object(func(key []byte) {
		switch string(key) {
		case "k":
			l.Kind = route.LimitKind(r.text())
		case "s":
			l.After = time.Duration(r.integer())
		case "t":
			l.At = r.instant()
		default:
			r.unknown(key)
		}
	})
	return l
}

// truth reads true: what is false is left out.
func (r *markingReader) truth() bool {
	if literal := r.literal(); string(literal) != "true" {
		r.fail("%q is not true", literal)
		return false
	}
	return true
}
