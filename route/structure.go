package route

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dustin/go-humanize/english"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/schema"
)

const schemaURL = "urn:flowdrive:schema:route"

// structureSchema is the JSON Schema of route documents: as the validator
// wants it, and as a document, which knows the keys of every object.
type structureSchema struct {
	validator *jsonschema.Schema
	node      *document.Node
}

// structure compiles the schema once. That it compiles is our own affair, so
// a fault panics.
var structure = sync.OnceValue(func() structureSchema {
	source := schema.JSON("route")
	node, err := document.ParseJSON(source)
	if err != nil {
		panic("route: the schema is not JSON: " + err.Error())
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		panic("route: the schema is not JSON: " + err.Error())
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // no reference leaves the schema
	if err := c.AddResource(schemaURL, value); err != nil {
		panic("route: the schema is not added: " + err.Error())
	}
	return structureSchema{validator: c.MustCompile(schemaURL), node: node}
})

// structureFaults judges a document by the JSON Schema and says what is wrong
// in words, in the order of the document.
func structureFaults(root *document.Node) []errs.Fault {
	s := structure()
	invalid, ok := errors.AsType[*jsonschema.ValidationError](s.validator.Validate(root.Any()))
	if !ok {
		return nil
	}
	r := structureReader{schema: s.node, root: root, index: map[*document.Node]map[string]int{}}
	r.read(invalid)
	slices.SortFunc(r.findings, func(a, b finding) int { return byPlace(a.Fault, b.Fault) })
	var out []errs.Fault
	for _, f := range r.findings[:min(len(r.findings), mostFaults)] {
		if f.key != "" {
			f.Detail += fieldSlips[f.of].Hint(f.key, f.known)
		}
		out = append(out, f.Fault)
	}
	return out
}

// structureReader turns the validator's tree of errors, which it makes in no
// fixed order, into findings.
type structureReader struct {
	schema   *document.Node
	root     *document.Node
	index    map[*document.Node]map[string]int // of objects with many members
	findings []finding
}

// finding is a fault, and for an unknown key the known ones: guessing what was
// meant is left until it is settled which faults are told.
type finding struct {
	errs.Fault
	key   string
	of    string // the definition of the schema that the object belongs to
	known []string
}

func (r *structureReader) add(at *document.Node, pointer string, code errs.Code, format string, args ...any) {
	f := finding{Fault: errs.Fault{Pointer: pointer, Code: code, Detail: fmt.Sprintf(format, args...)}}
	if at != nil {
		f.Line, f.Column = at.Line, at.Column
	}
	r.findings = append(r.findings, f)
}

func (r *structureReader) read(e *jsonschema.ValidationError) {
	at, pointer := r.root, ""
	for _, step := range e.InstanceLocation {
		at, pointer = r.below(at, step), document.Pointer(pointer, step)
	}
	rule := r.rule(e.SchemaURL)
	switch k := e.ErrorKind.(type) {
	case *kind.PropertyNames:
		// The validator reports these at a place that it overwrites; names
		// are judged by checkNames.
	case *kind.AdditionalProperties:
		r.unknown(at, pointer, definition(e.SchemaURL), keys(rule.Get("properties")))
	case *kind.Required:
		for _, key := range k.Missing {
			r.add(at, document.Pointer(pointer, key), errs.CodeRequired, "is required")
		}
	case *kind.UniqueItems:
		item := k.Duplicates[1]
		r.add(at.Items[item], fmt.Sprintf("%s/%d", pointer, item), errs.CodeConflict, "appears twice in the list")
	default:
		if code, detail := explain(e, at, rule); detail != "" {
			r.add(at, pointer, code, "%s", detail)
			return
		}
		for _, cause := range e.Causes {
			r.read(cause)
		}
	}
}

// unknown notes the keys of an object that the schema does not know.
func (r *structureReader) unknown(at *document.Node, pointer, of string, known []string) {
	for i := range at.Members {
		m := &at.Members[i]
		if slices.Contains(known, m.Key) {
			continue
		}
		f := finding{
			Fault: errs.Fault{Pointer: document.Pointer(pointer, m.Key), Code: errs.CodeUnknownField, Detail: "is not a known field", Line: m.Line, Column: m.Column},
			key:   m.Key, of: of, known: known,
		}
		r.findings = append(r.findings, f)
	}
}

// below returns the value one step below n, and finds it among many members
// at once.
func (r *structureReader) below(n *document.Node, step string) *document.Node {
	const many = 16
	if n == nil || len(n.Members) <= many {
		return n.At(step)
	}
	index := r.index[n]
	if index == nil {
		index = make(map[string]int, len(n.Members))
		for i := range n.Members {
			index[n.Members[i].Key] = i
		}
		r.index[n] = index
	}
	i, ok := index[step]
	if !ok {
		return nil
	}
	return n.Members[i].Value
}

// rule returns the part of the schema that an error's URL names.
func (r *structureReader) rule(url string) *document.Node {
	_, fragment, _ := strings.Cut(url, "#")
	if fragment == "" {
		return r.schema
	}
	return r.schema.At(strings.Split(strings.TrimPrefix(fragment, "/"), "/")...)
}

func keys(n *document.Node) []string {
	if n == nil {
		return nil
	}
	out := make([]string, len(n.Members))
	for i := range n.Members {
		out[i] = n.Members[i].Key
	}
	return out
}

// explain says what is wrong with a value by itself. It returns "" if the error
// only repeats that of its causes.
func explain(e *jsonschema.ValidationError, at *document.Node, rule *document.Node) (errs.Code, string) {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return errs.CodeType, explainKind(e.SchemaURL, k, at)
	case *kind.Enum:
		return explainEnum(k, at, typeSlips[definition(e.SchemaURL)])
	case *kind.Const:
		return errs.CodeRange, fmt.Sprintf("must be %v", k.Want)
	case *kind.Pattern:
		if kind, name, ok := strings.Cut(at.Text, ":"); ok && definition(e.SchemaURL) == "party" && (kind == "user" || kind == "team") {
			return errs.CodeFormat, fmt.Sprintf("must be the name alone: write %q, not %q", clip(name), clip(at.Text))
		}
		return errs.CodeFormat, "must be " + form(e.SchemaURL) + fmt.Sprintf(", not %q", clip(at.Text))
	case *kind.Minimum, *kind.Maximum:
		return errs.CodeRange, explainRange(rule, at)
	case *kind.MinLength:
		return errs.CodeRange, "must not be empty"
	case *kind.MaxLength:
		return errs.CodeRange, fmt.Sprintf("must not be longer than %d characters", k.Want)
	case *kind.MinProperties, *kind.MaxProperties:
		if strings.HasSuffix(e.SchemaURL, "/step/then") || strings.HasSuffix(e.SchemaURL, "/step/else") {
			return errs.CodeRange, "must have exactly one of the verbs of a step, such as set, message or log"
		}
		return errs.CodeRange, "must not be empty"
	case *kind.MinItems:
		return errs.CodeRange, "must not be empty"
	case *kind.MaxItems:
		return errs.CodeRange, fmt.Sprintf("must not have more than %d entries", k.Want)
	}
	if len(e.Causes) == 0 {
		return errs.CodeFormat, "does not match the schema: " + strings.Join(e.ErrorKind.KeywordPath(), "/")
	}
	return "", ""
}

// explainPart says what is wrong with a part of a form, "" if it has no words for it.
func explainPart(e *jsonschema.ValidationError, at *document.Node) (errs.Code, string) {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return errs.CodeType, explainType(k, at)
	case *kind.Enum:
		return explainEnum(k, at, schemaTypeSlips)
	}
	return "", ""
}

// form says what a pattern of the schema stands for, by the definition that
// it belongs to.
func form(url string) string {
	definition := url[strings.LastIndex(url, "/")+1:]
	switch definition {
	case "name", "optionalName":
		return nameForm
	case "party":
		return "the name of a user or team: " + identity.NameForm(identity.User)
	case "rule":
		return ruleForm
	case "duration":
		return durationForm
	case "retention":
		return "a duration such as P15D, or forever"
	case "max":
		return "a number or unlimited"
	}
	return "of another form"
}

func explainType(k *kind.Type, at *document.Node) string {
	got := at.Kind.String()
	if at.Kind == document.Number && slices.Contains(k.Want, "integer") {
		got = clip(at.Text)
	}
	text := fmt.Sprintf("must be %s, not %s", explainWanted(k.Want), got)
	if at.Kind == document.String && at.Text != "" && slices.Contains(k.Want, "array") {
		text += ": write " + listOf(at.Text)
	}
	if at.Kind == document.Object && slices.Contains(k.Want, "array") && !slices.Contains(k.Want, "object") {
		text += ": begin it with \"- \", or put [ ] around it"
	}
	return text
}

// explainKind is explainType with what is written in the place of the value, if the field
// is one that people take for another kind.
func explainKind(url string, k *kind.Type, at *document.Node) string {
	text := explainType(k, at)
	switch of := definition(url); {
	case of == "action/need" && at.Kind == document.Number:
		text += fmt.Sprintf(": write \"%s of <role>\"", clip(at.Text))
	case of == "action/resolutions" && at.Kind == document.List:
		text += ": each has a name and what people read, as in {fixed: It is mended}"
	}
	return text
}

// plainInList matches a text that needs no quotes in a list.
var plainInList = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_ -]*$`)

// listOf writes the list that has the text alone.
func listOf(text string) string {
	if text = clip(text); !plainInList.MatchString(text) {
		text = fmt.Sprintf("%q", text)
	}
	return "[" + text + "]"
}

// explainWanted names types of JSON Schema in words.
func explainWanted(types []string) string {
	var want []string
	for _, w := range [][2]string{
		{"string", "a string"},
		{"integer", "a whole number"},
		{"number", "a number"},
		{"boolean", "true or false"},
		{"array", "a list"},
		{"object", "an object"},
	} {
		if slices.Contains(types, w[0]) {
			want = append(want, w[1])
		}
	}
	return alternatives(want)
}

func explainEnum(k *kind.Enum, at *document.Node, slips document.Slips) (errs.Code, string) {
	var want []string
	for _, w := range k.Want {
		if text, ok := w.(string); ok {
			want = append(want, text)
		}
	}
	if at.Kind != document.String {
		return errs.CodeType, fmt.Sprintf("must be %s, not %s", alternatives(want), at.Kind)
	}
	return errs.CodeRange, fmt.Sprintf("must be %s, not %q%s", alternatives(want), clip(at.Text), slips.Hint(at.Text, want))
}

func explainRange(rule, at *document.Node) string {
	lo, hi := rule.Get("minimum"), rule.Get("maximum")
	if lo != nil && hi != nil {
		return fmt.Sprintf("must be from %s to %s, not %s", lo.Text, hi.Text, clip(at.Text))
	}
	return fmt.Sprintf("must be %s or more, not %s", lo.Text, clip(at.Text))
}

// alternatives writes "a, b or c".
func alternatives(words []string) string { return english.WordSeries(words, "or") }

func clip(text string) string { return errs.Clip(text, 60) }
