package sqlite

import (
	"encoding/json"
	"fmt"
	"time"

	"flowdrive/store"
)

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

// optional is a column that leaves a number as it is where it is NULL.
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

// orNone returns the column's value of a UUID that is NULL for none.
func orNone(u store.UUID) any {
	if u == (store.UUID{}) {
		return nil
	}
	return u[:]
}

// list is a column that holds a JSON array.
type list[T any] struct{ items *[]T }

// Scan reads a column.
func (l list[T]) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("a list is stored as %T", src)
	}
	return json.Unmarshal([]byte(text), l.items)
}

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
