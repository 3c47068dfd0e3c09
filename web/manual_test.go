package web

import (
	"net/http"
	"path"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"flowdrive/docs"
	"flowdrive/internal/manual"
)

// TestManual draws every page of the manual for somebody who is not logged in, holds it to
// the rules of all pages, and follows its links within the server.
func TestManual(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "")
	m, err := manual.New(docs.Files())
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]map[string]bool{}
	links := map[string][]string{}
	for _, at := range append(m.Paths(), "search?q=backup") {
		got := b.get(t, "/docs/"+at)
		if got.status != http.StatusOK {
			t.Errorf("/docs/%s: got %d", at, got.status)
			continue
		}
		checkHeaders(t, at, got.header)
		for _, fault := range faultsOf(got.body) {
			t.Errorf("/docs/%s: %s", at, fault)
		}
		ids["/docs/"+at], links["/docs/"+at] = linksOf(t, got.body)
	}
	known := map[string]int{}
	for _, from := range append(m.Paths(), "search?q=backup") {
		for _, to := range links["/docs/"+from] {
			page, id, anchored := strings.Cut(to, "#")
			if page == "" {
				page = "/docs/" + from
			}
			if !strings.HasPrefix(page, "/docs/") {
				continue // of the pages, or another site
			}
			page = strings.TrimSuffix(page, "/")
			if page == "/docs" {
				page = "/docs/"
			}
			if _, drawn := ids[page]; !drawn {
				if known[page] == 0 {
					known[page] = b.get(t, page).status
				}
				if known[page] != http.StatusOK {
					t.Errorf("/docs/%s: the link to %s is answered %d", from, to, known[page])
				}
				continue
			}
			if anchored && !ids[page][id] {
				t.Errorf("/docs/%s: the link to %s: the page has no such heading", from, to)
			}
		}
	}
}

// linksOf returns the ids of a page, and where it leads to.
func linksOf(t *testing.T, page string) (ids map[string]bool, links []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids = map[string]bool{}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				ids[a.Val] = true
			case n.Data == "a" && a.Key == "href", n.Data == "img" && a.Key == "src":
				links = append(links, a.Val)
			}
		}
	}
	return ids, links
}

// TestManualAddresses: what is no page of the manual, and how its search answers.
func TestManualAddresses(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "")
	for _, test := range []struct {
		path     string
		status   int
		location string
		has      string
	}{
		{"/docs/none", 404, "", "nothing at this address"},
		{"/docs/docs.go", 404, "", ""},
		{"/docs/none.png", 404, "", ""},
		{"/docs/tasks.md", 303, "/docs/tasks", ""},
		{"/docs/contract/README.md", 303, "/docs/contract/", ""},
		{"/docs/contract/", 200, "", "<h1>"},
		{"/docs/problems/invalid", 200, "", "Status 422"},
		{"/docs/search?q=no-page-has-this", 200, "", "No page has all of “no-page-has-this”"},
		{"/docs/search?q=%3Cscript%3E", 200, "", "“&lt;script&gt;”"},
		{"/docs/search?q=" + strings.Repeat("a", 201), 400, "", ""},
		{"/docs/search?a=1", 400, "", ""},
		{"/docs/?a=1", 400, "", ""},
	} {
		got := b.get(t, test.path)
		if got.status != test.status || got.header.Get("Location") != test.location || !strings.Contains(got.body, test.has) {
			t.Errorf("%s: got %d %q, want %d %q and %q in\n%s", test.path, got.status, got.header.Get("Location"), test.status, test.location, test.has, got.body)
		}
	}
	if got := b.do(t, http.MethodPost, "/docs/", nil); got.status != http.StatusMethodNotAllowed {
		t.Errorf("POST /docs/: got %d", got.status)
	}
	if got := g.browse(t, "ann").get(t, "/docs/"); !strings.Contains(got.body, "Back to my tasks") {
		t.Errorf("ann is not led back:\n%s", got.body)
	}
}

// TestEverythingOfTheManualIsListed wants each page to be in the contents, but those of
// decisions and problems, which have a list of their own.
func TestEverythingOfTheManualIsListed(t *testing.T) {
	m, err := manual.New(docs.Files())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Paths() {
		before, after := m.Around(p)
		if first := path.Dir(p); p == "" || first == "problems" || p != "decisions" && first == "decisions" {
			continue
		}
		if before.Title == "" && after.Title == "" {
			t.Errorf("%s is not in docs/README.md", p)
		}
	}
}
