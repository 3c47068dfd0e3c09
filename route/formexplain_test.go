package route_test

import (
	"testing"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// TestFormWords: what does not fit a form is told in the words of declared XATTRs, not in those
// of a validator.
func TestFormWords(t *testing.T) {
	t.Parallel()
	number := func(text string) label.Value { return label.Value{Kind: document.Number, Text: text} }
	for _, test := range []struct {
		schema string
		value  label.Value
		want   string
	}{
		{`{"type":"string","format":"date"}`, label.Text("31.12.2026"), "must be a date as 2026-12-24, not 31.12.2026"},
		{`{"format":"date-time"}`, label.Text("2026-12-24"), "must be a date and time with its offset as 2026-12-24T08:30:00+01:00, not 2026-12-24"},
		{`{"format":"email"}`, label.Text("ann"), "must be a mail address as ann@example.org, not ann"},
		{`{"format":"uri"}`, label.Text("here"), "must be an address as https://example.org/page, not here"},
		{`{"format":"time"}`, label.Text("8"), "must be a time with its offset as 08:30:00Z, not 8"},
		{`{"format":"uuid"}`, label.Text("8"), "must be a UUID as 123e4567-e89b-42d3-a456-426614174000, not 8"},
		{`{"type":"number","exclusiveMinimum":0}`, number("-5"), "must be more than 0, not -5"},
		{`{"type":"number","exclusiveMaximum":10}`, number("10"), "must be less than 10, not 10"},
		{`{"type":"number","minimum":0.5}`, number("0.1"), "must be at least 0.5, not 0.1"},
		{`{"type":"number","maximum":100}`, number("100.25"), "must be at most 100, not 100.25"},
		{`{"type":"number","multipleOf":0.01}`, number("1.234"), "must be a multiple of 0.01, not 1.234"},
		{`{"type":"integer"}`, number("1.5"), "must be a whole number"},
		{`{"enum":["low","high",3]}`, label.Text("mid"), "must be low, high or 3, not mid"},
		{`{"enum":["low","high",3]}`, label.Text("hihg"), `must be low, high or 3, not hihg; did you mean "high"?`},
		{`{"const":"yes"}`, label.Text("no"), "must be yes, not no"},
		{`{"type":"string","minLength":1}`, label.Text(""), "must have at least 1 character, not 0"},
		{`{"type":"string","maxLength":3}`, label.Text("long"), "must have at most 3 characters, not 4"},
		{`{"type":"string","pattern":"^[A-Z]+$"}`, label.Text("abc"), "must match the pattern ^[A-Z]+$, not abc"},
		{`{"not":{"const":"x"}}`, label.Text("x"), "is what the form excludes"},
		{`false`, label.Text("x"), "is not taken by the form"},
		{`{"oneOf":[{"type":"string"},{"minLength":1}]}`, label.Text("x"), "fits several of the alternatives of the form, and must fit exactly one"},
	} {
		faults := mustForm(t, `{"properties":{"a":`+test.schema+`}}`).Faults([]route.Sent{{Key: "a", Value: &test.value}}, "")
		if len(faults) != 1 || faults[0].Pointer != "/a" || faults[0].Detail != test.want {
			t.Errorf("%s of %q: got %v, want %q", test.schema, test.value.Text, faults, test.want)
		}
	}
	for schema, want := range map[string]string{
		`{"minProperties":2}`:                        " must have at least 2 XATTRs, not 1",
		`{"maxProperties":0}`:                        " must have at most 0 XATTRs, not 1",
		`{"dependentRequired":{"a":["b","c"]}}`:      "/b is required together with a|/c is required together with a",
		`{"propertyNames":{"pattern":"^[b-z]+$"}}`:   "/a is not a name that the form takes",
		`{"additionalProperties":false}`:             "/a is not in the form",
		`{"required":["b"],"properties":{"a":true}}`: "/b is required by the form",
	} {
		got, x := "", label.Text("x")
		for i, f := range mustForm(t, schema).Faults([]route.Sent{{Key: "a", Value: &x}}, "") {
			if i > 0 {
				got += "|"
			}
			got += f.Pointer + " " + f.Detail
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", schema, got, want)
		}
	}
}
