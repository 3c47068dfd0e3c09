package route_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

const formPlace = "/actions/x/form"

// withForm returns a route with an action of that form.
func withForm(form string) string {
	return `{"states":{"a":{"type":"start"}},"actions":{"go":{"trigger":"init"},"x":{"in":["a"],"allowed":"everyone","form":` + form + `}}}`
}

func readJSON(t *testing.T, text string) *document.Node {
	t.Helper()
	n, err := document.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return n
}

// mustForm compiles a form that is accepted.
func mustForm(t *testing.T, form string) *route.Form {
	t.Helper()
	r, _, err := route.Parse("x", readJSON(t, withForm(form)))
	if err != nil {
		t.Fatal(err)
	}
	return r.Actions[1].Form
}

// refusedForm returns the only fault of a form, its pointer below the form.
func refusedForm(t *testing.T, form string) (pointer, detail string) {
	t.Helper()
	_, _, err := route.Parse("x", readJSON(t, withForm(form)))
	e, ok := errors.AsType[*errs.Error](err)
	if !ok || e.Kind != errs.Invalid || len(e.Faults) != 1 {
		t.Fatalf("got %v; want one fault", err)
	}
	pointer, ok = strings.CutPrefix(e.Faults[0].Pointer, formPlace)
	if !ok {
		t.Fatalf("the fault is at %q", e.Faults[0].Pointer)
	}
	return pointer, e.Faults[0].Detail
}

// bomb returns a form in which each level applies the next one as often as
// the pattern has an R.
func bomb(levels int, pattern string) string {
	draft, prefix := "https://json-schema.org/draft/2020-12/schema", "$defs"
	switch {
	case strings.Contains(pattern, "dependencies"), strings.Contains(pattern, "additionalItems"):
		draft, prefix = "http://json-schema.org/draft-07/schema#", "definitions"
	case strings.Contains(pattern, "definitions"):
		pattern, prefix = strings.TrimPrefix(pattern, "definitions "), "definitions"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"$schema":%q,"allOf":[{"$ref":"#/%s/d0"}],%q:{`, draft, prefix, prefix)
	for i := range levels {
		next := fmt.Sprintf(`{"$ref":"#/%s/d%d"}`, prefix, i+1)
		anchor := fmt.Sprintf(`{"$ref":"#a%d"}`, i+1)
		dynamic := fmt.Sprintf(`{"$dynamicRef":"#y%d"}`, i+1)
		level := strings.NewReplacer("R", next, "A", anchor, "D", dynamic).Replace(pattern)
		if draft != "http://json-schema.org/draft-07/schema#" {
			level += fmt.Sprintf(`,"$anchor":"a%d","$dynamicAnchor":"y%d"`, i, i)
		}
		fmt.Fprintf(&b, `"d%d":{%s},`, i, level)
	}
	last := `{"minProperties":5`
	if draft != "http://json-schema.org/draft-07/schema#" {
		last += fmt.Sprintf(`,"$anchor":"a%d","$dynamicAnchor":"y%d"`, levels, levels)
	}
	fmt.Fprintf(&b, `"d%d":%s}}}`, levels, last)
	return b.String()
}

// A form whose references double at each level is refused, whatever applies
// them, and one that is small enough is validated.
func TestFormsThatDouble(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		`"allOf":[R,R]`, `"anyOf":[R,R]`, `"oneOf":[R,R]`, `"not":R,"if":R`, `"if":R,"then":R`, `"if":R,"else":R`,
		`"allOf":[A,A]`, `"allOf":[D,D]`, `"anyOf":[A,D]`, `definitions "allOf":[R,R]`,
		`"dependentSchemas":{"a":R,"b":R}`, `"dependencies":{"a":R,"b":R}`,
		`"properties":{"a":R},"patternProperties":{"a":R}`,
		`"patternProperties":{"a":R,"b":R}`, `"propertyNames":R,"additionalProperties":R`, `"propertyNames":R,"unevaluatedProperties":R`,
		`"items":R,"contains":R`, `"prefixItems":[R],"contains":R`, `"unevaluatedItems":R,"contains":R`, `"additionalItems":R,"items":[{}],"contains":R`,
		`"allOf":[{"properties":{"a":R}},{"properties":{"a":R}}]`,
	} {
		for _, levels := range []int{18, 26, 60} {
			pointer, detail := refusedForm(t, bomb(levels, pattern))
			if !strings.Contains(pointer, "/d") || !strings.HasPrefix(detail, "takes more than 10000 steps") {
				t.Errorf("%s, %d levels: %q %q", pattern, levels, pointer, detail)
			}
		}
		mustForm(t, bomb(8, pattern)).Faults(sent("a", "x", "b", "y"), "")
	}
}

func sent(pairs ...string) []route.Sent {
	var out []route.Sent
	for i := 0; i < len(pairs); i += 2 {
		v := label.Text(pairs[i+1])
		out = append(out, route.Sent{Key: pairs[i], Value: &v})
	}
	return out
}

// A form may come back to itself for what is in the value, if that does not
// multiply.
func TestFormsThatComeBack(t *testing.T) {
	t.Parallel()
	for _, form := range []string{
		`{"properties":{"a":{"$ref":"#"}},"additionalProperties":{"$ref":"#"}}`,
		`{"$defs":{"t":{"items":{"$ref":"#/$defs/t"},"minItems":1}},"properties":{"a":{"$ref":"#/$defs/t"}}}`,
		`{"$dynamicAnchor":"t","properties":{"a":{"$dynamicRef":"#t"}}}`,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}}}`,
		`{"properties":{"a":{"$ref":"#"}},"additionalProperties":{"$ref":"#"},"unevaluatedProperties":{"$ref":"#"}}`,
		`{"prefixItems":[{"$ref":"#"}],"items":{"$ref":"#"},"unevaluatedItems":{"$ref":"#"}}`,
	} {
		mustForm(t, form)
	}
	for form, want := range map[string]string{
		`{"$ref":"#"}`:             "refers to itself",
		`{"anyOf":[{"$ref":"#"}]}`: "refers to itself",
		`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}},"properties":{"x":{"$ref":"#/$defs/a"}}}`:                                      "refers to itself",
		`{"$dynamicAnchor":"t","allOf":[{"$dynamicRef":"#t"}]}`:                                                                                                          "refers to itself",
		`{"$id":"urn:a","$defs":{"p":{"$id":"urn:p","$dynamicRef":"#t","$defs":{"t":{"$dynamicAnchor":"t"}}},"q":{"$dynamicAnchor":"t","$ref":"urn:p"}},"$ref":"urn:p"}`: "refers to itself",
		`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`:                                                                                "takes more than 10000 steps",
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"allOf":[{"$recursiveRef":"#"}]}`:                                             "refers to itself",
	} {
		if _, detail := refusedForm(t, form); !strings.HasPrefix(detail, want) {
			t.Errorf("%s: %q; want %q", form, detail, want)
		}
	}
}

// What is wrong is told at the schema that costs too much.
func TestFormsArePointedInto(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"properties":{"fine":{},"a/b":{"allOf":[`)
	for range 101 {
		b.WriteString(`{"$ref":"#/$defs/some"},`)
	}
	b.WriteString(`{}]}},"$defs":{"some":{"allOf":[{}`)
	b.WriteString(strings.Repeat(",{}", 99))
	b.WriteString(`]}}}`)
	if pointer, _ := refusedForm(t, b.String()); pointer != "/properties/a~1b" {
		t.Errorf("the fault is at %q", pointer)
	}
}

// Forms are bounded before they are compiled: the compiler takes time that
// grows with the square of the schemas, and references may name a part of the
// document over and over.
func TestFormsAreBounded(t *testing.T) {
	t.Parallel()
	many := func(n int, each string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":%s,`, i, strings.ReplaceAll(each, "N", strconv.Itoa(i)))
		}
		return b.String()
	}
	nested := strings.Repeat(`{"x":`, 50) + `{"properties":{` + many(90, `{"type":"string"}`) + `"z":{}}}` + strings.Repeat("}", 50)
	refs := ""
	for i := range 49 {
		refs += `{"$ref":"#` + strings.Repeat("/x", i+1) + `"},`
	}
	for form, want := range map[string]string{
		`{"properties":{` + many(4000, `{}`) + `"z":{}}}`:                               "has more than 4000 schemas",
		`{"x":` + nested + `,"allOf":[` + refs + `{}]}`:                                 "has more than 4000 schemas",
		`{"properties":{"a":{"pattern":"(a?b?c?d?e?f?){1000}[a-z]{1000}{50}"}}}`:        "is not a valid JSON Schema",
		`{"properties":{` + many(9, `{"pattern":"N(a?b?c?d?e?f?){1000}"}`) + `"z":{}}}`: "has regular expressions that are too large",
		`{"properties":{"a":{"pattern":"` + strings.Repeat("a", 4097) + `"}}}`:          "has a regular expression of more than 4096 bytes",
		`{"patternProperties":{"` + strings.Repeat("a", 4097) + `":{}}}`:                "has a regular expression of more than 4096 bytes",
	} {
		if pointer, detail := refusedForm(t, form); pointer != "" || !strings.HasPrefix(detail, want) {
			t.Errorf("%.60s: %q %q; want %q", form, pointer, detail, want)
		}
	}
	for form, pointer := range map[string]string{
		`{"properties":{"a":{"multipleOf":1e1000001}}}`:                          "/properties/a/multipleOf",
		`{"properties":{"a":{"minimum":-1e-401}}}`:                               "/properties/a/minimum",
		`{"properties":{"a":{"enum":[` + strings.Repeat("1", 401) + `]}}}`:       "/properties/a/enum/0",
		`{"properties":{"a":{"maximum":1e99999999999999999999999999999999999}}}`: "/properties/a/maximum",
	} {
		if got, detail := refusedForm(t, form); got != pointer || !strings.Contains(detail, "400") {
			t.Errorf("%.60s: %q %q; want %q", form, got, detail, pointer)
		}
	}
	mustForm(t, `{"properties":{`+many(1500, `{"type":"string","pattern":"^[a-z]{1,20}$"}`)+`"z":{}}}`)
}

// The forms of a route are bounded together.
func TestFormsOfARouteAreBounded(t *testing.T) {
	t.Parallel()
	form := `{"properties":{` + strings.TrimSuffix(strings.Repeat(`"kN":{},`, 3900), ",") + `}}`
	for i := range 3900 {
		form = strings.Replace(form, "kN", "k"+strconv.Itoa(i), 1)
	}
	actions := `"go":{"trigger":"init"}`
	for i := range 12 {
		actions += fmt.Sprintf(`,"x%d":{"in":["a"],"allowed":"everyone","form":%s}`, i, form)
	}
	_, _, err := route.Parse("x", readJSON(t, `{"states":{"a":{"type":"start"}},"actions":{`+actions+`}}`))
	e, ok := errors.AsType[*errs.Error](err)
	if !ok || len(e.Faults) != 2 || e.Faults[0].Pointer != "/actions/x10/form" || !strings.HasPrefix(e.Faults[0].Detail, "is too much") {
		t.Errorf("%.300v", err)
	}
}

// Numbers that take long to calculate with are refused anywhere in a route.
func TestWideNumbersOfRoutes(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"1e999999", "1e1000001", "-1E-401", strings.Repeat("9", 401)} {
		_, _, err := route.Parse("x", readJSON(t, `{"priority":`+number+`,"states":{"a":{"type":"start"}},"actions":{"go":{"trigger":"init"}}}`))
		if err == nil || !strings.Contains(err.Error(), "/priority: must have at most 400 digits") {
			t.Errorf("%.20s: %v", number, err)
		}
	}
}

// What is sent is not validated if that could take too long, and the faults
// of what does not fit are bounded.
func TestValidatingIsBounded(t *testing.T) {
	t.Parallel()
	wide := func(n int, value string) []route.Sent {
		var pairs []string
		for i := range n {
			pairs = append(pairs, "k"+strconv.Itoa(i), value)
		}
		return sent(pairs...)
	}
	for name, test := range map[string]struct {
		form  string
		sent  []route.Sent
		count int
		want  string
	}{
		"fits":            {`{"properties":{"k0":{"type":"string"}}}`, wide(10_000, "x"), 0, ""},
		"does not fit":    {bomb(10, `"anyOf":[R,R]`), wide(1, "x"), 1, "/x must have at least"},
		"unknown":         {`{"additionalProperties":false}`, wide(5000, "x"), 1000, "/x/k0 is not in the form"},
		"of a wrong type": {`{"additionalProperties":{"type":"number"}}`, wide(5000, "x"), 1000, "/x/k0 must be a number"},
		"many":            {`{"additionalProperties":{"allOf":[{"type":"number"},{"minimum":5},{"maximum":7}]}}`, wide(15_000, "x"), 1, "/x would take too long"},
		"listed":          {`{"properties":{"k0":{"pattern":"(a?b?c?){100}d"}}}`, wide(1, strings.Repeat("abc", 50_000)), 1, "/x would take too long"},
		"by pattern":      {`{"patternProperties":{"(a?b?c?){100}d":{}}}`, sent(strings.Repeat("abc", 50_000), "x"), 1, "/x would take too long"},
		"names":           {`{"propertyNames":{"pattern":"(a?b?c?){100}d"}}`, sent(strings.Repeat("abc", 50_000), "x"), 1, "/x would take too long"},
		"a regex":         {`{"properties":{"a":{"format":"regex"}}}`, sent("a", strings.Repeat("a", 4097)), 1, "/x/a must be a regular expression, not aaa"},
		"a small regex":   {`{"properties":{"a":{"format":"regex"}}}`, sent("a", "a{1,1000}"), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults := mustForm(t, test.form).Faults(test.sent, "/x")
			if len(faults) != test.count {
				t.Fatalf("%d faults; want %d", len(faults), test.count)
			}
			if test.count > 0 && !strings.HasPrefix(faults[0].Pointer+" "+faults[0].Detail, test.want) {
				t.Errorf("%v; want %q", faults[0], test.want)
			}
		})
	}
}

// A number that a double holds may still be too long to calculate with.
func TestWideNumbersSent(t *testing.T) {
	t.Parallel()
	form := mustForm(t, `{"properties":{"a":{"type":"number","minimum":1,"multipleOf":1e-300}}}`)
	for text, want := range map[string]string{"3e307": "", "1e-1000001": "range", "0." + strings.Repeat("1", 400): "range"} {
		v := label.Value{Kind: document.Number, Text: text}
		got := ""
		for _, f := range form.Faults([]route.Sent{{Key: "a", Value: &v}}, "") {
			got += string(f.Code)
		}
		if got != want {
			t.Errorf("%.20s: %q; want %q", text, got, want)
		}
	}
}

// TestStoredRouteIsNotJudgedAgain: a version that was stored before the JSON Schema refused
// something can still be read, as the cases of it go on.
func TestStoredRouteIsNotJudgedAgain(t *testing.T) {
	t.Parallel()
	text := `{"roles":{"r":{"assign":["starter"]}},"states":{"a":{"type":"start"},"b":{"type":"complete"}},
		"actions":{"i":{"trigger":"init"},"x":{"in":["a"],"to":"b","role":"r","colour":"red"}}}`
	if _, _, err := route.Parse("x", readJSON(t, text)); !errs.Is(err, errs.Invalid) {
		t.Errorf("Parse: %v", err)
	}
	if r, err := route.ParseStored("x", readJSON(t, text), route.Meant{}); err != nil || len(r.Actions) != 2 {
		t.Errorf("ParseStored: %v, %v", r, err)
	}
}

// A route that was stored before its forms were bounded can be read; its
// action says why it cannot be performed.
func TestStoredForms(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{
		bomb(26, `"allOf":[R,R]`): "/actions/x/form/$defs/d14 takes more than 10000 steps",
		`{"$ref":"#"}`:            "/actions/x/form refers to itself",
		`{"properties":{"a":{"multipleOf":1e-999999}}}`:                        "/actions/x/form/properties/a/multipleOf must have at most 400 digits",
		`{"properties":{"a":{"pattern":"` + strings.Repeat("a", 4097) + `"}}}`: "/actions/x/form has a regular expression",
	} {
		r, err := route.ParseStored("x", readJSON(t, withForm(form)), route.Meant{})
		if err != nil {
			t.Fatal(err)
		}
		f := r.Actions[1].Form
		faults := f.Faults(sent("a", "b"), "/xattrDict")
		if len(faults) != 1 || faults[0].Pointer != "/xattrDict" || !strings.Contains(faults[0].Detail, want) {
			t.Errorf("%v; want %q", faults, want)
		}
		if string(f.Source()) != form {
			t.Errorf("the source is %s", f.Source())
		}
	}
	r, err := route.ParseStored("x", readJSON(t, withForm(`{"required":["a"]}`)), route.Meant{})
	if err != nil {
		t.Fatal(err)
	}
	if faults := r.Actions[1].Form.Faults(nil, ""); len(faults) != 1 || faults[0].Pointer != "/a" {
		t.Errorf("%v", faults)
	}
}
