package label

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// Value is the value of an XATTR: a string, a number or a boolean.
type Value struct {
	Kind document.Kind // String, Number or Bool
	Text string        // the string, the number's literal, "true" or "false"
}

// Equal reports whether two values are the same. Numbers are, however they are
// written.
func (v Value) Equal(other Value) bool {
	if v.Kind != document.Number || other.Kind != document.Number {
		return v == other
	}
	a, err := strconv.ParseFloat(v.Text, 64)
	if err != nil {
		return v == other
	}
	b, err := strconv.ParseFloat(other.Text, 64)
	return err == nil && a == b
}

// Text returns a string value.
func Text(s string) Value { return Value{Kind: document.String, Text: s} }

// AppendJSON appends the value as JSON.
func (v Value) AppendJSON(dst []byte) []byte {
	if v.Kind == document.String {
		return document.AppendString(dst, v.Text)
	}
	return append(dst, v.Text...)
}

// XAttr is a key of a case's dictionary with its value.
type XAttr struct {
	Key   string
	Value Value
}

// Dict is the XATTRs of a case or the xattrDict of a schedule entry. Its order
// is that of the document if it was read from one, and by key in a case.
type Dict []XAttr

// Get returns the value of the key.
func (d Dict) Get(key string) (Value, bool) {
	for i := range d {
		if d[i].Key == key {
			return d[i].Value, true
		}
	}
	return Value{}, false
}

// Set returns the dictionary, which must be sorted, with the key set.
func (d Dict) Set(key string, v Value) Dict {
	i, found := slices.BinarySearchFunc(d, key, func(x XAttr, k string) int { return strings.Compare(x.Key, k) })
	if found {
		out := slices.Clone(d)
		out[i].Value = v
		return out
	}
	return slices.Insert(slices.Clone(d), i, XAttr{Key: key, Value: v})
}

// Remove returns the dictionary without the key.
func (d Dict) Remove(key string) Dict {
	return slices.DeleteFunc(slices.Clone(d), func(x XAttr) bool { return x.Key == key })
}

// Sorted returns the dictionary by key.
func (d Dict) Sorted() Dict {
	out := slices.Clone(d)
	slices.SortFunc(out, func(a, b XAttr) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// AppendJSON appends the dictionary as a JSON object, in its order.
func (d Dict) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range d {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(document.AppendString(dst, d[i].Key), ':')
		dst = d[i].Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// MarshalJSON implements json.Marshaler.
func (d Dict) MarshalJSON() ([]byte, error) { return d.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler; it keeps the order.
func (d *Dict) UnmarshalJSON(data []byte) error {
	n, err := document.ParseJSON(data)
	if err != nil {
		return err
	}
	if n.Kind != document.Object && n.Kind != document.Null {
		return fmt.Errorf("XATTRs must be an object, not %s", n.Kind)
	}
	*d = nil
	for _, m := range n.Members {
		v, ok := ValueOf(m.Value)
		if !ok {
			return fmt.Errorf("the XATTR %q is %s", m.Key, m.Value.Kind)
		}
		*d = append(*d, XAttr{Key: m.Key, Value: v})
	}
	return nil
}

// ReadValue reads the value of an XATTR from a document. Null, lists and
// objects are faults of the document, and so are numbers that no double can
// hold, because neither expressions nor many readers of JSON can use them (RFC
// 8259, section 6).
func ReadValue(v document.Value) (value Value, ok bool) {
	if v.Node == nil {
		v.Fail(errs.CodeRequired, "is required and must be a string, a number or a boolean")
		return Value{}, false
	}
	value, ok = ValueOf(v.Node)
	if !ok {
		v.Fail(errs.CodeType, "must be a string, a number or a boolean, not %s", v.Node.Kind)
		return Value{}, false
	}
	if !value.Finite() {
		v.Fail(errs.CodeRange, "must be a number of at most 1.8e308, the range of a double")
		return Value{}, false
	}
	return value, true
}

// Finite reports whether the value is not a number, or a number that a double
// can hold.
func (v Value) Finite() bool {
	if v.Kind != document.Number {
		return true
	}
	_, err := strconv.ParseFloat(v.Text, 64)
	return err == nil
}

// ValueOf returns a node as a value; ok is false if it is not a value of an
// XATTR.
func ValueOf(n *document.Node) (v Value, ok bool) {
	switch n.Kind {
	case document.String, document.Number:
		return Value{Kind: n.Kind, Text: n.Text}, true
	case document.Bool:
		return Value{Kind: n.Kind, Text: fmt.Sprint(n.Bool)}, true
	case document.Null, document.List, document.Object:
	}
	return Value{}, false
}

var (
	_ json.Marshaler   = Dict{}
	_ json.Unmarshaler = (*Dict)(nil)
)
