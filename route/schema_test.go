package route

import (
	"slices"
	"testing"
)

// TestTablesMatchSchema makes sure that the tables of this package speak of
// keys that the schema knows, and of all of them.
func TestTablesMatchSchema(t *testing.T) {
	t.Parallel()
	schema := structure().node
	top := readOnly()
	for _, row := range defaults() {
		top = append(top, row[0])
	}
	slices.Sort(top)
	known := slices.DeleteFunc(keys(schema.Get("properties")), func(key string) bool { return key == "$schema" }) // it is passed over
	slices.Sort(known)
	if !slices.Equal(top, known) {
		t.Errorf("the schema has %v, the complete form %v", known, top)
	}
	if got := schema.At("$defs", "action", "properties", "type", "enum"); len(got.Items) != len(actionTypes())+1 {
		t.Errorf("action types: %s", got.AppendJSON(nil))
	}
}
