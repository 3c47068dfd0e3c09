package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/docs"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/schedule"
)

// TestExamplesToTake checks each route of docs/examples as "route check" does, without a
// warning, plays its scenario, reads its entry, and wants a page that names all files.
func TestExamplesToTake(t *testing.T) {
	t.Parallel()
	all, err := takables()
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range all {
		folder := filepath.Join("..", "..", "docs", "examples", example.name)
		if _, err := os.Stat(folder); err != nil {
			continue // of route/examples, which TestExamples plays
		}
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			page, err := os.ReadFile(filepath.Join(folder, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			if example.title == "" {
				t.Error("the route has no title")
			}
			scenario := false
			for name, text := range example.files {
				path := filepath.Join(folder, name)
				if !strings.Contains(string(page), "["+name+"]("+name+")") {
					t.Errorf("the page does not link %s", name)
				}
				switch {
				case strings.HasSuffix(name, ".entry.yaml"):
					checkEntry(t, text)
				case strings.HasSuffix(name, scenarioEnd+".yaml"):
					scenario = true
				default:
					if !strings.Contains(string(text), "\n# ") || !strings.HasPrefix(string(text), "# ") {
						t.Errorf("%s has no comments", name)
					}
					lines, came := checkDocument(t.Context(), path, routesIn([]string{path}), nil)
					if told := strings.Join(lines, "\n"); slices.Max(came) != outcomeOK || strings.Contains(told, "warning") {
						t.Errorf("%s", told)
					}
				}
			}
			if !scenario {
				t.Error("there is no scenario")
			}
		})
	}
}

// checkEntry reads a schedule entry as the drive does.
func checkEntry(t *testing.T, text []byte) {
	t.Helper()
	node, err := document.ParseYAML(text)
	if err != nil {
		t.Error(err)
		return
	}
	var faults document.Faults
	entry := schedule.Read(document.Root(node, &faults), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil, new(clock.Zones).Zone)
	if err := faults.Err(); err != nil {
		t.Error(err)
		return
	}
	if entry.Describe() == "" {
		t.Error("the entry says nothing")
	}
}

// TestExamplesAreListed wants every example on the page of examples.
func TestExamplesAreListed(t *testing.T) {
	t.Parallel()
	page, err := fs.ReadFile(docs.Files(), "examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := fs.ReadDir(docs.Files(), "examples")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && !strings.Contains(string(page), "| ["+f.Name()+"]("+f.Name()+"/README.md) |") {
			t.Errorf("docs/examples/README.md has no row for %s", f.Name())
		}
	}
}
