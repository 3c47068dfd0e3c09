package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"flowdrive/internal/document"
	"flowdrive/schema"
)

// TestOpenAPI: the document is of version 3.1, every reference leads
// somewhere within it, and every schema in it is one.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	doc, err := document.ParseJSON(schema.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if v := doc.At("openapi"); v == nil || v.Text != "3.1.0" {
		t.Errorf("openapi is %v", v)
	}
	references := 0
	var walk func(n *document.Node, path string)
	walk = func(n *document.Node, path string) {
		for _, m := range n.Members {
			at := path + "/" + m.Key
			switch m.Key {
			case "$ref":
				references++
				pointer, local := strings.CutPrefix(m.Value.Text, "#/")
				if !local || doc.At(strings.Split(pointer, "/")...) == nil {
					t.Errorf("%s: %q leads nowhere", at, m.Value.Text)
				}
			case "$id", "$anchor", "$defs":
				t.Errorf("%s: an identity within the document", at)
			}
			walk(m.Value, at)
		}
		for _, item := range n.Items {
			walk(item, path+"/-")
		}
	}
	walk(doc, "")
	if references < 500 {
		t.Errorf("%d references", references)
	}
	used := string(schema.OpenAPI())
	for _, part := range []string{"schemas", "parameters", "headers", "responses"} {
		for _, m := range doc.At("components", part).Members {
			if !strings.Contains(used, `"$ref":"#/components/`+part+"/"+m.Key+`"`) {
				t.Errorf("nothing refers to the component %s/%s", part, m.Key)
			}
		}
	}

	value, err := jsonschema.UnmarshalJSON(strings.NewReader(used))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	const at = "https://flowdrive.invalid/openapi.json"
	if err := c.AddResource(at, value); err != nil {
		t.Fatal(err)
	}
	for _, name := range schema.Names() {
		if name == "status" { // a choice between its definitions, each of which is a component
			continue
		}
		if _, err := c.Compile(at + "#/components/schemas/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOpenAPIOperations: every operation says what it is, has answers, and
// names its path's parameters.
func TestOpenAPIOperations(t *testing.T) {
	t.Parallel()
	doc, err := document.ParseJSON(schema.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // of operations: where
	tags := map[string]bool{}
	for _, tag := range doc.At("tags").Items {
		tags[tag.Get("name").Text] = true
	}
	parameter := func(n *document.Node) *document.Node {
		if ref := n.Get("$ref"); ref != nil {
			return doc.At(strings.Split(strings.TrimPrefix(ref.Text, "#/"), "/")...)
		}
		return n
	}
	for _, path := range doc.At("paths").Members {
		if path.Key != "/" && strings.HasSuffix(path.Key, "/") {
			t.Errorf("%s: folders stand without the last slash", path.Key)
		}
		inPath := map[string]bool{}
		if list := path.Value.Get("parameters"); list != nil {
			for _, item := range list.Items {
				if p := parameter(item); p.Get("in").Text == "path" {
					inPath[p.Get("name").Text] = true
				}
			}
		}
		for name := range inPath {
			if !strings.Contains(path.Key, "{"+name+"}") {
				t.Errorf("%s has the parameter %q, but not in its path", path.Key, name)
			}
		}
		if n := strings.Count(path.Key, "{"); n != len(inPath) {
			t.Errorf("%s has %d parameters in its path and describes %d", path.Key, n, len(inPath))
		}
		for _, op := range path.Value.Members {
			switch op.Key {
			case "parameters", "x-propfind", "x-mkcol":
				continue
			case "get", "put", "post", "delete", "options":
			default:
				t.Errorf("%s has the unknown key %s", path.Key, op.Key)
				continue
			}
			o := op.Value
			at := op.Key + " " + path.Key
			id := o.Get("operationId")
			switch {
			case id == nil:
				t.Errorf("%s has no operationId; generators of clients name methods by it", at)
			case names[id.Text] != "":
				t.Errorf("%s has the operationId %q of %s", at, id.Text, names[id.Text])
			default:
				names[id.Text] = at
			}
			if d := o.Get("description"); d == nil || len(d.Text) < 10 {
				t.Errorf("%s has no description", at)
			}
			if !slices.ContainsFunc(o.Get("responses").Members, func(m document.Member) bool { return m.Key[0] == '2' }) {
				t.Errorf("%s never succeeds; leave it out", at)
			}
			if o.Get("summary") == nil || o.Get("responses") == nil || len(o.Get("responses").Members) == 0 {
				t.Errorf("%s %s has no summary or answers", op.Key, path.Key)
			}
			for _, tag := range o.Get("tags").Items {
				if !tags[tag.Text] {
					t.Errorf("%s %s has the unknown tag %q", op.Key, path.Key, tag.Text)
				}
			}
		}
	}
}
