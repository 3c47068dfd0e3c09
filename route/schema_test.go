package route

import (
	"slices"
	"strings"
	"testing"
)

// TestTablesMatchSchema makes sure that the tables of this package speak of
// keys that the schema knows, and of all of them.
func TestTablesMatchSchema(t *testing.T) {
	t.Parallel()
	schema := structure().node
	definitions := map[string]string{"states": "state", "actions": "action"}
	for _, row := range unbuilt() {
		parts := strings.Split(row[0], "/")
		known := keys(schema.Get("properties"))
		if len(parts) == 3 {
			known = keys(schema.At("$defs", definitions[parts[0]], "properties"))
		}
		if key := parts[len(parts)-1]; !slices.Contains(known, key) {
			t.Errorf("unbuilt: the schema does not know %s", row[0])
		}
	}
	top := readOnly()
	for _, row := range defaults() {
		top = append(top, row[0])
	}
	slices.Sort(top)
	known := keys(schema.Get("properties"))
	slices.Sort(known)
	if !slices.Equal(top, known) {
		t.Errorf("the schema has %v, the complete form %v", known, top)
	}
	if got := schema.At("$defs", "action", "properties", "type", "enum"); len(got.Items) != len(actionTypes())+1 {
		t.Errorf("action types: %s", got.AppendJSON(nil))
	}
}
