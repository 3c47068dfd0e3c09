package document_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"flowdrive/internal/document"
)

// TestParseYAMLStyles writes values in every style that people use and reads
// them back: the library must not take one for another.
func TestParseYAMLStyles(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		w := styledWriter{Rand: rand.New(rand.NewPCG(seed, 0))}
		n := w.object(5)
		w.block(n, 0)
		got, err := document.ParseYAML([]byte(w.String()))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, w.String())
		}
		if !document.Equal(n, got) {
			t.Fatalf("seed %d:\n got %s\nwant %s\n%s", seed, got.AppendJSON(nil), n.AppendJSON(nil), w.String())
		}
	}
}

// styledWriter makes values and writes them as YAML.
type styledWriter struct {
	strings.Builder
	*rand.Rand
}

func (w *styledWriter) value(depth int) *document.Node {
	n := &document.Node{}
	switch kind := w.IntN(10); {
	case kind == 0:
	case kind == 1:
		n.Kind, n.Bool = document.Bool, w.IntN(2) == 0
	case kind == 2:
		n.Kind, n.Text = document.Number, w.one("0", "-1", "200", "1.5", "3e2")
	case kind < 6 || depth < 1:
		n.Kind, n.Text = document.String, w.word()
	case kind == 6:
		n.Kind = document.List
		for range w.IntN(4) {
			n.Items = append(n.Items, w.value(depth-1))
		}
	default:
		return w.object(depth)
	}
	return n
}

func (w *styledWriter) object(depth int) *document.Node {
	n := &document.Node{Kind: document.Object}
	for range 1 + w.IntN(6) {
		if key := w.word(); n.Get(key) == nil {
			n.Members = append(n.Members, document.Member{Key: key, Value: w.value(depth - 1)})
		}
	}
	return n
}

func (w *styledWriter) one(of ...string) string { return of[w.IntN(len(of))] }

// word returns a text, often one that looks like something else.
func (w *styledWriter) word() string {
	if w.IntN(3) > 0 {
		return w.one("open", "in progress", "team:core", "http://x/y?z#q", "yes", "null", "12", "", "a: b", "a #b", "#b", "- x", "it's",
			`say "x"`, "x > 0\n? \"a\" : \"b\"", "one\ntwo\n", "ä😀", "{}", "[x]", "*a", "&b", "!c", "%d", "@e", "P7D", "a, b", "a:b", ":",
			"a\tb", "~", "?", "-", "---", "...", "<<", "0x1F", ".5", "True")
	}
	const letters = "abXY09_:./ -"
	text := make([]byte, w.IntN(12))
	for i := range text {
		text[i] = letters[w.IntN(len(letters))]
	}
	return string(text)
}

// block writes a value that follows the indentation already written.
func (w *styledWriter) block(n *document.Node, indent int) {
	switch {
	case n.Kind == document.Object && len(n.Members) > 0:
		for i, m := range n.Members {
			if i > 0 || indent == 0 {
				w.pause(indent)
			}
			w.text(m.Key, true)
			w.WriteString(":")
			w.below(m.Value, indent)
		}
	case n.Kind == document.List && len(n.Items) > 0:
		for i, item := range n.Items {
			if i > 0 || indent == 0 {
				w.pause(indent)
			}
			w.WriteString("-")
			w.below(item, indent)
		}
	default:
		w.flow(n)
		w.WriteString("\n")
	}
}

// pause begins a line, sometimes after a comment or an empty one.
func (w *styledWriter) pause(indent int) {
	switch w.IntN(8) {
	case 0:
		w.WriteString("\n")
	case 1:
		w.WriteString(strings.Repeat(" ", indent) + "# a: comment, 'so' to [say\n")
	}
	w.WriteString(strings.Repeat(" ", indent))
}

// below writes the value of a key or a dash.
func (w *styledWriter) below(n *document.Node, indent int) {
	nested := n.Kind == document.Object && len(n.Members) > 0 || n.Kind == document.List && len(n.Items) > 0
	deeper := indent + 1 + w.IntN(3)
	switch {
	case nested && w.IntN(3) > 0:
		w.WriteString("\n" + strings.Repeat(" ", deeper))
		w.block(n, deeper)
	case n.Kind == document.Null && w.IntN(2) == 0:
		w.WriteString("\n")
	case n.Kind == document.String && literal.MatchString(n.Text) && w.IntN(2) == 0:
		w.WriteString(" |\n")
		for line := range strings.Lines(n.Text) {
			w.WriteString(strings.Repeat(" ", deeper) + line)
		}
	default:
		w.WriteString(" ")
		w.flow(n)
		if w.IntN(6) == 0 {
			w.WriteString(" # why")
		}
		w.WriteString("\n")
	}
}

var (
	literal = regexp.MustCompile(`^([a-z"][^\t]*\n)+$`)
	plain   = regexp.MustCompile(`^[a-zA-Z0-9_/.]([a-zA-Z0-9_/. -]*[a-zA-Z0-9_/-]|:[a-zA-Z])*$`)
	number  = regexp.MustCompile(`^[-+]?(0[ox])?[0-9a-fA-F._]*([eE][-+]?[0-9]+)?$`)
)

func (w *styledWriter) flow(n *document.Node) {
	switch n.Kind {
	case document.String:
		w.text(n.Text, false)
	case document.List:
		w.WriteString("[")
		for i, item := range n.Items {
			if i > 0 {
				w.WriteString(", ")
			}
			w.flow(item)
		}
		w.WriteString("]")
	case document.Object:
		w.WriteString("{")
		for i, m := range n.Members {
			if i > 0 {
				w.WriteString(", ")
			}
			w.text(m.Key, true)
			w.WriteString(": ")
			w.flow(m.Value)
		}
		w.WriteString("}")
	default:
		w.Write(n.AppendJSON(nil))
	}
}

// text writes a string plain where that is a string, or in quotes.
func (w *styledWriter) text(s string, key bool) {
	reserved := map[string]bool{"null": true, "true": true, "false": true}[strings.ToLower(s)] || number.MatchString(s) || strings.HasPrefix(s, "...")
	switch w.IntN(3) {
	case 0:
		if plain.MatchString(s) && !reserved && (!key || !strings.Contains(s, ":")) {
			w.WriteString(s)
			return
		}
	case 1:
		if !strings.ContainsAny(s, "\n\t") {
			w.WriteString("'" + strings.ReplaceAll(s, "'", "''") + "'")
			return
		}
	}
	w.Write(document.AppendString(nil, s))
}
