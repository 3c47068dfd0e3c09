package web

import (
	"strings"
	"testing"
)

func searchPagesToTry() []pageToTry {
	return []pageToTry{
		{"search", "ann", "/search", 200},
		{"search-number", "ann", "/search?q=17", 200},
		{"search-text", "ann", "/search?q=rates", 200},
		{"search-hostile", "sam", "/search?q=%3Cscript%3E", 200},
		{"search-short", "ann", "/search?q=a", 200},
		{"search-none", "ann", "/search?q=nothing-has-this", 200},
		{"search-long", "ann", "/search?q=" + strings.Repeat("a", longestQuery+1), 400},
		{"keys", "ann", "/keys", 200},
	}
}

// TestSearch: a number is first of all that of a case, what is not the caller's is not
// found, and the part is what the page has.
func TestSearch(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.must(t, "bob", 201, "PUT", "/dav/Workflow/Schedule/rates.json", `{"title": "Nightly rates", "route": "bug", "type": "cron", "hour": "3", "minute": "0"}`)
	for _, test := range []struct{ user, query, first, none string }{
		{"ann", "17", "Cases Two monitors for the lab 17, Claimed", ""},
		{"ann", "mon", "Tasks Two monitors", ""},
		{"sam", "17", "Nothing has", "monitors"},
		{"sam", "monitors", "Nothing has", "Two"},
		{"bob", "rates", "Schedule Nightly rates", ""},
		{"ann", "rates", "Documents rates.csv core", "Nightly"},
		{"sam", "rates", "Nothing has", "Nightly"},
		{"ann", "badge", "Documents badge.png core/2012", ""},
		{"ann", "exp", "Tasks", ""},
	} {
		got := g.browse(t, test.user).get(t, "/search?part=results&q="+test.query)
		said := textOf(got.body, "results")
		if got.status != 200 || test.query != "exp" && !strings.HasPrefix(said, test.first) || test.none != "" && strings.Contains(said, test.none) {
			t.Errorf("%s of %s: %d %q, want %q, not %q", test.query, test.user, got.status, said, test.first, test.none)
		}
		if whole := textOf(g.browse(t, test.user).get(t, "/search?q="+test.query).body, "results"); whole != said {
			t.Errorf("%s of %s: the page has %q, the part %q", test.query, test.user, whole, said)
		}
	}
}
