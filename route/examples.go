package route

import (
	"embed"
	"io/fs"
	"strings"
)

// Beside each route there is a scenario, <name>.scenario.yaml, which is for
// those who read and test the routes.
//
//go:embed examples/article.yaml examples/ask-info.yaml examples/bug.yaml examples/collector.yaml examples/expense.yaml
//go:embed examples/leiden.yaml examples/request.yaml examples/tip-vote.yaml examples/tip.yaml
var exampleFiles embed.FS

//go:embed examples
var allExampleFiles embed.FS

// ExampleFiles returns the files of the routes that ship, with their scenarios.
func ExampleFiles() fs.FS {
	sub, err := fs.Sub(allExampleFiles, "examples")
	if err != nil {
		panic("route: the embedded examples have no folder: " + err.Error())
	}
	return sub
}

// Example is a route that ships with the program and is stored at the first
// start.
type Example struct {
	Name   string
	YAML   bool // Source is YAML, else JSON
	Source []byte
}

// Examples returns the routes that ship, by the name of their files: those that
// are children of others come before them.
func Examples() []Example {
	const folder, extension = "examples", ".yaml"
	entries, err := exampleFiles.ReadDir(folder) // sorted by name
	if err != nil {
		panic("route: the embedded examples have no folder: " + err.Error())
	}
	out := make([]Example, len(entries))
	for i, entry := range entries {
		source, err := exampleFiles.ReadFile(folder + "/" + entry.Name())
		if err != nil {
			panic("route: an embedded example cannot be read: " + err.Error())
		}
		out[i] = Example{Name: strings.TrimSuffix(entry.Name(), extension), YAML: true, Source: source}
	}
	return out
}
