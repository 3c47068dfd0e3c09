package web

import (
	"bufio"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// zebra is in everything that is bob's alone: whoever else reads it reads too much.
const zebra = "Zebra7301"

// private is where bob's things are.
type private struct{ id, entry string }

// furnishPrivate makes things that bob alone may see.
func (g *rig) furnishPrivate(tb testing.TB) private {
	tb.Helper()
	const route = "title: " + zebra + " plan\naccess: {start: [bob], read: [bob]}\nroles: {owner: {assign: [starter]}}\nstates: {new: {type: start, title: " + zebra + "}, done: {type: complete}}\nactions: {begin: {trigger: init}, finish: {in: [new], to: done, role: owner}, note: {in: [new], allowed: [owner]}}\nxattrs: {why: {type: string}}\ntimers: {deadline: {limit: P1D, onExpire: [{warn: " + zebra + "}]}}\n"
	g.must(tb, "bob", 201, "PUT", "/dav/Workflow/Routes/hidden.yaml", route)
	at := g.must(tb, "bob", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "hidden", "title": "`+zebra+`", "context": "bob", "xattrDict": {"why": "`+zebra+`"}}`).header.Get("Location")
	p := private{id: regexp.MustCompile(`\d+`).FindString(at)}
	g.must(tb, "bob", 204, "PUT", "/dav/Workflow/Cases/"+p.id+"/Actions/note.json", `{"comment": "`+zebra+`"}`)
	at = g.must(tb, "bob", 201, "PUT", "/dav/Workflow/Schedule/new.json", `{"type": "interval", "title": "`+zebra+`", "route": "hidden", "hours": 6, "context": "bob", "note": "`+zebra+`"}`).header.Get("Location")
	p.entry = regexp.MustCompile(`[0-9a-f]{32}`).FindString(at)
	g.must(tb, "bob", 201, "PUT", "/dav/Documents/bob/"+zebra+".txt", zebra)
	g.must(tb, "bob", 204, "PUT", "/dav/Documents/bob/"+zebra+".txt", "another")
	g.must(tb, "bob", 201, "PUT", "/attachfs/"+zebra+".pdf", zebra)
	g.must(tb, "bob", 201, "PUT", "/dav/Account/AppPasswords/"+zebra+".json", "")
	return p
}

// addresses are addresses at which something of bob's is, or might be.
func (p private) addresses() []string {
	return []string{
		"/", "/login", "/login/oidc", "/login/oidc?next=/documents/bob", "/login/oidc/callback?code=x&state=y", "/logout", "/tasks", "/tasks?q=" + zebra, "/tasks?open=" + p.id + ".finish", "/tasks?route=hidden", "/tasks?context=bob", "/tasks/accepted", "/tasks/warnings", "/tasks/escalated", "/tasks/done", "/tasks/team/core",
		"/cases", "/cases?q=" + zebra, "/cases?route=hidden", "/cases?context=bob", "/cases?role=bob", "/cases?archived=1", "/cases/" + p.id, "/cases/" + p.id + "?log=decisions", "/cases/" + p.id + "?do=title", "/cases/" + p.id + "?do=fields", "/cases/" + p.id + "?do=people", "/cases/" + p.id + "?do=label", "/cases/" + p.id + "/messages/" + strings.Repeat("0", 32), "/cases/" + p.id + "?open=finish",
		"/routes", "/routes?q=" + zebra, "/routes/new", "/routes/new?from=hidden", "/routes/hidden", "/routes/hidden/edit", "/routes/hidden/board", "/routes/hidden/board?do=move&case=" + p.id, "/routes/bug/board?do=move&case=" + p.id, "/routes/hidden/cases", "/routes/hidden/schedule",
		"/routes/hidden/versions", "/routes/hidden/versions/1", "/routes/hidden/access", "/routes/hidden/report", "/routes/hidden/report.csv?figure=begun&week=2012-W45", "/routes/hidden/start",
		"/schedule", "/schedule?q=" + zebra, "/schedule?route=hidden", "/schedule?context=bob", "/schedule/new", "/schedule/new?route=hidden", "/schedule/" + p.entry, "/schedule/" + p.entry + "/edit", "/schedule/" + p.entry + "?do=pause",
		"/documents", "/documents/bob", "/documents/bob/.history", "/documents/bob/.history?of=" + zebra + ".txt", "/documents/bob/" + zebra + ".txt", "/attachments", "/attachments?do=delete&name=" + zebra + ".pdf",
		"/search?q=" + zebra, "/search?q=" + p.id, "/search?q=hidden", "/keys", "/late", "/mount", "/mount/kde", "/mount/kde?device=" + zebra, "/account", "/account/totp", "/sandbox",
		"/admin", "/admin/users", "/admin/teams", "/admin/holds", "/admin/audit", "/admin/audit/2012-11-09", "/admin/escalated", "/admin/metrics", "/docs/", "/docs/search?q=" + zebra,
	}
}

// onTheDrive are pictures and other things of the drive that the pages show or lead to.
func (p private) onTheDrive() []string {
	const flow = "/dav/Workflow/"
	return []string{
		flow + "Cases/", flow + "Cases/" + p.id + ".json", flow + "Cases/" + p.id + "/", flow + "Cases/" + p.id + "/diagram.svg", flow + "Cases/" + p.id + "/diagram.txt", flow + "Cases/" + p.id + "/diagram.mmd", flow + "Cases/" + p.id + "/log.txt", flow + "Cases/" + p.id + "/log.json",
		flow + "Routes/hidden.yaml", flow + "Routes/hidden/", flow + "Routes/hidden/diagram.svg", flow + "Routes/hidden/diagram.txt", flow + "Routes/hidden/diagram.mmd", flow + "Routes/hidden/Versions/1.svg", flow + "Routes/hidden/Board/", flow + "Worklist/Offered/.contents",
		flow + "Schedule/", flow + "Schedule/" + p.entry + ".json", flow + "Schedule/" + p.entry + "/occurrences.json", "/dav/Documents/", "/dav/Documents/bob/", "/dav/Documents/bob/" + zebra + ".txt", "/attachfs/", "/attachfs/" + zebra + ".pdf", "/dav/Account/AppPasswords/",
	}
}

var partNames = regexp.MustCompile(`{{define "part-([a-z]+)"}}`)

// TestNothingOfOthers: another user's objects are in no page, part, picture, search and
// event of who may not see them, whatever address is tried.
func TestNothingOfOthers(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	p := g.furnishPrivate(t)
	bob, others := g.browse(t, "bob"), []*browser{g.browse(t, "sam"), g.browse(t, "ann"), g.browse(t, "")}
	names := []string{"sam", "ann", "nobody"}
	one := regexp.MustCompile(`"instance": "[0-9a-f]+"|` + changing.String()) // of each answer its own
	seen := 0
	look := func(address string) {
		if got := bob.get(t, address); got.status == 200 && strings.Contains(got.body, zebra) {
			seen++
		}
		for i, b := range others {
			got := b.get(t, address)
			if strings.Contains(address, zebra) { // the page may say what was asked, as of what there is not
				const nothing = "Zebra7302"
				same := b.get(t, strings.ReplaceAll(address, zebra, nothing))
				if diff := cmp.Diff(one.ReplaceAllString(strings.ReplaceAll(same.body, nothing, zebra), ""), one.ReplaceAllString(got.body, "")); diff != "" || got.status != same.status {
					t.Errorf("%s shows to %s something else than of what there is not: %d %s", address, names[i], got.status, diff)
				}
			} else if strings.Contains(got.body, zebra) {
				t.Errorf("%s shows to %s: %d %s", address, names[i], got.status, around(got.body, zebra))
			}
			if got.status >= 500 {
				t.Errorf("%s: got %d", address, got.status)
			}
		}
	}
	reached := map[string]bool{}
	every := http.NewServeMux()
	for _, one := range (&pages{}).all() {
		every.HandleFunc(one.pattern, func(http.ResponseWriter, *http.Request) {})
		reached[one.pattern] = false
	}
	for _, address := range p.addresses() {
		r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, pattern := every.Handler(r)
		reached[pattern] = true
		look(address)
	}
	for pattern, is := range reached {
		if !is && pattern != "" {
			t.Errorf("no address of %s is tried", pattern)
		}
	}
	for _, page := range []string{"/tasks", "/cases", "/cases/" + p.id, "/routes", "/routes/hidden", "/routes/hidden/board", "/schedule", "/schedule/" + p.entry, "/documents/bob", "/search?q=" + zebra, "/late", "/attachments"} {
		for _, part := range g.parts(t) {
			separator := "?"
			if strings.Contains(page, "?") {
				separator = "&"
			}
			look(page + separator + "part=" + part)
		}
	}
	for _, address := range p.onTheDrive() {
		look(address)
	}
	if seen < 40 {
		t.Errorf("bob himself sees his things at %d addresses: the test looks at the wrong ones", seen)
	}
}

// parts returns the names of all parts of pages.
func (g *rig) parts(tb testing.TB) (names []string) {
	tb.Helper()
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		text, err := templateFiles.ReadFile("templates/" + f.Name())
		if err != nil {
			tb.Fatal(err)
		}
		for _, m := range partNames.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// around returns the text around a word.
func around(text, word string) string {
	i := strings.Index(text, word)
	return text[max(0, i-120):min(len(text), i+120)]
}

// TestNoEventsOfOthers: who may not see a case, an entry and a document hears of no change
// of theirs; what comes later is heard.
func TestNoEventsOfOthers(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	p := g.furnishPrivate(t)
	r, err := http.NewRequestWithContext(t.Context(), "GET", g.http.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "fd", Value: g.browse(t, "sam").token})
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	g.must(t, "bob", 204, "PUT", "/dav/Workflow/Cases/"+p.id+"/Actions/note.json", `{"comment": "again"}`)
	g.must(t, "bob", 204, "PUT", "/dav/Workflow/Schedule/"+p.entry+".json", `{"do": "trigger"}`)
	g.must(t, "bob", 204, "DELETE", "/dav/Documents/bob/"+zebra+".txt", "")
	g.must(t, "bob", 204, "PUT", "/dav/Workflow/Routes/hidden.yaml?migrate", g.must(t, "bob", 200, "GET", "/dav/Workflow/Routes/hidden.yaml", "").body+"# changed\n")
	last := g.must(t, "sam", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "Sam's own"}`).header.Get("Location")
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		line := lines.Text()
		for _, theirs := range []string{"/Cases/" + p.id, p.entry, zebra, "hidden"} {
			if strings.Contains(line, theirs) {
				t.Errorf("sam hears %s", line)
			}
		}
		if strings.HasPrefix(line, "data:") && strings.Contains(line, strings.TrimSuffix(last, ".json")) {
			return
		}
	}
	t.Errorf("the stream has ended before sam's own case: %v", lines.Err())
}
