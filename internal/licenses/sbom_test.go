package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestBOM: the bill of materials names each module once, with version, address and
// license, and is the same twice.
func TestBOM(t *testing.T) {
	t.Parallel()
	var first, again strings.Builder
	for _, out := range []*strings.Builder{&first, &again} {
		if err := run(t.Context(), "../..", out, writeBOM); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != again.String() {
		t.Error("two bills of one program differ")
	}
	var b bom
	if err := json.Unmarshal([]byte(first.String()), &b); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range b.Components {
		names = append(names, c.Name)
		if !strings.HasPrefix(c.PURL, "pkg:golang/") || len(c.Licenses) == 0 || c.Version == "" && c.Name != "std" {
			t.Errorf("%+v", c)
		}
	}
	if !slices.Contains(names, "github.com/mattn/go-sqlite3") || !slices.Contains(names, "std") || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("the components are %v", names)
	}
}
