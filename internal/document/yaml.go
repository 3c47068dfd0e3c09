package document

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// Bounds on YAML documents. The library that reads them takes time that grows
// with the square of the keys of a mapping and of the tabs in a line, and a
// good deal of memory for each token; these keep a document of the greatest
// size that is let in at all to a second and some ten megabytes.
const (
	maxYAMLMarks  = 200_000    // characters that can begin a token, those in texts and comments included
	maxYAMLTokens = 50_000     // some 15,000 lines of a usual document
	maxYAMLTabs   = 50_000_000 // tabs of a line times its length, over all lines
	maxAliasNodes = 10_000     // values that aliases stand for, all together
)

// ParseYAML reads one YAML 1.2 document by the core schema (YAML 1.2.2,
// section 10.3): yes and no are strings, a number without fraction is one in
// base ten whatever its zeros. Keys are strings. Anchors, aliases and merge
// keys are resolved. Errors are of kind NotParseable and name line and column:
// text that is no YAML, a key that stands twice, nesting deeper than MaxDepth,
// what JSON cannot hold (.inf, .nan, keys that are no scalars, tags beyond the
// core schema), several documents, an alias inside its own anchor, and more
// than the bounds above. An empty document is null.
func ParseYAML(data []byte) (n *Node, err error) {
	data, err = prepare(data)
	if err != nil {
		return nil, err
	}
	// The library is not trusted with every text: a panic of its own is a
	// document that cannot be read.
	defer func() {
		if r := recover(); r != nil {
			e := notParseable("YAML", 1, 1, "it cannot be read; try it as JSON")
			e.Err = fmt.Errorf("yaml: %v", r)
			n, err = nil, e
		}
	}()
	y := newYAMLReader(string(data))
	if err := y.checkText(); err != nil {
		return nil, err
	}
	tokens, err := y.scan(string(data))
	if err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, y.syntaxError(err)
	}
	for _, doc := range file.Docs {
		if _, directive := doc.Body.(*ast.DirectiveNode); directive || doc.Body == nil {
			continue
		}
		return y.value(doc.Body, 0)
	}
	return &Node{Kind: Null, Line: 1, Column: 1}, nil
}

// yamlReader makes nodes of the library's tree.
type yamlReader struct {
	text     []rune
	starts   []int // where each line begins in text
	anchors  map[string]*Node
	open     map[string]bool // anchors whose value is being read
	expanded int             // values that aliases have stood for
}

func newYAMLReader(text string) *yamlReader {
	y := &yamlReader{text: []rune(text), starts: []int{0}, anchors: map[string]*Node{}, open: map[string]bool{}}
	for i, r := range y.text {
		if r == '\n' || r == '\r' && (i+1 == len(y.text) || y.text[i+1] != '\n') {
			y.starts = append(y.starts, i+1)
		}
	}
	return y
}

// fail returns an error at an offset of the text.
func (y *yamlReader) fail(offset int, format string, args ...any) error {
	line, _ := slices.BinarySearch(y.starts, offset+1)
	return notParseable("YAML", line, offset-y.starts[line-1]+1, format, args...)
}

// failAt returns an error at a token.
func (y *yamlReader) failAt(tk *token.Token, format string, args ...any) error {
	line, column := y.place(tk)
	return notParseable("YAML", line, column, format, args...)
}

// syntaxError returns an error of the library as one of ours.
func (y *yamlReader) syntaxError(err error) error {
	var at interface {
		error
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) && at.GetToken() != nil {
		return y.failAt(at.GetToken(), "%s", printable(at.GetMessage()))
	}
	return notParseable("YAML", 1, 1, "%s", printable(err.Error()))
}

// printable writes the control characters of a message as escapes.
func printable(message string) string {
	if strings.IndexFunc(message, unicode.IsControl) < 0 {
		return message
	}
	var b strings.Builder
	for _, r := range message {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(fmt.Sprintf("%q", r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// place returns the line and column of a token. The library's columns fall
// short after tabs and tags: where the token's text does not stand there, it
// is looked for a little further on.
func (y *yamlReader) place(tk *token.Token) (line, column int) {
	if tk == nil || tk.Position == nil {
		return 1, 1
	}
	line, column = max(tk.Position.Line, 1), max(tk.Position.Column, 1)
	if offset := y.offset(tk); offset >= 0 {
		column = offset - y.starts[line-1] + 1
	}
	return line, column
}

// offset returns where a token stands in the text, or -1.
func (y *yamlReader) offset(tk *token.Token) int {
	line, column := max(tk.Position.Line, 1), max(tk.Position.Column, 1)
	first := leading(tk)
	if line > len(y.starts) || len(first) == 0 {
		return -1
	}
	from := y.starts[line-1] + column - 1
	to := len(y.text)
	if line < len(y.starts) {
		to = y.starts[line]
	}
	const near = 256
	for at := from; at < min(to, from+near); at++ {
		if at+len(first) <= to && slices.Equal(y.text[at:at+len(first)], first) {
			return at
		}
	}
	return -1
}

// leading returns the first characters of a token as the text has them.
func leading(tk *token.Token) []rune {
	switch tk.Type {
	case token.ImplicitNullType, token.InvalidType:
		return nil
	case token.SingleQuoteType:
		return []rune{'\''}
	case token.DoubleQuoteType:
		return []rune{'"'}
	}
	text, _, _ := strings.Cut(strings.TrimLeft(tk.Origin, " \t\r\n"), "\n")
	const enough = 16
	first := []rune(strings.TrimRight(text, " \t\r"))
	return first[:min(len(first), enough)]
}

// checkText refuses what no YAML document holds, and what would take the
// library too long, before it is let loose on the text.
func (y *yamlReader) checkText() error {
	marks, work := 0, 0
	tabs, start := 0, 0
	for i, r := range y.text {
		switch r {
		case '\n', '\r':
			work += tabs * (i - start)
			tabs, start = 0, i
		case '\t':
			tabs++
		case '[', ']', '{', '}', ',', ':', '-', '?', '&', '*', '!', '|', '>', '%', '\'', '"', '#', '<', '.', '@', '`':
			if marks++; marks > maxYAMLMarks {
				return y.fail(i, "the document has more than %d marks; send it as JSON", maxYAMLMarks)
			}
		default:
			if r < 0x20 || r == 0x7f {
				return y.fail(i, "the control character %U may stand nowhere", r)
			}
		}
	}
	if work += tabs * (len(y.text) - start); work > maxYAMLTabs {
		return y.fail(0, "the lines of the document have too many tabs; send it as JSON")
	}
	return nil
}

// scan returns the tokens of the text up to its first error, and checks what
// can be told from them alone, so that the parser, which calls itself for
// every level, meets no document too deep or too long for it.
func (y *yamlReader) scan(text string) (token.Tokens, error) {
	var s scanner.Scanner
	var tokens token.Tokens
	s.Init(text)
	for {
		some, err := s.Scan()
		if errors.Is(err, io.EOF) {
			break
		}
		tokens.Add(some...)
		if err != nil {
			break
		}
	}
	if len(tokens) > maxYAMLTokens {
		return nil, y.failAt(tokens[maxYAMLTokens], "the document is too long for YAML; send it as JSON")
	}
	if tk := tokens.InvalidToken(); tk != nil {
		return nil, y.failAt(tk, "%s", printable(tk.Error))
	}
	if err := y.checkTokens(tokens); err != nil {
		return nil, err
	}
	return y.joinColons(tokens)
}

func (y *yamlReader) checkTokens(tokens token.Tokens) error {
	depth, run, content, ended := 0, 0, false, false
	for i, tk := range tokens {
		if tk.Type == token.DocumentHeaderType && (content || ended) || ended && tk.Type != token.CommentType {
			return y.failAt(tk, "a second document begins here, and only one is possible")
		}
		switch tk.Type {
		case token.DirectiveType:
			if i+1 < len(tokens) && tokens[i+1].Value != "YAML" {
				return y.failAt(tk, "the directive %%%s is not supported", clip(tokens[i+1].Value))
			}
			continue
		case token.DocumentEndType:
			ended = true
		case token.DocumentHeaderType:
			content = true
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			if i > 0 && tokens[i-1].Position.Line == tk.Position.Line && tokens[i-1].Type == tk.Type {
				run++
			} else {
				run = 0
			}
		}
		if depth > MaxDepth || run >= MaxDepth {
			return y.failAt(tk, "lists and objects nest deeper than %d", MaxDepth)
		}
		content = content || tk.Type != token.CommentType && !inDirective(tokens, i)
	}
	return nil
}

// joinColons mends what the library's scanner does inside braces: there it
// takes every colon for the end of a key, also one inside a plain scalar, as
// in {assign: [team:core]} (YAML 1.2.2, section 7.3.3: a colon ends a key only
// where a blank or a bracket follows).
func (y *yamlReader) joinColons(tokens token.Tokens) (token.Tokens, error) {
	var out token.Tokens
	depth, mended := 0, false
	for i := 0; i < len(tokens); i++ {
		tk := tokens[i]
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		if depth > 0 && isPlain(tk) && (strings.Contains(tk.Value, ": ") || strings.HasSuffix(tk.Value, ":")) {
			return nil, y.failAt(tk, "a colon in a text in braces asks for quotes")
		}
		if depth > 0 && i+2 < len(tokens) && isPlain(tk) && tokens[i+1].Type == token.MappingValueType && y.insideScalar(tokens[i+1]) && isPlain(tokens[i+2]) {
			if next := tokens[i+2]; y.offset(tokens[i+1]) != y.offset(tk)+len([]rune(tk.Value)) || strings.Contains(next.Value, ": ") {
				return nil, y.failAt(tk, "a colon in a text in braces asks for quotes")
			}
			tk = token.String(tk.Value+":"+tokens[i+2].Value, tk.Origin+":"+tokens[i+2].Origin, tk.Position)
			i += 2
			mended = true
		}
		out.Add(tk)
	}
	if !mended {
		return tokens, nil
	}
	return out, nil
}

// isPlain reports whether the token is a scalar without quotes.
func isPlain(tk *token.Token) bool {
	switch tk.Type {
	case token.StringType, token.NullType, token.BoolType, token.FloatType, token.InfinityType, token.NanType,
		token.IntegerType, token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType:
		return tk.Prev == nil || tk.Prev.Type != token.LiteralType && tk.Prev.Type != token.FoldedType
	}
	return false
}

// insideScalar reports whether a colon is followed by what goes on with a
// plain scalar.
func (y *yamlReader) insideScalar(colon *token.Token) bool {
	at := y.offset(colon)
	return at >= 0 && at+1 < len(y.text) && !strings.ContainsRune(" \t\r\n,[]{}\"'", y.text[at+1])
}

// inDirective reports whether the token stands in the line of a directive.
func inDirective(tokens token.Tokens, i int) bool {
	const most = 3 // the sign, the name, the version
	line := tokens[i].Position.Line
	for j := i; j >= 0 && j > i-most && tokens[j].Position.Line == line; j-- {
		if tokens[j].Type == token.DirectiveType {
			return true
		}
	}
	return false
}
