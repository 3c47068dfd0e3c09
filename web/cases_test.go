package web

import (
	"fmt"
	"html"
	"net/http"
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
	if empty := g.browse(t, "sam").get(t, fmt.Sprintf("/cases?q=%d", first)).body; !strings.Contains(empty, fmt.Sprintf(`There are some under <a href="/cases?q=%d&amp;state=ended">Ended</a>.`, first)) {
		t.Errorf("an ended case is looked for among the open ones: %s", empty)
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

// TestChangedCases: a list that has none of the cases that have changed is not sent again.
func TestChangedCases(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	for _, test := range []struct {
		path   string
		status int
	}{
		{"/cases?part=list&changed=17", 200},
		{"/cases?part=list&changed=4711", 204},
		{"/cases?part=list&changed=4711,17", 200},
		{"/cases?route=bug&part=list&changed=17", 204},
		{"/tasks?part=list&changed=17", 200},
		{"/tasks?part=list&changed=4711", 204},
		{"/tasks/accepted?part=list&changed=17", 204},
		{"/routes/bug/board?part=board&changed=18", 200},
		{"/routes/bug/board?part=board&changed=17", 204},
		{"/cases?changed=17", 400},
		{"/cases?part=list&changed=", 400},
		{"/cases?part=list&changed=x", 400},
		{"/cases?part=list&changed=-1", 400},
		{"/cases?part=list&changed=" + strings.Repeat("1,", 100) + "1", 400},
		{"/schedule?part=list&changed=17", 400},
	} {
		got := b.get(t, test.path)
		if got.status != test.status || got.status == 204 && got.body != "" || strings.Contains(got.body, "changed=") {
			t.Errorf("%s: got %d, want %d: %s", test.path, got.status, test.status, got.body)
		}
	}
}

// TestUnchangedPages: a page or part without a form that acts once is not sent again as long as
// it is the same; one with such a form is, with a key of its own, and is kept nowhere.
func TestUnchangedPages(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	again := func(path, etag string) *answer {
		r, err := http.NewRequestWithContext(t.Context(), "GET", g.http.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: "fd", Value: b.token})
		r.Header.Set("If-None-Match", etag)
		return send(t, b.client, r)
	}
	for _, path := range []string{"/cases", "/cases?part=list", "/cases/17?part=log", "/cases/17?part=timers", "/schedule", "/documents/ann", "/docs/"} {
		first := b.get(t, path)
		etag := first.header.Get("ETag")
		if !strings.HasPrefix(etag, `W/"`) || first.header.Get("Cache-Control") != "private, no-cache" || first.header.Get("Vary") == "" {
			t.Errorf("%s: %q %q", path, etag, first.header.Get("Cache-Control"))
		}
		got := again(path, etag)
		if got.status != 304 || got.body != "" || got.header.Get("ETag") != etag || got.header.Get("Content-Security-Policy") != policy {
			t.Errorf("%s: got %d %v", path, got.status, got.header)
		}
	}
	etag := b.get(t, "/cases/17?part=log").header.Get("ETag")
	g.must(t, "ann", 204, "PUT", "/dav/Workflow/Cases/17.json", `{"comment": "Another line"}`)
	if got := again("/cases/17?part=log", etag); got.status != 200 || !strings.Contains(got.body, "Another line") {
		t.Errorf("after a change: got %d %s", got.status, got.body)
	}
	for _, path := range []string{"/routes/bug/start", "/cases/17?part=todo"} {
		if got := again(path, "*"); got.status != 200 || got.header.Get("ETag") != "" {
			t.Errorf("%s, which has a form: got %d %q", path, got.status, got.header.Get("ETag"))
		}
	}
	if got := again("/cases/999999", "*"); got.status != 404 || got.header.Get("ETag") != "" {
		t.Errorf("what is not there: got %d %q", got.status, got.header.Get("ETag"))
	}
	if got := b.post(t, "/cases/17", "do", "watch"); got.status != 303 {
		t.Fatalf("watch: %d", got.status)
	}
	whole := b.get(t, "/cases") // with a notice, once
	if got := again("/cases", whole.header.Get("ETag")); got.status != 200 {
		t.Errorf("the page after that with a notice: got %d", got.status)
	}
}

// TestListingsLeadToPages: a browser that looks at a folder of the drive is led to its page. What
// a program reads has no such link, and what Accept says changes nothing on a page.
func TestListingsLeadToPages(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	get := func(path, accept string) *answer {
		r, err := http.NewRequestWithContext(t.Context(), "GET", g.http.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: "fd", Value: b.token})
		r.Header.Set("Accept", accept)
		return send(t, b.client, r)
	}
	for folder, page := range map[string]string{
		"/dav/Workflow/Cases/": "/cases", "/dav/Workflow/Cases/17/": "/cases/17", "/dav/Workflow/Routes/bug/": "/routes/bug", "/dav/Workflow/Worklist/Offered/": "/tasks", "/dav/Documents/ann/": "/documents/ann", "/dav/Workflow/Cases/17/Messages/": "",
	} {
		got := get(folder, "text/html,*/*;q=0.8").body
		if link := `<a href="` + page + `">As a page</a>`; page != "" && !strings.Contains(got, link) || page == "" && strings.Contains(got, "As a page") {
			t.Errorf("%s does not lead to %q: %s", folder, page, got)
		}
		if got := get(folder, "*/*").body; strings.Contains(got, "As a page") {
			t.Errorf("%s leads programs to a page: %s", folder, got)
		}
		if page == "" {
			continue
		}
		if got := b.get(t, page); got.status != 200 {
			t.Errorf("%s leads to %s: %d", folder, page, got.status)
		}
	}
	got := get("/cases", "application/json")
	if kind := got.header.Get("Content-Type"); kind != "text/html; charset=utf-8" || got.header.Get("Link") != `</dav/Workflow/Cases/.contents>; rel="alternate"; type="application/json"` {
		t.Errorf("a page that is asked for as JSON: %q %q", kind, got.header.Get("Link"))
	}
}

// TestListsOfAnUnknownRoute: a list of a route that is not there, or not to be seen, is refused in
// words, the same for both.
func TestListsOfAnUnknownRoute(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.furnishPrivate(t)
	ann := g.browse(t, "ann")
	for _, list := range []string{"/cases", "/cases?archived=1", "/tasks", "/tasks/accepted", "/schedule"} {
		with := list + "?route="
		if strings.Contains(list, "?") {
			with = list + "&route="
		}
		for _, name := range []string{"zzz", "hidden"} {
			got := ann.get(t, with+name)
			if want := "There is no route &#34;" + name + "&#34;, or it is not for you to see."; got.status != 400 || !strings.Contains(got.body, want) {
				t.Errorf("%s of %s: got %d %s", list, name, got.status, textOf(got.body, "main"))
			}
		}
		for _, name := range []string{"bug", "BUG"} {
			if got := ann.get(t, with+name); got.status != 200 {
				t.Errorf("%s of %s: got %d %s", list, name, got.status, textOf(got.body, "main"))
			}
		}
	}
}
