package manual_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/manual"
)

func small(t *testing.T, more map[string]string) *manual.Manual {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"README.md":             "# Manual\n\nNothing [before](b.md).\n\n## First\n\n- [B](b.md)\n- [A](sub/a.md#one)\n\n## None\n\n- [Away](https://example.org/x.md)\n\n## Last\n\n- [C](c.md)\n",
		"b.md":                  "# Bees\n\nA [link](sub/a.md#one), [another](../README.md), [pic](x.png).\n",
		"c.md":                  "# Cats\n\n| a | b |\n|---|--:|\n| 1 | <i>2</i> |\n",
		"sub/a.md":              "# Ants & co\n\n## One\n\nWords of [bees](../b.md).\n\n```sh\necho \"a\"\n```\n\n## One\n\n### `f(x)`: it's [this](../c.md)\n",
		"sub/z.md":              "# Zebras\n",
		"reference/problems.md": "# Problems\n\n## not-found\n\nSee [too](#gone).\n\n## gone\n\nAway.\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range more {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	m, err := manual.New(files)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestContents(t *testing.T) {
	m := small(t, nil)
	want := []manual.Section{
		{Title: "First", Pages: []manual.Entry{{Path: "b", Title: "Bees"}, {Path: "sub/a", Title: "Ants & co"}, {Path: "sub/z", Title: "Zebras"}}},
		{Title: "Last", Pages: []manual.Entry{{Path: "c", Title: "Cats"}}},
	}
	if diff := cmp.Diff(want, m.Sections()); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
	if before, after := m.Around("sub/z"); before.Path != "sub/a" || after.Path != "c" {
		t.Errorf("around sub/z: got %v and %v", before, after)
	}
	if before, after := m.Around("none"); before != (manual.Entry{}) || after != (manual.Entry{}) {
		t.Errorf("around none: got %v and %v", before, after)
	}
}

func TestRendering(t *testing.T) {
	m := small(t, nil)
	for page, pieces := range map[string][]string{
		"b":                  {`<a href="/docs/sub/a#one">link</a>, another, `},
		"c":                  {`<div class="wide"`, `<td align="right">`, "2"},
		"sub/a":              {`<h2 id="one">`, `<h2 id="one-1">`, `<h3 id="fx-its-this">`, `href="/docs/b"`, `data-copy="echo &quot;a&quot;&#10;"`, `<code>echo &quot;a&quot;`},
		"problems/not-found": {`href="/docs/problems/gone"`},
		"problems/gone":      {"Away."},
	} {
		p := m.Page(page)
		if p == nil {
			t.Fatalf("there is no page %s", page)
		}
		for _, piece := range pieces {
			if !strings.Contains(p.HTML, piece) {
				t.Errorf("%s has no %s:\n%s", page, piece, p.HTML)
			}
		}
		if strings.Contains(p.HTML, "<i>") {
			t.Errorf("%s has raw HTML:\n%s", page, p.HTML)
		}
	}
	if got := m.Page("sub/a").Title; got != "Ants & co" {
		t.Errorf("title: got %q", got)
	}
}

func TestFind(t *testing.T) {
	m := small(t, map[string]string{"long.md": "# Long\n\n" + strings.Repeat("word ", 100) + "needle " + strings.Repeat("word ", 100)})
	for _, test := range []struct {
		query string
		first string // path#id, "" for none
	}{
		{"bees", "b#"}, {"BEES words", "sub/a#one"}, {"absent-word", ""}, {"", ""}, {"needle", "long#"}, {"bees needle", ""},
	} {
		got := ""
		if found := m.Find(test.query); len(found) > 0 {
			got = found[0].Path + "#" + found[0].ID
		}
		if got != test.first {
			t.Errorf("%q: got %q, want %q", test.query, got, test.first)
		}
	}
	text := m.Find("needle")[0].Text
	if !strings.HasPrefix(text, "…") || !strings.HasSuffix(text, "…") || !strings.Contains(text, "needle") {
		t.Errorf("shown: %q", text)
	}
}

func TestWrongFolders(t *testing.T) {
	if _, err := manual.New(fstest.MapFS{}); !errors.Is(err, manual.ErrIncomplete) {
		t.Errorf("an empty folder: got %v", err)
	}
	if _, err := manual.New(fstest.MapFS{"README.md": {Data: []byte("No title.\n")}}); err == nil || !strings.Contains(err.Error(), "README.md: a page begins with a heading") {
		t.Errorf("a page without a title: got %v", err)
	}
}
