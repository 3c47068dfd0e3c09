package relational

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"flowdrive/internal/identity"
)

// valuer is a field that says itself how it is stored.
type valuer interface{ value() any }

// valueOf returns what is stored of a field.
func valueOf(field any) any {
	switch f := field.(type) {
	case *int64:
		return *f
	case *string:
		return *f
	case *bool:
		return *f
	case *int:
		return int64(*f)
	case *[]byte:
		return blob(*f)
	case valuer:
		return f.value()
	}
	return field
}

// millis is an instant as it is stored: milliseconds since 1970 in UTC, NULL
// for the zero time.
type millis struct{ t *time.Time }

// Scan reads a column.
func (m millis) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		*m.t = time.UnixMilli(v).UTC()
	case nil:
		*m.t = time.Time{}
	default:
		return fmt.Errorf("an instant is stored as %T", src)
	}
	return nil
}

func (m millis) value() any { return at(*m.t) }

// at returns the column's value of an instant.
func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// bits is a column that holds exactly as many bytes as the value: a UUID or
// a digest. NULL is the zero value.
type bits []byte

// Scan reads a column.
func (b bits) Scan(src any) error {
	switch v := src.(type) {
	case []byte:
		if len(v) != len(b) {
			return fmt.Errorf("%d bytes are stored where %d belong", len(v), len(b))
		}
		copy(b, v)
	case nil:
		clear(b)
	default:
		return fmt.Errorf("bytes are stored as %T", src)
	}
	return nil
}

func (b bits) value() any { return []byte(b) }

// someBits are bits that are NULL if all of them are zero.
type someBits []byte

// Scan reads a column.
func (b someBits) Scan(src any) error { return bits(b).Scan(src) }

func (b someBits) value() any {
	for _, part := range b {
		if part != 0 {
			return []byte(b)
		}
	}
	return nil
}

// content is a column that is NULL if a content is elsewhere, or there is none.
type content struct {
	bytes     *[]byte
	elsewhere bool
}

// Scan reads a column.
func (c content) Scan(src any) error {
	b, ok := src.([]byte)
	if !ok && src != nil {
		return fmt.Errorf("a content is stored as %T", src)
	}
	*c.bytes = b
	return nil
}

func (c content) value() any {
	if c.elsewhere {
		return nil
	}
	return blob(*c.bytes)
}

// seconds is how long something lasts.
type seconds struct{ d *time.Duration }

// Scan reads a column.
func (s seconds) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a duration is stored as %T", src)
	}
	*s.d = time.Duration(n) * time.Second
	return nil
}

func (s seconds) value() any { return int64(*s.d / time.Second) }

// last is a text after all those that begin as some other does.
const last = "\U0010FFFF"

// orAll returns the limit of a query that takes all if it is below zero.
func orAll(limit int) int64 {
	if limit < 0 {
		return math.MaxInt64
	}
	return int64(limit)
}

// blob is a document's bytes, never NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// number is a column that is NULL for zero.
type number struct{ n *int64 }

// Scan reads a column.
func (n number) Scan(src any) error {
	v, ok := src.(int64)
	if !ok && src != nil {
		return fmt.Errorf("a number is stored as %T", src)
	}
	*n.n = v
	return nil
}

func (n number) value() any { return orNull(*n.n) }

// text is a column that is NULL for "".
type text struct{ s *string }

// Scan reads a column.
func (t text) Scan(src any) error {
	v, ok := src.(string)
	if !ok && src != nil {
		return fmt.Errorf("a text is stored as %T", src)
	}
	*t.s = v
	return nil
}

func (t text) value() any { return orNoText(*t.s) }

// optional is a column that leaves a number unchanged if it is NULL.
type optional struct{ n *int64 }

// Scan reads a column.
func (o optional) Scan(src any) error {
	if src == nil {
		return nil
	}
	return number(o).Scan(src)
}

// orNoText returns the column's value of a text that is NULL for "".
func orNoText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// orNull returns the column's value of a number that is NULL for zero.
func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// folded is a name as it is compared.
type folded struct{ name *string }

func (f folded) value() any { return identity.Fold(*f.name) }

// foldedPath is a path as it is compared.
type foldedPath struct{ path *string }

func (f foldedPath) value() any { return foldPath(*f.path) }

// list is a column that holds a JSON array.
type list[T any] struct{ items *[]T }

// Scan reads a column.
func (l list[T]) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("a list is stored as %T", src)
	}
	*l.items = nil // it may belong to another row
	return json.Unmarshal([]byte(text), l.items)
}

func (l list[T]) value() any { return array(*l.items) }

// array returns items as a JSON array. They are numbers and strings, which
// always encode.
func array[T any](items []T) string {
	if len(items) == 0 {
		return "[]"
	}
	text, err := json.Marshal(items)
	if err != nil {
		panic(fmt.Sprintf("sqlite: %T does not encode: %v", items, err))
	}
	return string(text)
}
