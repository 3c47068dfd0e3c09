package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"flowdrive/route"
)

// TestExamples plays the scenario of every route that ships.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, e := range route.Examples() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("..", "..", "route", "examples", e.Name)
			var out, complaints bytes.Buffer
			if err := simulateFile(t.Context(), &out, &complaints, path+".yaml", path+".scenario.yaml", nil); err != nil || complaints.Len() > 0 {
				t.Errorf("%v\n%s%s", err, &out, &complaints)
			}
			if !strings.Contains(out.String(), "scenario.yaml: ok (") {
				t.Errorf("it prints:\n%s", &out)
			}
		})
	}
}
