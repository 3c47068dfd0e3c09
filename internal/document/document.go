// Package document reads JSON and YAML 1.2 documents into one tree that keeps
// the order of keys and the place of every value. It helps readers to collect
// every fault of a document with its pointer. It does not know what the
// documents mean.
package document

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"flowdrive/internal/errs"
)

// MaxDepth bounds how deep lists and objects nest
// (docs/contract/drive.md#limits).
const MaxDepth = 64

// maxMarks bounds how many values a document has that a client sends, so that the
// largest takes a second and less than a hundred megabytes. In YAML it bounds the
// characters that can begin a value or a key, those in texts and comments included.
const maxMarks = 200_000

// Kind is the type of a value.
type Kind uint8

// The kinds of values, as JSON has them.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Object
)

var kindNames = [...]string{"null", "true or false", "a number", "a string", "a list", "an object"}

// String returns the kind with its article, as messages need it.
func (k Kind) String() string { return kindNames[k] }

// Node is one value of a document. Text holds a string's value or a number's
// literal; Line and Column count from 1.
type Node struct {
	Kind    Kind
	Bool    bool
	Text    string
	Items   []*Node
	Members []Member
	Line    int
	Column  int
}

// Member is a key of an object with its value. Line and Column are the key's.
type Member struct {
	Key    string
	Value  *Node
	Line   int
	Column int
}

// Get returns the value of the key, or nil if n is not an object or has no such
// key.
func (n *Node) Get(key string) *Node {
	if i := n.Index(key); i >= 0 {
		return n.Members[i].Value
	}
	return nil
}

// Index returns the place of the key among the members, or -1 if n is not an
// object or has no such key.
func (n *Node) Index(key string) int {
	if n == nil || n.Kind != Object {
		return -1
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return i
		}
	}
	return -1
}

// At returns the value at a path of keys and indices, or nil if there is none.
func (n *Node) At(path ...string) *Node {
	for _, step := range path {
		if n == nil || n.Kind != List {
			n = n.Get(step)
			continue
		}
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(n.Items) {
			return nil
		}
		n = n.Items[i]
	}
	return n
}

// Any returns the value as encoding/json would with UseNumber, for libraries
// that want it so. The order of keys is lost.
func (n *Node) Any() any {
	switch n.Kind {
	case Bool:
		return n.Bool
	case Number:
		return json.Number(n.Text)
	case String:
		return n.Text
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Any()
		}
		return out
	case Object:
		out := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			out[m.Key] = m.Value.Any()
		}
		return out
	case Null:
	}
	return nil
}

// AppendJSON appends the value as compact JSON, keys in their order.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch n.Kind {
	case Bool:
		return strconv.AppendBool(dst, n.Bool)
	case Number:
		return append(dst, n.Text...)
	case String:
		return AppendString(dst, n.Text)
	case List:
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range n.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, m.Key), ':')
			dst = m.Value.AppendJSON(dst)
		}
		return append(dst, '}')
	case Null:
	}
	return append(dst, "null"...)
}

// AppendString appends s as a JSON string (RFC 8259, section 7). It escapes
// what JSON requires and the two separators that JavaScript takes for the end
// of a line, but not the characters that only HTML needs escaped. Bytes that
// are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = appendEscape(append(dst, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == lineSeparator:
			dst = append(append(dst, s[start:i]...), `\u2028`...)
			start = i + size
		case r == paragraphSeparator:
			dst = append(append(dst, s[start:i]...), `\u2029`...)
			start = i + size
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

const (
	lineSeparator      = '\u2028'
	paragraphSeparator = '\u2029'
)

// appendEscape appends the shortest escape of a control character, quote or
// backslash.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// prepare checks what holds for every text document and returns it without
// its byte order mark.
func prepare(data []byte) ([]byte, error) {
	const mark = "\xef\xbb\xbf"
	if len(data) >= len(mark) && string(data[:len(mark)]) == mark {
		data = data[len(mark):]
	}
	if !utf8.Valid(data) {
		return nil, errs.New(errs.NotParseable, "The document is not UTF-8 text; save it as UTF-8.")
	}
	return data, nil
}

// notParseable returns the error of a text that is not a document of the
// language, with the place of the fault.
func notParseable(language string, line, column int, format string, args ...any) *errs.Error {
	detail := strings.TrimSuffix(fmt.Sprintf(format, args...), ".")
	return &errs.Error{
		Kind:   errs.NotParseable,
		Detail: fmt.Sprintf("The document is not %s: line %d, column %d: %s.", language, line, column, detail),
		Extra:  map[string]any{"line": line, "column": column},
	}
}

// keySet notices a key that appears twice in an object. Small objects are
// searched, large ones get a map.
type keySet map[string]struct{}

// add reports whether the key is new to the members collected so far.
func (s *keySet) add(members []Member, key string) bool {
	const large = 16
	if len(members) < large {
		for i := range members {
			if members[i].Key == key {
				return false
			}
		}
		return true
	}
	if *s == nil {
		*s = make(keySet, 2*large)
		for i := range members {
			(*s)[members[i].Key] = struct{}{}
		}
	}
	_, twice := (*s)[key]
	(*s)[key] = struct{}{}
	return !twice
}
