package schema_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"flowdrive/schema"
)

// compiler knows every schema.
func compiler(t *testing.T) *jsonschema.Compiler {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, name := range schema.Names() {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON(name)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := c.AddResource("urn:flowdrive:schema:"+name, value); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return c
}

// TestSchemas: each is a schema of the dialect that it names, under the id
// that follows from its name, with every definition of its own.
func TestSchemas(t *testing.T) {
	t.Parallel()
	c := compiler(t)
	names := schema.Names()
	if !slices.IsSorted(names) || !slices.Contains(names, "route") {
		t.Errorf("names: %q", names)
	}
	for _, name := range names {
		var head struct {
			Schema      string                     `json:"$schema"`
			ID          string                     `json:"$id"`
			Title       string                     `json:"title"`
			Description string                     `json:"description"`
			Defs        map[string]json.RawMessage `json:"$defs"`
		}
		if err := json.Unmarshal(schema.JSON(name), &head); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if head.Schema != "https://json-schema.org/draft/2020-12/schema" || head.ID != "urn:flowdrive:schema:"+name || head.Title == "" || head.Description == "" {
			t.Errorf("%s begins with %+v", name, head)
		}
		at := []string{""}
		for _, def := range slices.Sorted(maps.Keys(head.Defs)) {
			at = append(at, "#/$defs/"+def)
		}
		for _, fragment := range at {
			if _, err := c.Compile(head.ID + fragment); err != nil {
				t.Errorf("%s%s: %v", name, fragment, err)
			}
		}
	}
	if schema.JSON("none") != nil || schema.JSON("../json/route") != nil {
		t.Error("a schema was found that does not exist")
	}
}

func TestDocumentsAndSchemas(t *testing.T) {
	t.Parallel()
	c := compiler(t)
	for _, test := range []struct{ schema, good, bad string }{
		{"case", `{"title": null, "state": "canceled", "roles": {"a": ["sam", "@admins"]}}`, `{"title": 7}|{"xyz": 1}|{"priority": 70000}|{"roles": {"a": ["@nobody"]}}`},
		{"case#start", `{"route": "bug", "input": {"a": [1]}, "priority": "7"}|{"routeId": 12}`, `{}|{"route": ""}|{"route": "bug", "nope": 1}`},
		{"task", `{}|{"do": "perform", "comment": "Done."}|{"xattrDict": {"a": null}}`, `{"do": "dance"}|{"xattrDict": {"a": []}}|[]`},
		{"timer", `{}|{"limit": "P3D"}|{"limit": 300}|{"limit": null, "name": "x"}`, `{"limit": -1}|{"limit": true}|{"limit": 1.5}|{"until": "P3D"}|[]`},
		{"user", `{"password": "x"}|{"deputy": {"user": "ann", "to": "2012-11-10"}}|{"admin": null}`, `{"password": ""}|{"deputy": {"user": "ann"}}|{"admin": "yes"}`},
		{"team", `{"members": ["sam"]}|{"members": null}`, `{"members": ["a b"]}|{"users": []}`},
		{"hook", `{}|{"verify": {"scheme": "github", "secret": "x"}, "headers": ["X-A"], "rate": "60/minute"}|{"deliver": {"label": "Reply", "case": {"json": "a.b"}}}`, `{"verify": {}}|{"rate": "often"}|{"deliver": {"label": "a b", "case": {"query": "x"}}}|{"deliver": {"label": "A", "case": {}}}|{"secret": "x"}`},
		{"hold", `{"route": "bug"}|{"group": "g", "route": null, "engine": false}|{"engine": true, "reason": "x"}`, `{}|{"engine": false}|{"route": "bug", "group": "g"}|{"engine": true, "route": "bug"}|{"group": "a b"}|{"engine": true, "until": 1}`},
		{"me", `{"password": "x", "oldPassword": "y"}|{"deputy": null}`, `{"password": "x"}|{"oldPassword": "x"}|{"admin": true}`},
		{"app-password", `{}|{"label": "x"}`, `{"secret": "x"}|[]`},
		{
			"app-password#made", `{"label": "x", "created": "2012-11-09T12:34:56Z", "lastUsed": null, "secret": "fd-` + strings.Repeat("a", 32) + `"}`,
			`{"label": "x", "created": "2012-11-09T12:34:56Z", "lastUsed": null}`,
		},
		{"calendar-link", `{}|{"label": "x"}`, `{"url": "x"}|[]`},
		{
			"calendar-link#made", `{"label": "x", "created": "2012-11-09T12:34:56Z", "lastUsed": null, "url": "/calendar/` + strings.Repeat("a", 32) + `.ics"}`,
			`{"label": "x", "created": "2012-11-09T12:34:56Z", "lastUsed": null}`,
		},
		{"clock#move", `{"advance": "P7D"}|{"advance": 60}|{"set": "2012-11-11T23:00:00Z"}`, `{}|{"advance": "P1D", "set": "x"}|{"back": 1}`},
	} {
		compiled, err := c.Compile("urn:flowdrive:schema:" + test.schema)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range strings.SplitSeq(test.good, "|") {
			if err := compiled.Validate(value(t, doc)); err != nil {
				t.Errorf("%s refuses %s: %v", test.schema, doc, err)
			}
		}
		for doc := range strings.SplitSeq(test.bad, "|") {
			if compiled.Validate(value(t, doc)) == nil {
				t.Errorf("%s takes %s", test.schema, doc)
			}
		}
	}
}

func value(t *testing.T, doc string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}
