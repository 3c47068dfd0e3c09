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
	names := []string{"collector-post"} // which is not stored at the first start
	for _, e := range route.Examples() {
		names = append(names, e.Name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("..", "..", "route", "examples", name)
			var out, complaints bytes.Buffer
			if err := simulateFile(t.Context(), &out, &complaints, simulation{route: path + ".yaml", scenario: path + ".scenario.yaml"}); err != nil || complaints.Len() > 0 {
				t.Errorf("%v\n%s%s", err, &out, &complaints)
			}
			if !strings.Contains(out.String(), "scenario.yaml: ok (") {
				t.Errorf("it prints:\n%s", &out)
			}
		})
	}
}
