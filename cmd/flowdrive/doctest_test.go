package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/route"
	"flowdrive/schedule"
	"flowdrive/schema"
)

// manualFiles returns the Markdown files of the manual and the README, without the
// decisions, which are not changed later.
func manualFiles(t *testing.T) (files []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" && filepath.Base(filepath.Dir(path)) != "decisions" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(files, filepath.Join(root, "README.md"))
}

// shownCommand matches a command of flowdrive in a block of code.
var shownCommand = regexp.MustCompile(`(?m)^(?:    )?(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\./)?flowdrive (.*)$`)

// TestCommandsInDocs parses every command of flowdrive that a page shows: there is such a
// command, and it takes these flags and so many arguments.
func TestCommandsInDocs(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, file := range manualFiles(t) {
		if filepath.Base(file) == "commands.md" && filepath.Base(filepath.Dir(file)) == "reference" {
			continue // forms, made of the commands
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range codeBlocks(string(text)) {
			for _, found := range shownCommand.FindAllStringSubmatch(strings.ReplaceAll(block.text, "\\\n", " "), -1) {
				shown++
				if err := parseCommand(found[1]); err != nil {
					t.Errorf("%s: flowdrive %s: %v", file, found[1], err)
				}
			}
		}
	}
	if shown < 40 {
		t.Errorf("only %d commands were found", shown)
	}
}

// parseCommand parses a command line of the shell without doing it.
func parseCommand(line string) error {
	root := rootCommand()
	var none func(c *cobra.Command)
	none = func(c *cobra.Command) {
		c.PersistentPreRunE, c.PreRunE, c.Run = nil, nil, nil
		c.RunE = func(*cobra.Command, []string) error { return nil }
		for _, sub := range c.Commands() {
			none(sub)
		}
	}
	none(root)
	root.SetArgs(shellWords(line))
	root.SetOut(&strings.Builder{})
	root.SetErr(&strings.Builder{})
	return root.ExecuteContext(context.Background())
}

// shellWord matches a word of a command line: quoted, or without blanks.
var shellWord = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s"'|>;&])+`)

// shellWords splits a command line as far as the pages need it, to its end or to what the
// shell does with it.
func shellWords(line string) (words []string) {
	line, _, _ = strings.Cut(line, " #")
	for _, end := range []string{" | ", " > ", " >", " <", " && ", ";", " &"} {
		if i := strings.Index(line, end); i >= 0 && strings.Count(line[:i], `"`)%2 == 0 && strings.Count(line[:i], `'`)%2 == 0 {
			line = line[:i]
		}
	}
	for _, word := range shellWord.FindAllString(line, -1) {
		words = append(words, strings.NewReplacer(`"`, "", `'`, "").Replace(word))
	}
	return words
}

// codeBlock is a block of code of a page: of a language, "" if it is indented.
type codeBlock struct{ language, text string }

// codeBlocks returns the blocks of code of a page.
func codeBlocks(page string) (blocks []codeBlock) {
	fence := regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	for _, found := range fence.FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, codeBlock{found[1], found[2]})
	}
	rest := fence.ReplaceAllString(page, "")
	for _, found := range regexp.MustCompile(`(?m)^(?:    .*\n)+`).FindAllString(rest, -1) {
		blocks = append(blocks, codeBlock{"", found})
	}
	return blocks
}

// TestDocumentsInDocs reads every whole route and schedule entry that a page shows. Of a
// part of a document, it knows the fields.
func TestDocumentsInDocs(t *testing.T) {
	t.Parallel()
	routes, entries, stories, parts := 0, 0, 0, 0
	known := knownFields(t)
	for _, file := range manualFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		last := "" // the route above
		for _, block := range codeBlocks(string(text)) {
			if block.language != "yaml" && block.language != "json" || strings.Contains(block.text, "…") {
				continue
			}
			node, err := document.Parse([]byte(block.text), block.language == "yaml")
			if err != nil {
				t.Errorf("%s: %v in\n%s", file, err, block.text)
				continue
			}
			switch {
			case has(block.text, "actions") && has(block.text, "states"):
				routes, last = routes+1, block.text
				if _, _, err := route.Parse("shown", node); err != nil {
					t.Errorf("%s: %v in\n%s", file, err, block.text)
				}
			case has(block.text, "steps") && has(block.text, "users") && last != "":
				stories++
				playShown(t, file, last, block.text)
			case has(block.text, "route") && has(block.text, "type"):
				entries++
				var faults document.Faults
				schedule.Read(document.Root(node, &faults), time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC), nil, new(clock.Zones).Zone)
				if err := faults.Err(); err != nil {
					t.Errorf("%s: %v in\n%s", file, err, block.text)
				}
			default:
				parts++
				if named := node.Members; len(named) == 1 && named[0].Value.Kind == document.Object && !slices.ContainsFunc(known, func(of []string) bool { return slices.Contains(of, named[0].Key) }) {
					node = named[0].Value // an action or state under its name
				}
				for _, keys := range keysOf(node) {
					if !slices.ContainsFunc(known, func(of []string) bool { return holds(of, keys) }) {
						t.Errorf("%s: no document and no setting has the fields %s of\n%s", file, strings.Join(keys, ", "), block.text)
					}
				}
			}
		}
	}
	if routes < 5 || entries < 3 || stories < 1 || parts < 10 {
		t.Errorf("only %d routes, %d entries, %d scenarios and %d parts of documents were found", routes, entries, stories, parts)
	}
}

// playShown plays a scenario of a page against the route above it, without warnings.
func playShown(t *testing.T, file, routeText, scenario string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shown.yaml")
	for name, text := range map[string]string{path: routeText, strings.TrimSuffix(path, ".yaml") + scenarioEnd + ".yaml": scenario} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines, came := checkDocument(t.Context(), path, routesIn([]string{path}), nil)
	if told := strings.Join(lines, "\n"); slices.Max(came) != outcomeOK || strings.Contains(told, "warning") {
		t.Errorf("%s: %s", file, told)
	}
}

// has reports whether a document of YAML or JSON has the key at its top.
func has(text, key string) bool {
	return regexp.MustCompile(`(?m)^(?:\{?\s*"` + key + `"|` + key + `):`).MatchString(text)
}

// knownFields returns the names of the fields of each object that a schema describes, and
// those of the settings.
func knownFields(t *testing.T) (known [][]string) {
	t.Helper()
	serve, _, err := rootCommand().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	settings := []string{"notify", "commands", "secrets"}
	serve.Flags().VisitAll(func(f *pflag.Flag) { settings = append(settings, f.Name) })
	known = [][]string{settings, {"scrape_configs"}} // the latter is of Prometheus
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if properties := asNode(v["properties"]); len(properties) > 0 {
				known = append(known, sortedNames(properties))
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	files, err := fs.Glob(schema.Files(), "*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		walk(map[string]any((&reference{T: t}).read(name)))
	}
	return known
}

// keysOf returns the keys of an object, or those of each object of a list.
func keysOf(n *document.Node) (all [][]string) {
	switch n.Kind {
	case document.Object:
		var keys []string
		for _, m := range n.Members {
			keys = append(keys, m.Key)
		}
		all = append(all, keys)
	case document.List:
		for _, item := range n.Items {
			all = append(all, keysOf(item)...)
		}
	default:
	}
	return all
}

// holds reports whether all of the keys are among the known ones.
func holds(known, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(known, key) })
}
