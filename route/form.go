package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

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
	Edit     []string // roles that may change it, empty for none; nil: not declared
}

// Fits reports whether the value is of the declared type.
func (x *Xattr) Fits(v label.Value) bool { return x.Type == document.Null || x.Type == v.Kind }

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
	if def := v.Get("default"); def.Given() {
		if value, ok := scalar(def); ok {
			x.Default = &value
			if !x.Fits(value) {
				def.Fail(errs.CodeType, "must be %s, as type says", x.Wants())
			}
		}
	}
	if required := v.Get("required"); isKind(required, document.Bool) {
		x.Required = required.Node.Bool
	}
	if edit := v.Get("edit"); isKind(edit, document.List) {
		x.Edit = []string{}
		for i := range edit.Node.Items {
			if role, ok := str(edit.Item(i)); ok && c.isRole(edit.Item(i), role) {
				x.Edit = append(x.Edit, role)
			}
		}
	}
	return x
}

// Form is the JSON Schema of the XATTRs that a performer sends.
type Form struct {
	schema *jsonschema.Schema
	source []byte
}

// Source returns the schema as it stands in the document.
func (f *Form) Source() []byte { return f.source }

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

// form compiles a schema. It refers to nothing outside itself.
func (c *compiler) form(v document.Value) *Form {
	const url = "urn:flowdrive:form"
	f := &Form{source: v.Node.AppendJSON(nil)}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(f.source))
	if err != nil {
		v.Fail(errs.CodeFormat, "is no JSON Schema: %s", err)
		return nil
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err = compiler.AddResource(url, value); err == nil {
		f.schema, err = compiler.Compile(url)
	}
	if err != nil {
		detail := strings.ReplaceAll(err.Error(), url+"#", "")
		v.Fail(errs.CodeFormat, "is no JSON Schema: %s", clipLong(strings.Join(strings.Fields(detail), " ")))
		return nil
	}
	return f
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

// Faults judges what a performer sends, with pointers below that one.
func (f *Form) Faults(sent []Sent, pointer string) []errs.Fault {
	value := make(map[string]any, len(sent))
	for _, x := range sent {
		value[x.Key] = nil
		if x.Value != nil {
			value[x.Key] = plain(*x.Value)
		}
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](f.schema.Validate(value))
	if !ok {
		return nil
	}
	var out []errs.Fault
	leaves(invalid, pointer, &out)
	slices.SortFunc(out, byPlace)
	return slices.Compact(out)
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
	for _, cause := range e.Causes {
		leaves(cause, pointer, out)
	}
	at := pointer
	for _, step := range e.InstanceLocation {
		at = document.Pointer(at, step)
	}
	switch k := e.ErrorKind.(type) {
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
			detail := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
			*out = append(*out, errs.Fault{Pointer: at, Code: errs.CodeRange, Detail: fmt.Sprintf("does not fit the form: %s", clipLong(detail))})
		}
	}
}
