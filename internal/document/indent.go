package document

import (
	"bytes"
	"slices"
)

// maxIndented is how deep a form is indented. What lies deeper stays on its line,
// so that the indentation of a deep form is not many times its content.
const maxIndented = 6

// Form renders a value of the program's own as a complete form: indented JSON
// that ends with a line feed. What does not encode is a defect of its type.
func Form(v any) []byte { return Indent(Line(v)) }

// WithMember returns a complete form, an object that has members, with another one as
// its last. The value is JSON, which may be followed by a line feed.
func WithMember(form []byte, key string, value []byte) []byte {
	head := bytes.TrimSuffix(bytes.TrimRight(form, "\n"), []byte("}"))
	member := append(AppendString([]byte(","), key), ':')
	return Indent(slices.Concat(head, member, bytes.TrimRight(value, "\n"), []byte("}\n")))
}

// Indent returns a JSON text as complete forms are written, for people who open
// them in an editor: every member of an object on a line of its own, indented by
// two blanks a level; lists of plain values on one line. The text must be valid
// JSON; it may be followed by a line feed, which is kept.
func Indent(text []byte) []byte {
	w := indenter{in: text, out: make([]byte, 0, len(text)+len(text)/2)}
	for w.at < len(w.in) {
		w.next()
	}
	if len(text) > 0 && text[len(text)-1] == '\n' {
		w.out = append(w.out, '\n')
	}
	return w.out
}

// indenter writes a JSON text again, token by token.
type indenter struct {
	in, out []byte
	at      int
	depth   int
	inline  int // how many of the innermost open lists and objects are on one line
}

// next writes the next token.
func (w *indenter) next() {
	c := w.in[w.at]
	switch c {
	case '"':
		w.text()
		return
	case '{', '[':
		w.open(c)
	case '}', ']':
		w.end(c)
	case ',':
		w.out = append(w.out, ',')
		if w.inline > 0 {
			w.out = append(w.out, ' ')
		} else {
			w.line()
		}
	case ':':
		w.out = append(w.out, ':', ' ')
	case ' ', '\t', '\r', '\n':
	default:
		w.out = append(w.out, c)
	}
	w.at++
}

// text writes a string.
func (w *indenter) text() {
	from := w.at
	for w.at++; w.at < len(w.in) && w.in[w.at] != '"'; w.at++ {
		if w.in[w.at] == '\\' {
			w.at++
		}
	}
	w.at = min(w.at+1, len(w.in))
	w.out = append(w.out, w.in[from:w.at]...)
}

// open writes the beginning of a list or object.
func (w *indenter) open(c byte) {
	w.out = append(w.out, c)
	w.depth++
	switch {
	case w.inline > 0 || w.depth > maxIndented || w.plain(c):
		w.inline++
	default:
		w.line()
	}
}

// plain reports whether what begins here stays on one line: what is empty, and a
// list without lists and objects.
func (w *indenter) plain(c byte) bool {
	for i := w.at + 1; i < len(w.in); i++ {
		switch w.in[i] {
		case ']', '}':
			return true
		case '{', '[':
			return false
		case ' ', '\t', '\r', '\n':
		case '"':
			if c == '{' {
				return false
			}
			for i++; i < len(w.in) && w.in[i] != '"'; i++ {
				if w.in[i] == '\\' {
					i++
				}
			}
		}
	}
	return true
}

// end writes the end of a list or object.
func (w *indenter) end(c byte) {
	w.depth--
	if w.inline > 0 {
		w.inline--
	} else {
		w.line()
	}
	w.out = append(w.out, c)
}

// line begins a line.
func (w *indenter) line() {
	const blanks = "            " // of maxIndented levels
	w.out = slices.Grow(w.out, len(blanks)+1)
	w.out = append(append(w.out, '\n'), blanks[:2*w.depth]...)
}
