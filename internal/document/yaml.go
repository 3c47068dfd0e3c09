package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// maxAliasNodes is how many values the aliases of a YAML document may stand for, all
// together.
const maxAliasNodes = 10_000

// ParseYAML reads one YAML 1.2 document by the core schema (YAML 1.2.2, section
// 10.3): yes and no are strings; a number without fraction is in base ten, even
// with leading zeros. Keys are strings. Anchors, aliases and merge keys are
// resolved. Errors are of kind NotParseable and name line and column: text that
// is not YAML, a key that appears twice, nesting deeper than MaxDepth, values
// that JSON does not have (.inf, .nan, keys that are not scalars, tags beyond
// the core schema), several documents, an alias inside its own anchor, and more
// than the bounds above. An empty document is null. The place of a value is
// that of its tag or anchor if it has one.
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
	if err := checkYAMLText(string(data)); err != nil {
		return nil, err
	}
	root, err := loadYAML(withoutVersion(data))
	if err != nil {
		return nil, err
	}
	y := yamlReader{open: map[*yaml.Node]bool{}}
	return y.value(root, 0)
}

// checkYAMLText refuses what no YAML document holds, what the library takes
// for the end of a line as YAML 1.1 did, and what would take too much memory.
func checkYAMLText(text string) error {
	marks, line, column := 0, 1, 0
	var before rune
	for _, r := range text {
		if column++; before == '\n' || before == '\r' && r != '\n' {
			line, column = line+1, 1
		}
		before = r
		switch r {
		case '\t', '\n', '\r':
		case '[', ']', '{', '}', ',', ':', '-', '?', '&', '*', '!':
			if marks++; marks > maxMarks {
				return notParseable("YAML", line, column, "the document has more than %d marks; send it as JSON", maxMarks)
			}
		case '\u0085', lineSeparator, paragraphSeparator:
			return notParseable("YAML", line, column, `the character %U is allowed only as an escape in double quotes, as "\u%04x"`, r, r)
		default:
			if unicode.IsControl(r) {
				return notParseable("YAML", line, column, "the control character %U is not allowed anywhere", r)
			}
		}
	}
	return nil
}

// yamlVersion matches the directive that a document of YAML 1 may begin with,
// after blank lines and comments.
var yamlVersion = regexp.MustCompile(`\A((?:[ \t]*(?:#[^\r\n]*)?[\r\n])*)%YAML[ \t]+1\.[0-9]+[ \t]*(?:[ \t]#|[\r\n])`)

// withoutVersion returns the text with the directive made a comment: the
// library refuses that of YAML 1.2.
func withoutVersion(data []byte) []byte {
	at := yamlVersion.FindSubmatchIndex(data)
	if at == nil {
		return data
	}
	data = bytes.Clone(data)
	data[at[3]] = '#'
	return data
}

// tooDeep is what is wrong with a document that nests too deep.
var tooDeep = fmt.Sprintf("lists and objects nest deeper than %d", MaxDepth)

// loadYAML returns the value of the only document in the text, a null if
// there is none.
func loadYAML(data []byte) (*yaml.Node, error) {
	limits := loaderlimits.New(loaderlimits.DepthFunc(func(depth int, _ *yaml.DepthContext) error {
		if depth > MaxDepth {
			return errors.New(tooDeep)
		}
		return nil
	}))
	loader, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(limits))
	if err != nil {
		return nil, yamlSyntaxError(err, data)
	}
	var first, second yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) {
		return &yaml.Node{Kind: yaml.ScalarNode, Line: 1, Column: 1}, nil
	} else if err != nil {
		return nil, yamlSyntaxError(err, data)
	}
	if err := loader.Load(&second); err == nil {
		return nil, failAt(&second, "a second document begins here, and only one is possible")
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlSyntaxError(err, data)
	}
	return first.Content[0], nil
}

// yamlSyntaxError returns an error of the library as one of ours.
func yamlSyntaxError(err error, data []byte) error {
	var at *yaml.LoadError
	if !errors.As(err, &at) {
		return notParseable("YAML", 1, 1, "%s", printable(err.Error()))
	}
	line, column := max(at.Mark.Line, 1), max(at.Mark.Column, 1)
	message := at.Message
	if message == "found character that cannot start any token" || message == "found a tab character that violates indentation" {
		message = cannotBegin(character(string(data), line, column))
	} else if at.ContextMsg != "" && message != tooDeep {
		message += " " + at.ContextMsg
		if from := at.ContextMark; from.Line > 0 && from.Line != line {
			message += fmt.Sprintf(" from line %d, column %d", from.Line, from.Column)
		}
	}
	return notParseable("YAML", line, column, "%s%s", printable(message), advice(message, string(data), line, column))
}

// askIndented is what to look at if a line belongs to nothing above it.
const askIndented = "; is the line indented as those that it belongs to?"

// advice says what to do about a value with a colon, such as a ? "b" : "c", and about a
// line that is indented otherwise than those beside it. It returns "" if the fault is
// another one.
func advice(message, text string, line, column int) string {
	switch {
	case strings.HasPrefix(message, "mapping values are not allowed"):
		before := []rune(fromLine(text, line))
		if !strings.Contains(string(before[:min(column-1, len(before))]), ": ") {
			return askIndented
		}
	case strings.HasPrefix(message, "did not find expected key"), strings.HasPrefix(message, "did not find expected '-' indicator"):
		return askIndented
	case strings.HasPrefix(message, "did not find expected ',' or '}'") && character(text, line, column) == ':':
	default:
		return ""
	}
	return "; put the value in quotes"
}

// cannotBegin says what is wrong with the first character of a value.
func cannotBegin(r rune) string {
	if r == '\t' {
		return "a tab may not indent a line; use spaces"
	}
	return fmt.Sprintf("the character %q cannot begin a text without quotes", r)
}

// character returns the one at a line and column.
func character(text string, line, column int) rune {
	for _, r := range fromLine(text, line) {
		if column--; column == 0 {
			return r
		}
	}
	return unicode.ReplacementChar
}

// fromLine returns the text from a line on.
func fromLine(text string, line int) string {
	for ; line > 1; line-- {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			return "" // what is missing at the end of a text is missed in the line after it
		}
		if strings.HasPrefix(text[i:], "\r\n") {
			i++
		}
		text = text[i+1:]
	}
	return text
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

// failAt returns an error at a node of the library's tree.
func failAt(at *yaml.Node, format string, args ...any) error {
	return notParseable("YAML", max(at.Line, 1), max(at.Column, 1), format, args...)
}
