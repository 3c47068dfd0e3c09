// Package document reads JSON and YAML 1.2 documents into one tree that
// keeps the order of keys and the place of every value, and helps its
// readers to collect every fault of a document, each with its pointer. It
// knows nothing of what the documents mean.
package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"flowdrive/errs"
)

// MaxDepth bounds how deep lists and objects nest (design: the drive's
// contract, section 7).
const MaxDepth = 64

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

var kindNames = [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}

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

// Member is a key of an object with its value.
type Member struct {
	Key   string
	Value *Node
}

// Get returns the value of the key, or nil where n is no object or has none.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return n.Members[i].Value
		}
	}
	return nil
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

// AppendString appends s as a JSON string, without escaping what only HTML
// minds.
func AppendString(dst []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("document: a string did not encode: " + err.Error())
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// ParseJSON reads one JSON document (RFC 8259). Errors are of kind
// NotParseable and name line and column: text that is no JSON, a key that
// stands twice, nesting deeper than MaxDepth, bytes that are no UTF-8.
func ParseJSON(data []byte) (*Node, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return nil, errs.New(errs.NotParseable, "The document is not UTF-8 text; save it as UTF-8.")
	}
	p := jsonParser{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); err != io.EOF {
		return nil, p.fail("something follows the end of the document")
	}
	return n, nil
}

type jsonParser struct {
	data      []byte
	dec       *json.Decoder
	seen      int // data[:seen] is counted in line and lineStart
	line      int
	lineStart int
}

// next returns the next token and where it begins.
func (p *jsonParser) next() (tok json.Token, line, column int, err error) {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[at]) >= 0 {
		at++
	}
	line, column = p.place(at)
	tok, err = p.dec.Token()
	if err != nil {
		detail := err.Error()
		if se, ok := err.(*json.SyntaxError); ok {
			line, column = p.place(min(max(int(se.Offset)-1, 0), len(p.data)))
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			line, column = p.place(len(p.data))
			detail = "the document ends too early"
		}
		err = notParseable("JSON", line, column, strings.TrimPrefix(detail, "json: "))
	}
	return tok, line, column, err
}

// place returns the line and column of an offset. Offsets may step back
// within a line only to what was counted already, which counts afresh.
func (p *jsonParser) place(offset int) (line, column int) {
	if offset < p.seen {
		p.seen, p.line, p.lineStart = 0, 1, 0
	}
	for ; p.seen < offset; p.seen++ {
		if p.data[p.seen] == '\n' {
			p.line++
			p.lineStart = p.seen + 1
		}
	}
	return p.line, utf8.RuneCount(p.data[p.lineStart:offset]) + 1
}

func (p *jsonParser) fail(format string, args ...any) error {
	line, column := p.place(int(p.dec.InputOffset()))
	return notParseable("JSON", line, column, fmt.Sprintf(format, args...))
}

func notParseable(language string, line, column int, detail string) error {
	return &errs.Error{
		Kind:   errs.NotParseable,
		Detail: fmt.Sprintf("The document is not %s: line %d, column %d: %s.", language, line, column, strings.TrimSuffix(detail, ".")),
		Extra:  map[string]any{"line": line, "column": column},
	}
}

func (p *jsonParser) value(depth int) (*Node, error) {
	tok, line, column, err := p.next()
	if err != nil {
		return nil, err
	}
	n := &Node{Line: line, Column: column}
	switch t := tok.(type) {
	case nil:
		n.Kind = Null
	case bool:
		n.Kind, n.Bool = Bool, t
	case json.Number:
		n.Kind, n.Text = Number, t.String()
	case string:
		n.Kind, n.Text = String, t
	case json.Delim:
		if depth >= MaxDepth {
			return nil, p.fail("lists and objects nest deeper than %d", MaxDepth)
		}
		if t == '[' {
			n.Kind = List
			err = p.list(n, depth)
		} else {
			n.Kind = Object
			err = p.object(n, depth)
		}
	}
	return n, err
}

func (p *jsonParser) list(n *Node, depth int) error {
	for p.dec.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, item)
	}
	_, _, _, err := p.next()
	return err
}

func (p *jsonParser) object(n *Node, depth int) error {
	keys := keySet{}
	for p.dec.More() {
		tok, line, column, err := p.next()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return notParseable("JSON", line, column, "an object's key must be a string")
		}
		if !keys.add(n, key) {
			return notParseable("JSON", line, column, fmt.Sprintf("the key %q stands twice", key))
		}
		value, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.Members = append(n.Members, Member{Key: key, Value: value})
	}
	_, _, _, err := p.next()
	return err
}

// keySet notices a key that stands twice. Small objects are searched, large
// ones get a map.
type keySet map[string]struct{}

func (s *keySet) add(n *Node, key string) bool {
	const large = 16
	if len(n.Members) < large {
		return n.Get(key) == nil
	}
	if len(*s) == 0 {
		*s = make(keySet, 2*large)
		for _, m := range n.Members {
			(*s)[m.Key] = struct{}{}
		}
	}
	_, twice := (*s)[key]
	(*s)[key] = struct{}{}
	return !twice
}
