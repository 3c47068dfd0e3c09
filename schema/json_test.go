package schema_test

import (
	"encoding/json"
	"testing"

	"flowdrive/schema"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	data := schema.JSON("route")
	if !json.Valid(data) {
		t.Error("the schema of routes is not JSON")
	}
	data[0] = 'x'
	if again := schema.JSON("route"); again[0] == 'x' {
		t.Error("the bytes are shared")
	}
	for _, name := range []string{"", "nothing", "../sql/0001_initial"} {
		if got := schema.JSON(name); got != nil {
			t.Errorf("JSON(%q) = %q", name, got)
		}
	}
}
