package web

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	caseInList = regexp.MustCompile(`<tr id="c(\d+)"`)
	nextInList = regexp.MustCompile(`rel="next" href="([^"]+)"`)
)

// casesFrom follows the pages of a list of cases.
func casesFrom(t *testing.T, b *browser, at string) (ids []int, pages int) {
	t.Helper()
	for at != "" {
		got := b.get(t, at)
		if got.status != 200 {
			t.Fatalf("%s: got %d %s", at, got.status, got.body)
		}
		for _, m := range caseInList.FindAllStringSubmatch(got.body, -1) {
			id, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		at = ""
		if m := nextInList.FindStringSubmatch(got.body); m != nil {
			at = html.UnescapeString(m[1])
		}
		pages++
	}
	return ids, pages
}

// TestCaseList: the newest first, each once, and those alone that one sees and asks for.
func TestCaseList(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	const n = 60
	for i := range n {
		user, body := "ann", fmt.Sprintf(`{"route": "bug", "title": "Bug %d"}`, i)
		if i%3 == 0 {
			user, body = "sam", fmt.Sprintf(`{"route": "expense", "title": "Claim %d", "xattrDict": {"amount": 1000}}`, i)
		}
		g.must(t, user, 201, "PUT", "/dav/Workflow/Cases/new.json", body)
	}
	all, pages := casesFrom(t, g.browse(t, "admin"), "/cases")
	if len(all) != n || pages != 2 || !slices.IsSortedFunc(all, func(a, b int) int { return b - a }) {
		t.Fatalf("an administrator sees %d cases on %d pages, want %d on 2, the newest first: %v", len(all), pages, n, all)
	}
	oldest, _ := casesFrom(t, g.browse(t, "admin"), "/cases?sort=oldest")
	if slices.Reverse(oldest); !slices.Equal(oldest, all) {
		t.Errorf("the oldest first they are, backwards, %v", oldest)
	}
	first := all[n-1]
	g.must(t, "admin", 204, "PUT", fmt.Sprintf("/dav/Workflow/Cases/%d.json", first), `{"state": "suspended"}`)
	for _, test := range []struct {
		user, at string
		want     int
	}{
		{"ann", "/cases", n - 1}, // the tasks of both routes are core's
		{"sam", "/cases", n/3 - 1},
		{"sam", "/cases?role=starter", n/3 - 1},
		{"ann", "/cases?role=starter", n * 2 / 3},
		{"sam", "/cases?route=bug", 0},
		{"ann", "/cases?route=bug", n * 2 / 3},
		{"ann", "/cases?route=nothing", 0},
		{"ann", "/cases?q=claim%2012", 1},
		{"ann", fmt.Sprintf("/cases?q=%d", all[0]), 1},
		{"ann", "/cases?route=bug&status=resolved", 0},
		{"ann", "/cases?context=ann", n * 2 / 3},
		{"ann", "/cases?context=mine", n * 2 / 3},
		{"ann", "/cases?state=suspended", 1},
		{"sam", "/cases?state=ended", 0},
		{"sam", "/cases?archived=1", 0},
	} {
		ids, _ := casesFrom(t, g.browse(t, test.user), test.at)
		slices.Sort(ids)
		if got := len(slices.Compact(ids)); got != test.want {
			t.Errorf("%s %s: %d cases, want %d", test.user, test.at, got, test.want)
		}
	}
	g.must(t, "sam", 204, "DELETE", fmt.Sprintf("/dav/Workflow/Cases/%d.json", first), "")
	if ids, _ := casesFrom(t, g.browse(t, "sam"), "/cases?state=canceled"); len(ids) != 1 || ids[0] != first {
		t.Errorf("canceled: %v, want %d", ids, first)
	}
	if lede := g.browse(t, "sam").get(t, "/cases").body; !strings.Contains(lede, fmt.Sprintf("%d open cases", n/3-1)) {
		t.Error("the sentence does not count what is open")
	}
}

// TestCaseFilters: states of the chosen route can be chosen though no case is shown, else
// those of the cases shown; the tabs keep what is chosen and count only without it.
func TestCaseFilters(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	for _, test := range []struct {
		at       string
		has, not []string
	}{
		{"/cases", []string{`status=claimed">Claimed</a>`, `status=voting">Voting</a>`, "Newest first", `sort=oldest">Oldest first</a>`, `href="/cases?state=ended">Ended <span class="n">0</span>`}, nil},
		{"/cases?route=expense&q=nothing-has-this", []string{`status=paid">Paid</a>`, `href="/cases?q=nothing-has-this&amp;route=expense&amp;state=ended">Ended</a>`}, []string{"status=voting"}},
		{"/cases?route=expense&status=paid", []string{"State: Paid", `href="/cases?route=expense&amp;state=ended">Ended</a>`}, nil},
		{"/cases?status=gone", []string{"State: gone", "No case in this list passes the filter."}, nil},
		{"/cases?route=no-such-route", []string{"No case in this list passes the filter."}, []string{`>State <`}},
		{"/cases?sort=oldest", []string{`<input type="hidden" name="sort" value="oldest">`, `class="chip">Oldest first`}, nil},
	} {
		got := b.get(t, test.at)
		for _, want := range test.has {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s lacks %s:\n%s", test.at, want, got.body[strings.Index(got.body, "<nav class=\"tabs"):strings.Index(got.body, `id="list"`)])
			}
		}
		for _, not := range test.not {
			if strings.Contains(got.body, not) {
				t.Errorf("%s has %s", test.at, not)
			}
		}
	}
}
