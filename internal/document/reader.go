package document

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"flowdrive/internal/errs"
)

// Faults collects what is wrong with a document.
type Faults struct {
	list []errs.Fault
}

// Add notes a fault at the pointer; at gives its place and may be nil.
func (f *Faults) Add(at *Node, pointer string, code errs.Code, format string, args ...any) {
	fault := errs.Fault{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)}
	if at != nil {
		fault.Line, fault.Column = at.Line, at.Column
	}
	f.list = append(f.list, fault)
}

// AddKey notes a fault of a key rather than of its value.
func (f *Faults) AddKey(at *Member, pointer string, code errs.Code, format string, args ...any) {
	fault := errs.Fault{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)}
	fault.Line, fault.Column = at.Line, at.Column
	f.list = append(f.list, fault)
}

// Extend adds words to the faults of a kind for which more returns some.
func (f *Faults) Extend(code errs.Code, more func(pointer string) string) {
	for i := range f.list {
		if f.list[i].Code == code {
			f.list[i].Detail += more(f.list[i].Pointer)
		}
	}
}

// List returns the faults in the order in which they were found.
func (f *Faults) List() []errs.Fault { return f.list }

// Err returns the faults as an error of kind Invalid, or nil.
func (f *Faults) Err() error { return errs.InvalidDocument(f.list) }

// Pointer returns the JSON pointer (RFC 6901) of key below parent.
func Pointer(parent, key string) string {
	if strings.ContainsAny(key, "~/") {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
	}
	return parent + "/" + key
}

// Value is a node together with its pointer and the faults it reports to. The
// node is nil if the document has no such value.
type Value struct {
	Node    *Node
	Pointer string
	Faults  *Faults
}

// Root returns the document's root as a value that reports to faults.
func Root(n *Node, faults *Faults) Value { return Value{Node: n, Faults: faults} }

// Given reports whether the value stands in the document and is not null.
func (v Value) Given() bool { return v.Node != nil && v.Node.Kind != Null }

// Fail notes a fault at the value.
func (v Value) Fail(code errs.Code, format string, args ...any) {
	v.Faults.Add(v.Node, v.Pointer, code, format, args...)
}

// Is reports whether the value is of the kind. If not, it notes a fault.
func (v Value) Is(kind Kind) bool {
	if v.Node == nil {
		v.Fail(errs.CodeRequired, "is required and must be %s", kind)
		return false
	}
	if v.Node.Kind != kind {
		v.Fail(errs.CodeType, "must be %s, not %s", kind, v.Node.Kind)
		return false
	}
	return true
}

// Get returns the value of the key below v. The value is absent if there is no
// such key.
func (v Value) Get(key string) Value {
	return Value{Node: v.Node.Get(key), Pointer: Pointer(v.Pointer, key), Faults: v.Faults}
}

// Item returns the i-th item of a list.
func (v Value) Item(i int) Value {
	return Value{Node: v.Node.Items[i], Pointer: v.Pointer + "/" + strconv.Itoa(i), Faults: v.Faults}
}

// Member returns the i-th member of an object with its key.
func (v Value) Member(i int) (key string, member Value) {
	m := v.Node.Members[i]
	return m.Key, Value{Node: m.Value, Pointer: Pointer(v.Pointer, m.Key), Faults: v.Faults}
}

// Str returns the value as a string. If it is something else, ok is false and a
// fault is noted.
func (v Value) Str() (s string, ok bool) {
	if !v.Is(String) {
		return "", false
	}
	return v.Node.Text, true
}

// Truth returns the value as a boolean.
func (v Value) Truth() (b, ok bool) {
	if !v.Is(Bool) {
		return false, false
	}
	return v.Node.Bool, true
}

// Text reads an optional string of at most that many bytes: what is absent
// leaves it as it is, null resets it.
func (v Value) Text(to *string, most int) {
	switch {
	case v.Node == nil:
	case v.Node.Kind == Null:
		*to = ""
	default:
		s, ok := v.Str()
		if ok && len(s) > most {
			v.Fail(errs.CodeRange, "must have at most %d bytes", most)
		} else if ok {
			*to = s
		}
	}
}

// Flag reads an optional boolean in the same way.
func (v Value) Flag(to *bool) {
	switch {
	case v.Node == nil:
	case v.Node.Kind == Null:
		*to = false
	default:
		if b, ok := v.Truth(); ok {
			*to = b
		}
	}
}

// Int returns the value as a whole number from lo to hi. A string that holds
// one is taken for it ("300"), a boolean is not.
func (v Value) Int(lo, hi int64) (i int64, ok bool) {
	if v.Node == nil {
		v.Fail(errs.CodeRequired, "is required and must be a whole number")
		return 0, false
	}
	if v.Node.Kind != Number && v.Node.Kind != String {
		v.Fail(errs.CodeType, "must be a whole number, not %s", v.Node.Kind)
		return 0, false
	}
	i, err := parseWhole(v.Node.Text)
	if err != nil {
		v.Fail(errs.CodeType, "must be a whole number, not %q", clip(v.Node.Text))
		return 0, false
	}
	if i < lo || i > hi {
		v.Fail(errs.CodeRange, "must be %s, not %d", span(lo, hi), i)
		return 0, false
	}
	return i, true
}

func span(lo, hi int64) string {
	switch {
	case hi == math.MaxInt64:
		return fmt.Sprintf("%d or more", lo)
	case lo == math.MinInt64:
		return fmt.Sprintf("at most %d", hi)
	}
	return fmt.Sprintf("from %d to %d", lo, hi)
}

// parseWhole accepts an optional sign and digits, also written as a number
// without fraction (300.0, 3e2), as JSON writers may.
func parseWhole(text string) (int64, error) {
	i, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err == nil {
		return i, nil
	}
	if !strings.ContainsAny(text, ".eE") {
		return 0, err
	}
	f, ferr := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if ferr != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, err
	}
	return int64(f), nil
}

// NamesSchema reports whether a member of a document's root names the JSON Schema
// that the document follows. Readers pass it over.
func NamesSchema(m *Member) bool { return m.Key == "$schema" && m.Value.Kind == String }

// Only notes a fault for every key of the object that is not among known,
// with the nearest known one. A document may name its schema at its root, as editors
// write it; that is passed over.
func (v Value) Only(known ...string) {
	if v.Node == nil || v.Node.Kind != Object {
		return
	}
next:
	for i := range v.Node.Members {
		m := &v.Node.Members[i]
		if v.Pointer == "" && NamesSchema(m) {
			continue
		}
		for _, k := range known {
			if k == m.Key {
				continue next
			}
		}
		v.Faults.AddKey(m, Pointer(v.Pointer, m.Key), errs.CodeUnknownField, "is not a known field%s", Hint(m.Key, known))
	}
}

// Hint returns "; did you mean X?" for the word of known that is most like the
// given one, or "" if none is like it.
func Hint(word string, known []string) string {
	best, distance := "", min((len(word)+1)/3, 2)+1
	sorted := append([]string(nil), known...)
	sort.Strings(sorted)
	for _, k := range sorted {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k)); d < distance && d < max(len(k), 2) {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// editDistance is Levenshtein's, in which two neighbours that have changed places count
// once, cut off for long words, which are near to nothing.
func editDistance(a, b string) int {
	const long = 64
	if len(a) > long || len(b) > long {
		return long
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			next[j] = min(row[j], next[j-1]) + 1
			if a[i-1] == b[j-1] {
				next[j] = min(next[j], row[j-1])
			} else {
				next[j] = min(next[j], row[j-1]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

func clip(text string) string { return errs.Clip(text, 60) }
