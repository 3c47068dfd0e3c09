package web

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// field is a field of a form that becomes an XATTR.
type field struct {
	Key     string // of the XATTR
	Name    string // of the field: "x." and the key
	ID      string // of its element
	Label   string
	Hint    string
	Kind    string // text, area, json, source, radio, boxes, select, check, date, datetime, time, email, url, password
	Number  bool   // digits are what it takes
	Needed  bool
	Loose   bool // needed for one of several actions of the form: the browser does not insist on it
	Value   string
	Options []option
	Suggest []option // what is offered while one types
	Fault   string
	Fill    string // what browsers fill a password in with, as autocomplete has it

	typ string // of the schema: string, number, integer, boolean, or another
}

// option is a value that can be chosen.
type option struct {
	Value, Title string
	Chosen       bool
}

// property is what the renderer reads of a JSON Schema.
type property struct {
	Type             any               `json:"type"`
	Title            string            `json:"title"`
	Description      string            `json:"description"`
	Enum             []json.RawMessage `json:"enum"`
	Format           string            `json:"format"`
	Default          json.RawMessage   `json:"default"`
	MaxLength        int               `json:"maxLength"`
	Minimum          *json.Number      `json:"minimum"`
	Maximum          *json.Number      `json:"maximum"`
	ExclusiveMinimum *json.Number      `json:"exclusiveMinimum"`
}

// fieldsOf returns the fields of the form of an action, in its order. Values are those of
// the case, else the defaults.
func fieldsOf(f *route.Form, have label.Dict) []*field {
	if f == nil {
		return nil
	}
	var schema struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if json.Unmarshal(f.Source(), &schema) != nil {
		return nil
	}
	var out []*field
	for _, key := range f.Asked() {
		p := schema.Properties[key]
		one := p.field(key)
		one.Needed = slices.Contains(schema.Required, key)
		if v, set := have.Get(key); set {
			one.Value = v.Text
		}
		one.choose()
		out = append(out, one)
	}
	return out
}

// draftFields returns the fields of what a draft case lacks.
func draftFields(c *machine.Case, r *route.Route) []*field {
	var out []*field
	for _, x := range machine.Lacks(r, c.Xattrs) {
		one := xattrField(x)
		one.Needed = true
		one.choose()
		out = append(out, one)
	}
	return out
}

// xattrField returns the field of a declared XATTR.
func xattrField(d *route.Xattr) *field {
	p := boundsOf(d)
	p.Type, p.Title = "string", d.Title
	switch d.Type {
	case document.Number:
		p.Type = "number"
	case document.Bool:
		p.Type = "boolean"
	default:
	}
	if d.Date {
		p.Format = "date"
	}
	f := p.field(d.Key)
	f.Needed = d.Required && d.Default == nil
	if d.Default != nil {
		f.Value = d.Default.Text
	}
	return f
}

// field returns the field of a property of a schema.
func (p *property) field(key string) *field {
	f := &field{Key: key, Name: "x." + key, Label: cmp.Or(p.Title, key), Hint: p.Description, Kind: "text", typ: "string"}
	if name, ok := p.Type.(string); ok {
		f.typ = name
	}
	if len(p.Default) > 0 {
		f.Value = plainText(p.Default)
	}
	switch {
	case len(p.Enum) > 0:
		for _, value := range p.Enum {
			f.Options = append(f.Options, option{Value: plainText(value), Title: plainText(value)})
		}
		f.Kind = "radio"
		if len(f.Options) > mostRadios {
			f.Kind = "select"
		}
	case f.typ == "boolean":
		f.Kind = "check"
	case f.typ == "number" || f.typ == "integer":
		f.Number = true
		f.Hint = strings.TrimPrefix(strings.Join([]string{f.Hint, p.limits()}, "; "), "; ")
		f.Hint = strings.TrimSuffix(f.Hint, "; ")
	case f.typ == "object" || f.typ == "array":
		f.Kind = "json"
	case p.Format == "textarea" || p.MaxLength > longestLine:
		f.Kind = "area"
	case p.Format == "date" || p.Format == "email":
		f.Kind = p.Format
	case p.Format == "uri":
		f.Kind = "url"
	}
	return f
}

const (
	mostRadios  = 5   // above them it is a list to choose from
	longestLine = 120 // above it there is an area to write into
)

// limits returns the limits of a number in words.
func (p *property) limits() string {
	var out []string
	if p.ExclusiveMinimum != nil {
		out = append(out, "more than "+p.ExclusiveMinimum.String())
	}
	if p.Minimum != nil {
		out = append(out, "at least "+p.Minimum.String())
	}
	if p.Maximum != nil {
		out = append(out, "at most "+p.Maximum.String())
	}
	return strings.Join(out, ", ")
}

// plainText returns a value of JSON as it is typed: a string without quotes.
func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// Insists reports whether the browser is to insist on a value. The drive does in any case.
func (f *field) Insists() bool { return f.Needed && !f.Loose }

// choose marks the option that is the field's value, or those of them.
func (f *field) choose() {
	if f.Kind != "boxes" {
		for i := range f.Options {
			f.Options[i].Chosen = f.Options[i].Value == f.Value
		}
		return
	}
	for _, name := range names(f.Value) {
		i := slices.IndexFunc(f.Options, func(o option) bool { return o.Value == name })
		if i < 0 { // it stays, to be seen and taken away
			f.Options = append(f.Options, option{Value: name, Title: name})
			i = len(f.Options) - 1
		}
		f.Options[i].Chosen = true
	}
}

// mostSuggested bounds the names that are offered while one types: a page stays small.
const mostSuggested = 500

// suggested returns users and teams as a field offers them.
func suggested(parties []Person) (out []option) {
	for _, p := range parties[:min(len(parties), mostSuggested)] {
		out = append(out, partyOption(p))
	}
	return out
}

// named returns names as a field offers them.
func named(all []string) (out []option) {
	for _, name := range all[:min(len(all), mostSuggested)] {
		out = append(out, option{Value: name})
	}
	return out
}

// asLocalTime writes a date and time as browsers read it. One that has an offset, or that is
// none, stays as it was typed: the browser would not show it.
func (f *field) asLocalTime() {
	value := strings.Replace(f.Value, " ", "T", 1)
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if _, err := time.Parse(layout, value); err == nil || value == "" {
			f.Value = value
			return
		}
	}
	f.Kind = "text"
}

// mostChoices bounds what is listed to choose from at once. Above it names are typed, and
// offered meanwhile.
const mostChoices = 40

// oneOf returns the field in which one of the options is chosen, or none.
func oneOf(f field, options []option) *field {
	if f.Kind, f.Options = "select", options; len(options) > mostChoices {
		f.Kind, f.Options, f.Suggest = "text", nil, options
	} else if f.Value != "" && !slices.ContainsFunc(options, func(o option) bool { return o.Value == f.Value }) {
		f.Options = append(slices.Clip(options), option{Value: f.Value, Title: f.Value}) // it stays, to be seen
	}
	return &f
}

// mostBoxes is how many options there is a box for each; more are typed.
const mostBoxes = 24

// someOf returns the field in which any of the options are chosen. Its hint says how they are
// typed, if they are many.
func someOf(f field, options []option) *field {
	if f.Kind, f.Suggest = "text", options; len(options) == 0 || len(options) > mostBoxes {
		return &f
	}
	f.Kind, f.Options, f.Suggest, f.Hint = "boxes", options, nil, ""
	for i := range f.Options {
		f.Options[i].Title = cmp.Or(f.Options[i].Title, f.Options[i].Value)
	}
	return &f
}

func partyOption(p Person) option {
	title := p.Shown()
	if p.Team && p.Name != string(identity.Everyone) {
		title = "the team " + title
	}
	return option{Value: p.Name, Title: title}
}

// fill gives the fields what was typed, their faults, and elements of their own.
func (x *visit) fill(fields []*field, prefix string) {
	for _, f := range fields {
		f.ID = prefix + f.Name
		f.Fault = x.refused.Of(f.Name)
		if x.sent == nil {
			continue
		}
		if f.Kind == "check" {
			f.Value = strconv.FormatBool(x.sent.Get(f.Name) == "true")
		} else if text, was := x.Sent(f.Name); was {
			f.Value = text
		}
		f.choose()
	}
}

// sentValue returns what was typed into the field as JSON, nil if it was left empty.
func (f *field) sentValue(v url.Values) json.RawMessage {
	text := sentText(v, f.Key)
	switch {
	case f.typ == "boolean" && slices.Contains([]string{"true", "on", "1"}, text):
		return json.RawMessage("true")
	case f.typ == "boolean" && slices.Contains([]string{"", "false", "off", "0"}, text):
		return json.RawMessage("false")
	case text == "":
		return nil
	case (f.typ == "number" || f.typ == "integer" || f.Kind == "json") && json.Valid([]byte(text)):
		return json.RawMessage(strings.TrimSpace(text))
	case len(f.Options) > 0 && f.typ != "string" && json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return document.AppendString(nil, text)
}

// askNumbers refuses numbers that people of different countries read differently, before the
// drive takes them as one of both. A value that the case has already may stay.
func askNumbers(fields []*field, v url.Values) error {
	var faults document.Faults
	for _, f := range fields {
		text := strings.TrimSpace(sentText(v, f.Key))
		if f.Number && text != f.Value && route.Ambiguous(text) {
			faults.Add(nil, document.Pointer("/xattrDict", f.Key), errs.CodeFormat, "can be read in two ways%s", route.NumberHint(label.Text(text)))
		}
	}
	return faults.Err()
}

// sentText returns what was sent for an XATTR, under any of the names that it has.
func sentText(v url.Values, key string) string {
	for _, name := range []string{"x." + key, "xattrDict." + key} {
		if v.Has(name) {
			return v.Get(name)
		}
	}
	return ""
}

// sentXattrs returns the XATTRs that a form sends, by its fields; those that are not among
// them, but were sent, as strings.
func sentXattrs(fields []*field, v url.Values) []member {
	var out []member
	known := map[string]bool{}
	for _, f := range fields {
		known[f.Key] = true
		if value := f.sentValue(v); value != nil {
			out = append(out, member{f.Key, value})
		}
	}
	for _, name := range sortedKeys(v) {
		key, is := strings.CutPrefix(name, "x.")
		if long, other := strings.CutPrefix(name, "xattrDict."); other && !v.Has("x."+long) {
			key, is = long, true
		}
		if is && !known[key] && v.Get(name) != "" {
			out = append(out, member{key, document.AppendString(nil, v.Get(name))})
		}
	}
	return out
}

// member is a member of a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

// object returns a JSON object of members that are not empty, in their order, on one
// line.
func object(members ...member) json.RawMessage {
	b := []byte{'{'}
	for _, m := range members {
		if m.value == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ", "...)
		}
		b = append(append(document.AppendString(b, m.key), ": "...), m.value...)
	}
	return append(b, '}')
}

// text is a member with a string, left out if it is empty.
func text(key, value string) member {
	if value == "" {
		return member{key: key}
	}
	return member{key, document.AppendString(nil, value)}
}
