package policy

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// rule is something that holds for the whole tree. Check returns a line for
// everything that breaks it.
type rule struct {
	name  string
	check func(tree) []string
}

func rules() []rule {
	return []rule{
		{"layers", checkLayers},
		{"purity", checkPurity},
		{"package comments", checkPackageDocs},
		{"package names", checkNames},
		{"file length", checkLength},
		{"unfinished work", checkWords},
		{"sleeping tests", checkSleep},
		{"fuzz corpora", checkCorpora},
		{"architecture", checkArchitecture},
		{"architecture's paths", checkPaths},
		{"package comments' files", checkDocFiles},
		{"readme", checkReadme},
		{"citations", checkCitations},
		{"citation form", checkCitationForm},
	}
}

// TestRepository holds the rules against this repository.
func TestRepository(t *testing.T) {
	t.Parallel()
	repository, err := readTree(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for _, fault := range r.check(repository) {
				t.Error(fault)
			}
		})
	}
}

// TestRulesBite breaks each rule in a small tree: a rule that lets everything
// pass would be none.
func TestRulesBite(t *testing.T) {
	t.Parallel()
	sleep := "Sle" + "ep"
	page, other, gone := "do"+"cs/page.md", "do"+"cs/other.md", "do"+"cs/gone.md"
	tests := []struct {
		name  string
		rule  string
		files map[string]string
		want  []string
	}{
		{
			"downwards is allowed", "layers", map[string]string{
				"engine/a.go":            `package engine; import "flowdrive/internal/errs"`,
				"store/sqlite/a.go":      `package sqlite; import "flowdrive/engine"`,
				"internal/document/a.go": `package document; import "flowdrive/internal/errs"`,
				"internal/errs/a.go":     `package errs`,
			}, nil,
		},
		{
			"upwards", "layers", map[string]string{
				"engine/a.go":          `package engine; import "flowdrive/server"`,
				"server/a.go":          `package server; import "flowdrive/davfs"`,
				"davfs/a.go":           `package davfs`,
				"internal/clock/up.go": `package clock; import _ "flowdrive/schema"`,
				"schema/go.go":         `package schema`,
			}, []string{
				"engine/a.go:1: engine imports server, which is not below it",
				"internal/clock/up.go:1: internal/clock imports schema, which is not below it",
				"server/a.go:1: server imports davfs, which is not below it",
			},
		},
		{
			"sideways without a reason", "layers", map[string]string{
				"internal/errs/a.go":     `package errs; import "flowdrive/internal/document"`,
				"internal/document/a.go": `package document`,
			}, []string{"internal/errs/a.go:1: internal/errs imports internal/document, which is not below it"},
		},
		{
			"tests look up", "layers", map[string]string{
				"engine/a_test.go": `package engine; import "flowdrive/store/sqlite"`,
			}, nil,
		},
		{
			"no row", "layers",
			map[string]string{"new/a.go": `package new`},
			[]string{"package new has no row: give it one in internal/policy/layers_test.go"},
		},
		{
			"impure imports", "purity", map[string]string{
				"engine/machine/a.go":      "package machine\nimport \"os\"\nimport \"net/http/httputil\"\nimport \"net/url\"\nimport \"math/rand/v2\"",
				"engine/a.go":              `package engine; import "os"`,
				"internal/label/a_test.go": `package label; import "os"`,
			}, []string{
				"engine/machine/a.go:2: engine/machine is pure but imports os",
				"engine/machine/a.go:3: engine/machine is pure but imports net/http/httputil",
				"engine/machine/a.go:5: engine/machine is pure but imports math/rand/v2",
			},
		},
		{
			"impure calls", "purity", map[string]string{
				"schedule/a.go":       "package schedule\nimport t \"time\"\nvar x = t.Now\nvar y = t.UTC\nvar z, _ = t.LoadLocation(\"X\")",
				"internal/clock/a.go": "package clock\nimport \"time\"\nvar x = time.Now()\nvar y = time.Tick",
				"route/a.go":          "package route\nimport \"github.com/google/uuid\"\nvar x = uuid.New()\nvar y = uuid.Parse",
			}, []string{
				"internal/clock/a.go:4: internal/clock is pure but uses time.Tick",
				"route/a.go:3: route is pure but uses github.com/google/uuid.New",
				"schedule/a.go:3: schedule is pure but uses time.Now",
				"schedule/a.go:5: schedule is pure but uses time.LoadLocation",
			},
		},
		{
			"goroutines", "purity", map[string]string{
				"internal/identity/a.go": "package identity\nfunc f() {\n\tgo f()\n}",
				"server/a.go":            "package server\nfunc f() {\n\tgo f()\n}",
			}, []string{"internal/identity/a.go:3: internal/identity is pure but starts a goroutine"},
		},
		{
			"package comments", "package comments", map[string]string{
				"internal/errs/a.go":  "// Package errs is good.\npackage errs",
				"internal/errs/b.go":  "package errs",
				"internal/label/a.go": "package label",
				"internal/clock/a.go": "// Package clock is\npackage clock",
				"internal/clock/b.go": "// Package clock is twice\npackage clock",
				"route/a.go":          "// Routes are.\npackage route",
				"cmd/flowdrive/a.go":  "// Command flowdrive is the program.\npackage main",
			}, []string{
				"package internal/clock has 2 package comments, not one",
				"package internal/label has 0 package comments, not one",
				`route/a.go: the package comment does not begin with "Package route "`,
			},
		},
		{
			"package names", "package names", map[string]string{
				"engine/util/a.go": `package util`, "utility/a.go": `package utility`,
			}, []string{`package engine/util: "util" says nothing about what is in it`},
		},
		{
			"file length", "file length", map[string]string{
				"errs/long.go":      "package errs" + strings.Repeat("\n", mostLines+1),
				"errs/generated.go": "// Code generated by x. DO NOT EDIT.\n\npackage errs" + strings.Repeat("\n", mostLines+1),
				"errs/short.go":     "package errs" + strings.Repeat("\n", mostLines),
			}, []string{"errs/long.go has 601 lines, more than 600: which two things does it hold?"},
		},
		{
			"unfinished work", "unfinished work", map[string]string{
				"internal/errs/a.go": "package errs\n// TO" + "DO: all of it",
			}, []string{"internal/errs/a.go:2: TO" + "DO"},
		},
		{
			"sleeping tests", "sleeping tests", map[string]string{
				"internal/errs/a_test.go": "package errs\nimport \"time\"\nfunc f() { time." + sleep + "(1) }",
				"internal/errs/a.go":      "package errs\nimport \"time\"\nfunc f() { time." + sleep + "(1) }",
			}, []string{"internal/errs/a_test.go:3: a test sleeps"},
		},
		{
			"fuzz corpora", "fuzz corpora", map[string]string{
				"internal/errs/a_test.go":               "package errs\nfunc FuzzA() {}\nfunc FuzzB() {}",
				"internal/errs/testdata/fuzz/FuzzA/one": "go test fuzz v1\n",
			}, []string{"internal/errs/a_test.go:3: FuzzB has no corpus in internal/errs/testdata/fuzz/FuzzB"},
		},
		{
			"architecture", "architecture", map[string]string{
				"ARCHITECTURE.md":     "`engine/machine/` decides, (engine_old), cron is robfig/cron; x/net is in golang.org/x/net.",
				"engine/a.go":         `package engine`,
				"engine/machine/a.go": `package machine`,
				"tools/go.mod":        "module flowdrive/tools",
				"tools/x/ignored.go":  `package x`,
				"go.mod": "module flowdrive\n\nrequire github.com/rs/zerolog v1.2.3\n\nrequire (\n\tgithub.com/robfig/cron/v3 v3.0.1\n" +
					"\tgolang.org/x/net v0.62.0\n\tgolang.org/x/text v0.1.0 // indirect\n)\n",
			}, []string{
				"ARCHITECTURE.md does not mention package engine",
				"ARCHITECTURE.md does not say why there is github.com/rs/zerolog",
			},
		},
		{
			"package comments' files", "package comments' files", map[string]string{
				"davfs/doc.go":          "// Package davfs: node_a.go, walk.go and gone.go; store/sqlite/a.go.\npackage davfs",
				"davfs/node_a.go":       "package davfs",
				"davfs/node_b.go":       "package davfs",
				"davfs/node_b_test.go":  "package davfs",
				"davfs/walk.go":         "package davfs // node_c.go",
				"internal/errs/errs.go": "// Package errs is in other.go.\npackage errs",
			}, []string{
				"davfs/doc.go: the package comment names gone.go, which is not there",
				"davfs/doc.go: the package comment names store/sqlite/a.go, which is not there",
				"internal/errs/errs.go: the package comment names other.go, which is not there",
				"davfs/node_b.go is not in the package comment",
			},
		},
		{
			"architecture's paths", "architecture's paths", map[string]string{
				"ARCHITECTURE.md": "`engine/a.go` (`f`, `gone`) and `engine/` (`f`), `engine/gone.go`; `a.go`\n" +
					"`/events`, `Routes/`, `machine.Decide`, `unit`, `make bench`, `If-*`, `engine.go` (`f`)",
				"engine/a.go": "package engine\nfunc f() {}",
				"engine.go":   "package root\nfunc ff() {}",
			}, []string{
				"ARCHITECTURE.md:1: engine/a.go has no gone",
				"ARCHITECTURE.md:1: there is no engine/gone.go",
				"ARCHITECTURE.md:1: there is no a.go",
				"ARCHITECTURE.md:2: engine.go has no f",
			},
		},
		{
			"readme", "readme", map[string]string{
				"README.md": "# A\n" + strings.Repeat("é", mostReadmeLine) + "\n" + strings.Repeat("é", mostReadmeLine+1) + strings.Repeat("\n", mostReadme-2),
			}, []string{
				"README.md:3: 201 characters, more than 200",
			},
		},
		{
			"long readme", "readme", map[string]string{
				"README.md": strings.Repeat("\n", mostReadme+1),
			}, []string{"README.md has 231 lines, more than 230"},
		},
		{
			"citations", "citations", map[string]string{
				page:                 "# The page\n## 1. A `name`, and [a link](other.md)\n```\n# no heading\n```\n## Twice\n## Twice\n",
				other:                "[here](#here) [there](page.md#twice-1) [up](../internal/errs/a.go) [gone](gone.md) [site](https://example.org/#x)",
				"internal/errs/a.go": "package errs\n// See " + page + "#1-a-name-and-a-link and " + page + "#twice-2 (" + gone + ").",
				"schema/sql/1.sql":   "-- " + page + "#no-heading",
				"e2e/a.sh":           "# " + page + "#the-page",
			}, []string{
				other + ":1: " + other + "#here: the page has no such heading",
				other + ":1: " + gone + ": there is no such file",
				"internal/errs/a.go:2: " + page + "#twice-2: the page has no such heading",
				"internal/errs/a.go:2: " + gone + ": there is no such file",
				"schema/sql/1.sql:1: " + page + "#no-heading: the page has no such heading",
			},
		},
		{
			"citation form", "citation form", map[string]string{
				"internal/errs/a.go":  "package errs\n// It is so by design: no more (des" + "ign: the moon, section 3).",
				"internal/errs/a.sql": "-- RFC 4918; des" + "ign: the drive",
				page:                  "The design: a page.",
			}, []string{
				"internal/errs/a.go:2: cite the page by its path, as the README of the contract says",
				"internal/errs/a.sql:1: cite the page by its path, as the README of the contract says",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := runRule(t, tt.rule, tt.files)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rule %q (-want +got):\n%s", tt.rule, diff)
			}
		})
	}
}

// runRule returns what the named rule finds in the files.
func runRule(t *testing.T, name string, files map[string]string) []string {
	t.Helper()
	fsys := fstest.MapFS{}
	for p, text := range files {
		fsys[p] = &fstest.MapFile{Data: []byte(text)}
	}
	made, err := readTree(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules() {
		if r.name == name {
			return r.check(made)
		}
	}
	t.Fatalf("there is no rule %q", name)
	return nil
}
