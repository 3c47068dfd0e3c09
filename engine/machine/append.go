package machine

import (
	"strconv"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// The functions below append a member of a JSON object: key is what comes
// before the value, from the comma or brace to the colon.

func appendString(b []byte, key, s string) []byte {
	return document.AppendString(append(b, key...), s)
}

func appendInt(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), n, 10)
}

func appendBool(b []byte, key string, yes bool) []byte {
	return strconv.AppendBool(append(b, key...), yes)
}

func appendStrings(b []byte, key string, list []string) []byte {
	b = append(append(b, key...), '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = document.AppendString(b, s)
	}
	return append(b, ']')
}

// appendInstant appends an instant to the nanosecond.
func appendInstant(b []byte, key string, t time.Time) []byte {
	b = t.UTC().AppendFormat(append(append(b, key...), '"'), time.RFC3339Nano)
	return append(b, '"')
}

// appendSeconds appends an instant as every resource shows it: RFC 3339, UTC,
// seconds.
func appendSeconds(b []byte, key string, t time.Time) []byte {
	b = t.UTC().AppendFormat(append(append(b, key...), '"'), time.RFC3339)
	return append(b, '"')
}

// Complete forms have every key; what is not there is null.

func appendTextOrNull(b []byte, key, s string) []byte {
	if s == "" {
		return append(append(b, key...), "null"...)
	}
	return appendString(b, key, s)
}

func appendOptional(b []byte, key string, s *string) []byte {
	if s == nil {
		return append(append(b, key...), "null"...)
	}
	return appendString(b, key, *s)
}

func appendTimeOrNull(b []byte, key string, t time.Time) []byte {
	if t.IsZero() {
		return append(append(b, key...), "null"...)
	}
	return appendSeconds(b, key, t)
}

// Markings leave out what is zero, with its key.

func appendFilled(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(b, key, s)
}

func appendNonzero(b []byte, key string, n int64) []byte {
	if n == 0 {
		return b
	}
	return appendInt(b, key, n)
}

func appendTrue(b []byte, key string, yes bool) []byte {
	if !yes {
		return b
	}
	return append(append(b, key...), "true"...)
}

func appendSet(b []byte, key string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return appendInstant(b, key, t)
}

func appendSome(b []byte, key string, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	return appendStrings(b, key, list)
}

func appendXattrs(b []byte, key string, dict label.Dict) []byte {
	if len(dict) == 0 {
		return b
	}
	return dict.AppendJSON(append(b, key...))
}

// appendItem begins the i-th item of a list: the first one opens it.
func appendItem(b []byte, key string, i int) []byte {
	if i == 0 {
		return append(append(b, key...), '[')
	}
	return append(b, ',')
}

// appendEnd ends a list of n items, if there is one.
func appendEnd(b []byte, n int) []byte {
	if n == 0 {
		return b
	}
	return append(b, ']')
}

// closed makes an object of the members that b has after from, each of which
// has a comma before it.
func closed(b []byte, from int) []byte {
	if len(b) == from {
		return append(b, "{}"...)
	}
	b[from] = '{'
	return append(b, '}')
}
