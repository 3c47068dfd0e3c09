package document

import (
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseJSON reads one JSON document (RFC 8259). Errors are of kind NotParseable
// and name line and column: text that is not JSON, a key that appears twice,
// nesting deeper than MaxDepth, bytes that are not UTF-8.
//
// Apart from these it accepts what encoding/json accepts. It does not use that
// package because every request with a body passes here: it is faster, and it
// knows the line and column of every value.
func ParseJSON(data []byte) (*Node, error) { return parseJSON(data, math.MaxInt) }

// parseJSON reads a document of at most so many values.
func parseJSON(data []byte, most int) (*Node, error) {
	data, err := prepare(data)
	if err != nil {
		return nil, err
	}
	p := jsonParser{text: string(data), line: 1, column: 1, left: most}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.text) {
		return nil, p.unexpected("where the document should end")
	}
	return n, nil
}

// jsonParser reads text from at onwards. line and column are the place of
// text[seen], which is never behind at by more than the last token, so that
// each character is counted once.
type jsonParser struct {
	text         string
	at           int
	seen         int
	line, column int

	left    int      // values that may come
	nodes   []Node   // made ahead, so that one allocation serves several
	items   []*Node  // of the lists being read, innermost last
	members []Member // of the objects being read, innermost last
}

// space skips white space and counts lines; a line ends nowhere else, since
// no string holds a line feed.
func (p *jsonParser) space() {
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case ' ', '\t', '\r':
		case '\n':
			p.line++
			p.column = 1
			p.seen = p.at + 1
		default:
			return
		}
	}
}

// place returns the line and column of text[at]. Columns count characters.
func (p *jsonParser) place() (line, column int) {
	p.column += utf8.RuneCountInString(p.text[p.seen:p.at])
	p.seen = p.at
	return p.line, p.column
}

// node returns a new node that begins here.
func (p *jsonParser) node(kind Kind) *Node {
	if len(p.nodes) == 0 {
		const fewest, most = 8, 256
		p.nodes = make([]Node, min(max(fewest, (len(p.text)-p.at)/16), most))
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	n.Kind = kind
	n.Line, n.Column = p.place()
	return n
}

func (p *jsonParser) fail(format string, args ...any) error {
	line, column := p.place()
	return notParseable("JSON", line, column, format, args...)
}

// unexpected is the error of the character here; where says what is expected
// instead.
func (p *jsonParser) unexpected(where string) error {
	if p.at >= len(p.text) {
		return p.fail("the document ends too early, %s", where)
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return p.fail("unexpected %q %s", r, where)
}

func (p *jsonParser) value(depth int) (*Node, error) {
	p.space()
	if p.at >= len(p.text) {
		return nil, p.unexpected("where a value is expected")
	}
	if p.left--; p.left < 0 {
		return nil, p.fail("the document has more than %d values", maxMarks)
	}
	switch c := p.text[p.at]; c {
	case '{', '[':
		if depth >= MaxDepth {
			return nil, p.fail("lists and objects nest deeper than %d", MaxDepth)
		}
		if c == '[' {
			return p.list(depth)
		}
		return p.object(depth)
	case '"':
		n := p.node(String)
		var err error
		n.Text, err = p.str()
		return n, err
	case 't':
		return p.word(Bool, "true")
	case 'f':
		return p.word(Bool, "false")
	case 'n':
		return p.word(Null, "null")
	default:
		if c == '-' || isDigit(c) {
			return p.number()
		}
	}
	return nil, p.unexpected("where a value is expected")
}

func (p *jsonParser) word(kind Kind, word string) (*Node, error) {
	n := p.node(kind)
	for i := range len(word) {
		if p.at >= len(p.text) || p.text[p.at] != word[i] {
			return nil, p.unexpected("in the word " + word)
		}
		p.at++
	}
	n.Bool = word == "true"
	return n, nil
}

// number reads a number's literal and keeps it (RFC 8259, section 6).
func (p *jsonParser) number() (*Node, error) {
	n := p.node(Number)
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == '0' {
		p.at++
	} else if !p.digits() {
		return nil, p.unexpected("where a digit is expected")
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		if !p.digits() {
			return nil, p.unexpected("where a digit is expected")
		}
	}
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if !p.digits() {
			return nil, p.unexpected("where a digit is expected")
		}
	}
	n.Text = p.text[start:p.at]
	return n, nil
}

// digits skips digits and reports whether there were any.
func (p *jsonParser) digits() bool {
	start := p.at
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
	return p.at > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (p *jsonParser) list(depth int) (*Node, error) {
	n := p.node(List)
	base := len(p.items)
	p.at++
	for p.space(); ; p.space() {
		if p.at < len(p.text) && p.text[p.at] == ']' && len(p.items) == base {
			break
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.items = append(p.items, item)
		p.space()
		if p.at < len(p.text) && p.text[p.at] == ',' {
			p.at++
			continue
		}
		if p.at < len(p.text) && p.text[p.at] == ']' {
			break
		}
		return nil, p.unexpected("where ',' or ']' is expected")
	}
	p.at++
	if len(p.items) > base {
		n.Items = append([]*Node(nil), p.items[base:]...)
		p.items = p.items[:base]
	}
	return n, nil
}

func (p *jsonParser) object(depth int) (*Node, error) {
	n := p.node(Object)
	base := len(p.members)
	var keys keySet
	p.at++
	for p.space(); ; p.space() {
		if p.at < len(p.text) && p.text[p.at] == '}' && len(p.members) == base {
			break
		}
		member, err := p.member(depth, base, &keys)
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, member)
		p.space()
		if p.at < len(p.text) && p.text[p.at] == ',' {
			p.at++
			continue
		}
		if p.at < len(p.text) && p.text[p.at] == '}' {
			break
		}
		return nil, p.unexpected("where ',' or '}' is expected")
	}
	p.at++
	if len(p.members) > base {
		n.Members = append([]Member(nil), p.members[base:]...)
		p.members = p.members[:base]
	}
	return n, nil
}

// member reads a key and its value; the keys before it begin at base.
func (p *jsonParser) member(depth, base int, keys *keySet) (m Member, err error) {
	if p.at >= len(p.text) || p.text[p.at] != '"' {
		return m, p.unexpected("where a key in quotes is expected")
	}
	m.Line, m.Column = p.place()
	if m.Key, err = p.str(); err != nil {
		return m, err
	}
	if !keys.add(p.members[base:], m.Key) {
		return m, notParseable("JSON", m.Line, m.Column, "the key %q appears twice", clip(m.Key))
	}
	p.space()
	if p.at >= len(p.text) || p.text[p.at] != ':' {
		return m, p.unexpected("where ':' is expected")
	}
	p.at++
	m.Value, err = p.value(depth + 1)
	return m, err
}

// str reads a string; p stands on its first quote (RFC 8259, section 7). A
// string without escapes shares the document's memory.
func (p *jsonParser) str() (string, error) {
	p.at++
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return p.text[start : p.at-1], nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.unexpected("in a string, where it must be escaped")
		}
	}
	return "", p.unexpected("inside a string")
}

// escaped reads the rest of a string from its first backslash on.
func (p *jsonParser) escaped(start int) (string, error) {
	var b strings.Builder
	b.WriteString(p.text[start:p.at])
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return b.String(), nil
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		case c < 0x20:
			return "", p.unexpected("in a string, where it must be escaped")
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	return "", p.unexpected("inside a string")
}

// escape reads one escape. Half a surrogate pair stands for U+FFFD, as
// encoding/json has it.
func (p *jsonParser) escape() (rune, error) {
	p.at++
	if p.at >= len(p.text) {
		return 0, p.unexpected("inside a string")
	}
	c := p.text[p.at]
	if c == 'u' {
		p.at++
		return p.unicode()
	}
	const names, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	i := strings.IndexByte(names, c)
	if i < 0 {
		return 0, p.unexpected("after a backslash")
	}
	p.at++
	return rune(values[i]), nil
}

func (p *jsonParser) unicode() (rune, error) {
	r, err := p.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !strings.HasPrefix(p.text[p.at:], `\u`) {
		return utf8.RuneError, nil
	}
	back := p.at
	p.at += 2
	second, err := p.hex()
	if err != nil {
		return 0, err
	}
	if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
		return pair, nil
	}
	p.at = back
	return utf8.RuneError, nil
}

// hex reads the four digits of an escape.
func (p *jsonParser) hex() (rune, error) {
	var r rune
	for range 4 {
		if p.at >= len(p.text) {
			return 0, p.unexpected("inside a string")
		}
		switch c := p.text[p.at]; {
		case isDigit(c):
			r = r<<4 + rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 + rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 + rune(c-'A'+10)
		default:
			return 0, p.unexpected("where a hexadecimal digit is expected")
		}
		p.at++
	}
	return r, nil
}
