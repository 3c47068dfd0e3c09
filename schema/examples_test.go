package schema_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"flowdrive/schema"
)

// TestExamplesOfFields: what a schema gives as an example of a field is valid there.
func TestExamplesOfFields(t *testing.T) {
	t.Parallel()
	c, tried := compiler(t), 0
	for _, name := range schema.Names() {
		root, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON(name)))
		if err != nil {
			t.Fatal(err)
		}
		var walk func(at string, node any)
		walk = func(at string, node any) {
			switch node := node.(type) {
			case map[string]any:
				if examples, ok := node["examples"].([]any); ok {
					of, err := c.Compile("urn:flowdrive:schema:" + name + "#" + at)
					if err != nil {
						t.Fatal(err)
					}
					for _, example := range examples {
						tried++
						if err := of.Validate(example); err != nil {
							t.Errorf("%s%s: the example %v: %v", name, at, example, err)
						}
					}
				}
				for key, below := range node {
					walk(at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), below)
				}
			case []any:
				for i, below := range node {
					walk(at+"/"+strconv.Itoa(i), below)
				}
			}
		}
		walk("", root)
	}
	if tried < 250 {
		t.Errorf("only %d examples were found", tried)
	}
}
