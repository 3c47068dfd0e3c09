package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/route"
	"flowdrive/schema"
)

// TestExamplesOfHelp: each example of a field that the help and the reference show is taken by
// the schema of the field, and has labels that there are.
func TestExamplesOfHelp(t *testing.T) {
	t.Parallel()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	roots := map[string]any{}
	for _, name := range schema.Names() {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON(name)))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("urn:flowdrive:schema:"+name, value); err != nil {
			t.Fatal(err)
		}
		roots[name] = value
	}
	tried := 0
	for _, name := range sortedNames(roots) {
		eachExample(roots[name], "", func(pointer string, value any) {
			tried++
			field, err := c.Compile("urn:flowdrive:schema:" + name + "#" + pointer)
			if err != nil {
				t.Fatalf("%s#%s: %v", name, pointer, err)
			}
			if err := field.Validate(value); err != nil {
				t.Errorf("%s#%s: the example %v is not taken: %v", name, pointer, value, err)
			}
			for _, text := range textsOf(value) {
				for _, of := range label.References(text) {
					if !of.Known {
						t.Errorf("%s#%s: %s", name, pointer, label.Mistake(of.Written))
					}
				}
			}
		})
	}
	if tried < 100 {
		t.Errorf("only %d examples were found", tried)
	}
}

// TestExampleStepsOfHelp: the steps that the help of routes shows as examples of handlers are
// steps that a route can be stored with, without a warning about them.
func TestExampleStepsOfHelp(t *testing.T) {
	t.Parallel()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON("route")))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	eachExample(value, "", func(pointer string, value any) {
		steps, ok := value.([]any)
		if handler := pointer[strings.LastIndexByte(pointer, '/')+1:]; !ok || handler != "onEnable" && handler != "sideEffects" && handler != "onFire" {
			return
		}
		tried++
		text, err := json.Marshal(steps)
		if err != nil {
			t.Fatal(err)
		}
		source := fmt.Sprintf(`{"name": "example", "xattrs": {"changed": {}, "asked": {}}, "states": {"run": {"type": "start"}, "done": {"type": "complete"}}, "actions": {"begin": {"trigger": "init", "to": "run"}, "go": {"allowed": "everyone", "in": ["run"], "to": "done", "onFire": %s}}}`, text)
		node, err := document.ParseJSON([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		_, warnings, err := route.Parse("example", node)
		if err != nil {
			t.Errorf("%s: %v", pointer, err)
			return
		}
		for _, w := range warnings {
			if strings.Contains(w.Pointer, "onFire") {
				t.Errorf("%s: %s: %s", pointer, w.Pointer, w.Detail)
			}
		}
	})
	if tried == 0 {
		t.Error("there are no handlers with examples")
	}
}

// eachExample calls f with each example of a schema and the pointer to the field that it is of.
func eachExample(of any, pointer string, f func(pointer string, value any)) {
	switch of := of.(type) {
	case map[string]any:
		if list, ok := of["examples"].([]any); ok {
			for _, value := range list {
				f(pointer, value)
			}
		}
		for _, key := range sortedNames(of) {
			if key != "examples" || strings.HasSuffix(pointer, "/properties") {
				eachExample(of[key], pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), f)
			}
		}
	case []any:
		for i, value := range of {
			eachExample(value, fmt.Sprintf("%s/%d", pointer, i), f)
		}
	}
}

// textsOf returns all texts of a value of JSON.
func textsOf(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			texts = append(texts, textsOf(item)...)
		}
	case map[string]any:
		for _, key := range sortedNames(v) {
			texts = append(texts, textsOf(v[key])...)
		}
	}
	return texts
}
