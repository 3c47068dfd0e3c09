package web

import "testing"

// TestTemplates makes the templates of every page: a server makes them when they are first
// used, and a fault in one must not be seen then only.
func TestTemplates(t *testing.T) {
	t.Parallel()
	assets, err := newAssets()
	if err != nil {
		t.Fatal(err)
	}
	all, err := (&pages{assets: assets}).parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Errorf("there are templates of %d pages only", len(all))
	}
	for file, parsed := range all {
		if _, err := parsed(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
