package route

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route/expr"
)

// The limits of the forms of a route (docs/contract/routes.md#limits-of-forms).
const (
	maxFormParts    = 4000   // of one form: objects and booleans, with those that references and anchors name
	maxFormsParts   = 40_000 // of all forms of a route
	maxPatternBytes = 4096   // of a regular expression
	maxPatternsSize = 100_000
	maxDigits       = 400 // of a number, and its greatest exponent: more than a double has
)

// formBudget is what the forms of a route have used of its bounds.
type formBudget struct {
	parts    int
	patterns int // sizes as expr.PatternSize returns them
}

// isWide reports whether a number's literal is so long, or its exponent so
// great, that exact arithmetic with it takes long.
func isWide(literal string) bool {
	if len(literal) > maxDigits {
		return true
	}
	i := strings.IndexAny(literal, "eE")
	if i < 0 {
		return false
	}
	exponent, err := strconv.Atoi(strings.TrimPrefix(literal[i+1:], "+"))
	return err != nil || max(exponent, -exponent) > maxDigits
}

const wideNumber = "must have at most 400 digits and an exponent from -400 to 400"

// failWide notes a fault at every number that is too long to calculate with.
func failWide(v document.Value) {
	switch v.Node.Kind {
	case document.Number:
		if isWide(v.Node.Text) {
			v.Fail(errs.CodeRange, wideNumber)
		}
	case document.List:
		for i := range v.Node.Items {
			failWide(v.Item(i))
		}
	case document.Object:
		for i := range v.Node.Members {
			_, member := v.Member(i)
			failWide(member)
		}
	case document.Null, document.Bool, document.String:
	}
}

// hasWide reports whether failWide would note a fault.
func hasWide(n *document.Node) bool {
	if n.Kind == document.Number {
		return isWide(n.Text)
	}
	for _, item := range n.Items {
		if hasWide(item) {
			return true
		}
	}
	for i := range n.Members {
		if hasWide(n.Members[i].Value) {
			return true
		}
	}
	return false
}

// formParts counts what compiling a form looks at: everything that may be a
// schema, and once more what a reference or a dynamic anchor names.
type formParts struct {
	root    *document.Node
	refs    map[string]bool
	anchors []string // pointers of the objects with a dynamic anchor
	count   int
}

func countParts(root *document.Node) *formParts {
	p := &formParts{root: root, refs: map[string]bool{}}
	p.count = partsOf(root)
	p.collect(root, "")
	return p
}

// partsOf counts the objects and booleans of a value.
func partsOf(n *document.Node) int {
	count := 0
	if n.Kind == document.Object || n.Kind == document.Bool {
		count = 1
	}
	for _, item := range n.Items {
		count += partsOf(item)
	}
	for i := range n.Members {
		count += partsOf(n.Members[i].Value)
	}
	return count
}

func (p *formParts) collect(n *document.Node, pointer string) {
	if p.count > maxFormParts {
		return
	}
	for i, item := range n.Items {
		p.collect(item, pointer+"/"+strconv.Itoa(i))
	}
	for i := range n.Members {
		m := &n.Members[i]
		if m.Value.Kind == document.String {
			switch m.Key {
			case "$ref", "$dynamicRef", "$recursiveRef":
				p.refer(m.Value.Text)
			case "$dynamicAnchor":
				p.count += partsOf(n)
				p.anchors = append(p.anchors, pointer)
			}
		}
		p.collect(m.Value, document.Pointer(pointer, m.Key))
	}
}

// refer counts what a reference names. What is not found from the root, as
// below an $id, counts as everything.
func (p *formParts) refer(ref string) {
	_, fragment, _ := strings.Cut(ref, "#")
	if p.refs[ref] || !strings.HasPrefix(fragment, "/") && !strings.HasPrefix(fragment, "%") {
		return // an anchor names what is a schema anyway
	}
	p.refs[ref] = true
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return // the compiler refuses it
	}
	at := p.root
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if at = stepInto(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(step)); at == nil {
			at = p.root
			break
		}
	}
	p.count += partsOf(at)
}

func stepInto(n *document.Node, step string) *document.Node {
	for i := range n.Members {
		if n.Members[i].Key == step {
			return n.Members[i].Value
		}
	}
	if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Items) {
		return n.Items[i]
	}
	return nil
}

// patterns compiles the regular expressions of a form, each once, within the
// route's budget.
type patterns struct {
	budget   *formBudget
	compiled map[string]*pattern
	refused  error // the first one that is over the budget
	sealed   bool  // the form is compiled: what comes now is the text of a performer
}

// pattern is a regular expression with its size.
type pattern struct {
	*regexp.Regexp

	size uint64
}

var (
	errPatternLong = fmt.Errorf("has a regular expression of more than %d bytes", maxPatternBytes)
	errPatternSize = errors.New("has regular expressions that are too large; write smaller numbers of repetitions, such as {0,50}")
)

// compile is a jsonschema.RegexpEngine.
func (p *patterns) compile(source string) (jsonschema.Regexp, error) {
	if p.sealed {
		if len(source) > maxPatternBytes {
			return nil, errPatternLong
		}
		_, err := syntax.Parse(source, syntax.Perl)
		return nil, err
	}
	if re := p.compiled[source]; re != nil {
		return re, nil
	}
	size, err := p.measure(source)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, err
	}
	p.compiled[source] = &pattern{re, uint64(size)}
	return p.compiled[source], nil
}

func (p *patterns) measure(source string) (size int, err error) {
	if len(source) > maxPatternBytes {
		p.refused = errPatternLong
		return 0, p.refused
	}
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return 0, err
	}
	size, ranges := expr.PatternSize(parsed)
	if p.budget.patterns += size + ranges; p.budget.patterns > maxPatternsSize {
		p.refused = errPatternSize
		return 0, p.refused
	}
	return size, nil
}
