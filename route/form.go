package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/currency"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// Xattr is the declaration of an XATTR.
type Xattr struct {
	Key      string // normalised
	Title    string
	Type     document.Kind // String, Number or Bool; Null for any
	Default  *label.Value
	Required bool     // at the start
	Minimum  *float64 // of what people give; nil: no bound
	Maximum  *float64
	Date     bool     // a date, as people give it
	Edit     []string // roles that may change it, empty for none; nil: not declared
}

// Fits reports whether the value is of the declared type.
func (x *Xattr) Fits(v label.Value) bool { return x.Type == document.Null || x.Type == v.Kind }

// Outside says which bound of a declared number the value is beyond, or that it is not a
// date if it has to be one, "" for neither.
func (x *Xattr) Outside(v label.Value) string {
	if x.Date && v.Kind == document.String {
		if _, err := time.Parse(time.DateOnly, v.Text); err != nil {
			return fmt.Sprintf("must be a date as 2026-12-24, not %s", clip(v.Text))
		}
	}
	if x.Minimum == nil && x.Maximum == nil || v.Kind != document.Number {
		return ""
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // beyond all floats it is an infinity
		return ""
	}
	bound := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	switch {
	case x.Minimum != nil && n < *x.Minimum:
		return fmt.Sprintf("must be at least %s, not %s", bound(x.Minimum), clip(v.Text))
	case x.Maximum != nil && n > *x.Maximum:
		return fmt.Sprintf("must be at most %s, not %s", bound(x.Maximum), clip(v.Text))
	}
	return ""
}

// NumberHint says how a text that was meant as a number is written, "" if it is not
// clear that it was: with a comma, as many countries do, with signs between thousands, or
// with a currency.
func NumberHint(v label.Value) string {
	text := strings.TrimSpace(v.Text)
	if v.Kind != document.String || len(text) > longestNumber {
		return ""
	}
	bare := strings.TrimPrefix(betweenDigits.Replace(withoutCurrency(text)), "+")
	if Ambiguous(bare) {
		whole, decimals, _ := strings.Cut(strings.Replace(bare, ",", ".", 1), ".")
		short := strings.TrimRight(decimals, "0")
		switch short {
		case decimals:
			short += "0" // with a fourth digit it is clear
		case "":
			short = "0"
		}
		return "; write " + whole + decimals + ", or " + whole + "." + short
	}
	plain := bare
	switch {
	case pointsInThousands.MatchString(bare):
		plain = strings.Replace(strings.ReplaceAll(bare, ".", ""), ",", ".", 1)
	case commasInThousands.MatchString(bare):
		plain = strings.ReplaceAll(bare, ",", "")
	case strings.Count(bare, ",") == 1 && !strings.Contains(bare, "."):
		plain = strings.Replace(bare, ",", ".", 1)
	}
	switch {
	case plain == text || !decimal(plain):
		return ""
	case plain == strings.Replace(strings.TrimPrefix(text, "+"), ",", ".", 1):
		return "; write it with a point: " + plain
	case plain == bare:
		return "; write " + plain + ", without currency or spaces"
	}
	return "; write " + plain
}

const longestNumber = 40 // runes are not counted: it only bounds what is repeated

// Ambiguous reports whether people may read a number that was typed in two ways: 1.200 and
// 1,200 are 1200 in some countries and 1.2 in others.
func Ambiguous(typed string) bool { return ambiguousNumber.MatchString(strings.TrimSpace(typed)) }

var (
	ambiguousNumber = regexp.MustCompile(`^-?[1-9][0-9]{0,2}[.,][0-9]{3}$`)
	decimalNumber   = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

	pointsInThousands = regexp.MustCompile(`^-?[1-9][0-9]{0,2}(\.[0-9]{3})+(,[0-9]+)?$`)
	commasInThousands = regexp.MustCompile(`^-?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?$`)
	betweenDigits     = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "", "\u2019", "")
	besideNumber      = regexp.MustCompile(`^([\p{L}\p{Sc}]*)\s*([^\p{L}\p{Sc}]*?)\s*([\p{L}\p{Sc}]*)$`)
)

func decimal(text string) bool { return decimalNumber.MatchString(text) }

// withoutCurrency returns a number without its currency, which is a sign or a code (ISO 4217).
// Any other letter may belong to the number, as that of 30k, or be in the place of a digit.
func withoutCurrency(text string) string {
	parts := besideNumber.FindStringSubmatch(text)
	if parts == nil || !isCurrency(parts[1]) || !isCurrency(parts[3]) {
		return text
	}
	return parts[2]
}

func isCurrency(text string) bool {
	if r, size := utf8.DecodeRuneInString(text); size == len(text) && (size == 0 || unicode.Is(unicode.Sc, r)) {
		return true
	}
	_, err := currency.ParseISO(text)
	return err == nil || strings.EqualFold(text, "kr")
}

// AskedAtStart returns the declared XATTRs that a form asks for when a case starts, in
// their order: all but those that only later actions give. These people may not change
// outside of actions, and a form of an action asks for them or a step sets them. What is
// required at the start or has a default is asked for in any case.
func (r *Route) AskedAtStart() (out []*Xattr) {
	later := map[string]bool{}
	for i := range r.Actions {
		for _, key := range r.Actions[i].Form.Asked() {
			if key, err := label.NormalizeKey(key); err == nil {
				later[key] = true
			}
		}
	}
	r.hasStep(func(s *Step) bool {
		for _, setting := range s.Set {
			later[setting.Key] = true
		}
		if s.Search != nil {
			later[s.Search.Set] = true
		}
		return false // look at all of them
	})
	for i := range r.Xattrs {
		if x := &r.Xattrs[i]; x.Required || x.Default != nil || x.Edit == nil || !later[x.Key] {
			out = append(out, x)
		}
	}
	return out
}

// Wants names the declared type, for the person whose value is of another.
func (x *Xattr) Wants() string { return x.Type.String() }

// readXattrs reads the declared XATTRs.
func (c *compiler) readXattrs() {
	v := c.root.Get("xattrs")
	if !isKind(v, document.Object) {
		return
	}
	for i := range v.Node.Members {
		name, member := v.Member(i)
		key, err := label.NormalizeKey(name)
		if err != nil {
			c.faults.AddKey(&v.Node.Members[i], member.Pointer, errs.CodeFormat, "%s", err)
			continue
		}
		if c.route.Xattr(key) != nil {
			c.faults.AddKey(&v.Node.Members[i], member.Pointer, errs.CodeConflict, "is the same key as another: capitals and blanks do not count")
			continue
		}
		c.route.Xattrs = append(c.route.Xattrs, c.xattr(key, member))
	}
}

func (c *compiler) xattr(key string, v document.Value) Xattr {
	x := Xattr{Key: key}
	if x.Title, _ = str(v.Get("title")); x.Title == "" {
		x.Title = key
	}
	switch typ, _ := str(v.Get("type")); typ {
	case "string":
		x.Type = document.String
	case "number":
		x.Type = document.Number
	case "boolean":
		x.Type = document.Bool
	}
	x.Minimum, x.Maximum = c.bound(v.Get("minimum"), &x), c.bound(v.Get("maximum"), &x)
	if x.Minimum != nil && x.Maximum != nil && *x.Minimum > *x.Maximum {
		v.Get("maximum").Fail(errs.CodeRange, "must not be less than minimum")
	}
	if format, _ := str(v.Get("format")); format == "date" {
		x.Date = true
		if x.Type != document.String {
			v.Get("format").Fail(errs.CodeConflict, "goes with type: string")
		}
	}
	if def := v.Get("default"); def.Given() {
		if value, ok := scalar(def); ok {
			x.Default = &value
			if !x.Fits(value) {
				def.Fail(errs.CodeType, "must be %s, as type says", x.Wants())
			} else if outside := x.Outside(value); outside != "" {
				def.Fail(errs.CodeRange, "%s", outside)
			}
		}
	}
	if required := v.Get("required"); isKind(required, document.Bool) {
		x.Required = required.Node.Bool
	}
	if edit := v.Get("edit"); isKind(edit, document.List) {
		x.Edit = declared{c}.roleNames(edit)
	}
	return x
}

// bound reads a bound of a number.
func (c *compiler) bound(v document.Value, x *Xattr) *float64 {
	if !isKind(v, document.Number) {
		return nil
	}
	if x.Type != document.Number {
		v.Fail(errs.CodeConflict, "has no effect: only an XATTR of the type number has a bound")
		return nil
	}
	f, err := strconv.ParseFloat(v.Node.Text, 64)
	if err != nil {
		v.Fail(errs.CodeRange, "is larger than a bound can be")
		return nil
	}
	return &f
}

// Form is the JSON Schema of the XATTRs that a performer sends.
type Form struct {
	source  []byte
	asked   []string // what it has properties for
	schema  *jsonschema.Schema
	cost    formCost
	refused string // why a stored form cannot be used, "" if it can
}

// Source returns the schema as it stands in the document.
func (f *Form) Source() []byte { return f.source }

// Asked returns the keys of the XATTRs that the form describes, in its order. It
// is nil if the form is nil or describes none by name.
func (f *Form) Asked() []string {
	if f == nil {
		return nil
	}
	return f.asked
}

// keysOf returns the keys of the properties that a schema describes.
func keysOf(schema *document.Node) (keys []string) {
	if properties := schema.Get("properties"); properties != nil && properties.Kind == document.Object {
		for i := range properties.Members {
			keys = append(keys, properties.Members[i].Key)
		}
	}
	return keys
}

// readTask reads what a performer is asked for.
func (c *compiler) readTask(a *Action, v document.Value) {
	resolutions := v.Get("resolutions")
	c.checkNames(resolutions, "resolution")
	if isKind(resolutions, document.Object) {
		for i := range resolutions.Node.Members {
			name, member := resolutions.Member(i)
			title, _ := str(member)
			if title == "" {
				title = name
			}
			a.Resolutions = append(a.Resolutions, Resolution{Name: name, Title: title})
		}
	}
	if form := v.Get("form"); isKind(form, document.Object) {
		a.Form = c.form(form)
	}
	accept, _ := str(v.Get("accept"))
	a.MustAccept = accept == "required"
}

// form compiles a schema. It refers to nothing outside itself, and validating
// by it is bounded. A form of a stored route that is not is kept without a
// schema.
func (c *compiler) form(v document.Value) *Form {
	f := &Form{source: v.Node.AppendJSON(nil), asked: keysOf(v.Node)}
	fault := f.compile(v, &c.forms)
	switch {
	case fault == nil:
		return f
	case c.stored:
		return &Form{source: f.source, asked: f.asked, refused: fmt.Sprintf("%s %s", fault.Pointer, fault.Detail)}
	}
	document.Value{Node: v.Node, Pointer: fault.Pointer, Faults: v.Faults}.Fail(fault.Code, "%s", fault.Detail)
	return nil
}

// compile reads the form from v and returns what is wrong with it.
func (f *Form) compile(v document.Value, budget *formBudget) *errs.Fault {
	var wide document.Faults
	failWide(document.Value{Node: v.Node, Pointer: v.Pointer, Faults: &wide})
	if list := wide.List(); list != nil {
		return &list[0]
	}
	parts := countParts(v.Node)
	if parts.count > maxFormParts {
		return &errs.Fault{Pointer: v.Pointer, Code: errs.CodeRange, Detail: fmt.Sprintf("has more than %d schemas; what references name counts again", maxFormParts)}
	}
	if budget.parts += parts.count; budget.parts > maxFormsParts {
		return &errs.Fault{Pointer: v.Pointer, Code: errs.CodeRange, Detail: fmt.Sprintf("is too much: the forms of a route may have %d schemas together", maxFormsParts)}
	}
	regexes := &patterns{budget: budget, compiled: map[string]*pattern{}}
	schema, anchored, err := compileForm(f.source, parts.anchors, regexes)
	switch {
	case regexes.refused != nil:
		return &errs.Fault{Pointer: v.Pointer, Code: errs.CodeRange, Detail: regexes.refused.Error()}
	case err != nil:
		if fault := formFault(v, err); fault != nil {
			return fault
		}
		detail := strings.ReplaceAll(err.Error(), formURL+"#", "")
		return &errs.Fault{Pointer: v.Pointer, Code: errs.CodeFormat, Detail: "is not a valid JSON Schema: " + clipLong(strings.Join(strings.Fields(detail), " "))}
	}
	regexes.sealed = true
	g := newFormGraph(schema, anchored)
	costly := g.order()
	if costly == nil {
		costly = g.check()
	}
	if costly != nil {
		return &errs.Fault{Pointer: v.Pointer + formPointer(costly.at.Location), Code: errs.CodeRange, Detail: costly.detail}
	}
	f.schema, f.cost = schema, g.objectCost()
	return nil
}

const formURL = "urn:flowdrive:form"

// compileForm compiles the source of a form, and its parts that have a dynamic
// anchor. It fails if the source is not a valid JSON Schema.
func compileForm(source []byte, anchors []string, regexes *patterns) (schema *jsonschema.Schema, anchored []*jsonschema.Schema, err error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		return nil, nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	compiler.UseRegexpEngine(regexes.compile)
	if err := compiler.AddResource(formURL, value); err != nil {
		return nil, nil, err
	}
	if schema, err = compiler.Compile(formURL); err != nil {
		return nil, nil, err
	}
	for _, pointer := range anchors {
		one, err := compiler.Compile(formURL + "#" + (&url.URL{Path: pointer}).EscapedPath())
		if err != nil {
			continue // not a schema, and so nothing that a reference can name
		}
		anchored = append(anchored, one)
	}
	return schema, anchored, nil
}

// formPointer returns the pointer of a schema within its form, from the
// location that the compiler gives it.
func formPointer(location string) string {
	fragment, ok := strings.CutPrefix(location, formURL+"#")
	pointer, err := url.PathUnescape(fragment)
	if !ok || err != nil {
		return "" // a schema of the standard, to which the form refers
	}
	return pointer
}

func clipLong(s string) string {
	const most = 300
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Sent is an XATTR that a performer sends; Value nil removes it.
type Sent struct {
	Key   string
	Value *label.Value
}

// Faults returns what is wrong with what a performer sends, at most 1,000
// faults with pointers below that one. What would take too long to validate is
// a fault of its own.
func (f *Form) Faults(sent []Sent, pointer string) []errs.Fault {
	if f.refused != "" {
		return []errs.Fault{{Pointer: pointer, Code: errs.CodeRange, Detail: "cannot be validated by the stored form: " + f.refused + ". The route must be stored again with a smaller form"}}
	}
	var out []errs.Fault
	value, size := make(map[string]any, len(sent)), 0
	for _, x := range sent {
		size += len(x.Key)
		value[x.Key] = nil
		if x.Value == nil {
			continue
		}
		size += len(x.Value.Text)
		value[x.Key] = plain(*x.Value)
		if x.Value.Kind == document.Number && isWide(x.Value.Text) {
			out = append(out, errs.Fault{Pointer: document.Pointer(pointer, x.Key), Code: errs.CodeRange, Detail: wideNumber})
		}
	}
	if out == nil && f.cost.of(len(value), size) > maxValidationCost {
		out = []errs.Fault{{Pointer: pointer, Code: errs.CodeRange, Detail: "would take too long to validate by the form; send fewer or shorter XATTRs"}}
	}
	if out != nil {
		return out[:min(len(out), mostFaults)]
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](f.schema.Validate(value))
	if !ok {
		return nil
	}
	leaves(invalid, pointer, &out)
	slices.SortFunc(out, byPlace)
	out = slices.Compact(out)
	return out[:min(len(out), mostFaults)]
}

func plain(v label.Value) any {
	switch v.Kind {
	case document.Number:
		return json.Number(v.Text)
	case document.Bool:
		return v.Text == "true"
	case document.Null, document.String, document.List, document.Object:
	}
	return v.Text
}

// leaves turns the validator's errors that have no cause into faults.
func leaves(e *jsonschema.ValidationError, pointer string, out *[]errs.Fault) {
	at := pointer
	for _, step := range e.InstanceLocation {
		at = document.Pointer(at, step)
	}
	if k, is := e.ErrorKind.(*kind.PropertyNames); is { // its causes are about the name as if it were the value
		*out = append(*out, errs.Fault{Pointer: document.Pointer(at, k.Property), Code: errs.CodeUnknownField, Detail: "is not a name that the form takes"})
		return
	}
	for _, cause := range e.Causes {
		leaves(cause, pointer, out)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.DependentRequired:
		together(k.Prop, k.Missing, at, out)
	case *kind.Dependency: // of earlier drafts
		together(k.Prop, k.Missing, at, out)
	case *kind.Required:
		for _, key := range k.Missing {
			*out = append(*out, errs.Fault{Pointer: document.Pointer(at, key), Code: errs.CodeRequired, Detail: "is required by the form"})
		}
	case *kind.AdditionalProperties:
		for _, key := range k.Properties {
			*out = append(*out, errs.Fault{Pointer: document.Pointer(at, key), Code: errs.CodeUnknownField, Detail: "is not in the form"})
		}
	case *kind.Type:
		*out = append(*out, errs.Fault{Pointer: at, Code: errs.CodeType, Detail: "must be " + explainWanted(k.Want)})
	default:
		if len(e.Causes) == 0 {
			*out = append(*out, errs.Fault{Pointer: at, Code: errs.CodeRange, Detail: explainForm(e.ErrorKind)})
		}
	}
}

// together adds faults of what another XATTR needs beside it.
func together(with string, missing []string, at string, out *[]errs.Fault) {
	for _, key := range missing {
		*out = append(*out, errs.Fault{Pointer: document.Pointer(at, key), Code: errs.CodeRequired, Detail: "is required together with " + clip(with)})
	}
}
