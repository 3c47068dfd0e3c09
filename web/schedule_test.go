package web

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// advance sets the clock, and does what is due on the way.
func (g *rig) advance(tb testing.TB, to string) {
	tb.Helper()
	for complete := false; !complete; {
		var done struct {
			Now      time.Time
			Complete bool
		}
		if err := json.Unmarshal([]byte(g.must(tb, "admin", 200, "POST", "/clock", `{"set": "`+to+`"}`).body), &done); err != nil {
			tb.Fatal(err)
		}
		g.clock.Set(done.Now)
		complete = done.Complete
	}
}

// furnished returns the UUID of the entry of a title, as ann sees it.
func (g *rig) furnished(tb testing.TB, title string) string {
	tb.Helper()
	m := regexp.MustCompile(`<a href="/schedule/([0-9a-f]{32})"><b>` + regexp.QuoteMeta(title) + `</b>`).FindStringSubmatch(g.browse(tb, "ann").get(tb, "/schedule").body)
	if m == nil {
		tb.Fatalf("there is no entry %s", title)
	}
	return m[1]
}

// furnishSchedule fills the server with schedule entries and what becomes of them in five
// days. It returns their UUIDs by title.
func (g *rig) furnishSchedule(tb testing.TB) map[string]string {
	tb.Helper()
	const collector = "title: Intake\naccess: {start: [%s]}\nroles: {worker: {assign: ['team:core']}}\nstates: {new: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, finish: {in: [new], to: done, role: worker}}\n"
	g.must(tb, "ann", 201, "PUT", "/dav/Documents/core/inbox.csv", "a,b\n")
	g.must(tb, "admin", 201, "PUT", "/dav/Workflow/Routes/intake.yaml", fmt.Sprintf(collector, "everyone"))
	for _, e := range [][2]string{
		{"ann", `{"type": "cron", "title": "Nightly rates", "route": "bug", "context": "core", "weekday": "mon-fri", "hour": 23, "minute": 0, "timezone": "Europe/Stockholm", "xattrDict": {"month": "$__MONTHSTART__;"}}`},
		{"ann", `{"type": "interval", "title": "Collect inbox", "route": "intake", "context": "core", "hours": 6, "document": "/dav/Documents/core/inbox.csv"}`},
		{"ann", `{"type": "interval", "title": "Probe the scales", "route": "bug", "context": "core", "minutes": 90, "overlap": "skip"}`},
		{"ann", `{"type": "cron", "title": "Audit export", "route": "bug", "weekday": "fri", "hour": 6, "minute": 15, "paused": true, "note": "until <i>the auditors</i> have moved"}`},
		{"ann", `{"type": "crontab", "title": "Month-end close", "route": "bug", "context": "core", "spec": "30 17 28-31 * *", "exclude": ["2012-11-28"], "timezone": "Europe/Stockholm"}`},
		{"ann", `{"type": "simple", "title": "Renew the certificate of the mail host", "route": "bug", "context": "core", "date": "2012-11-21T09:00:00"}`},
		{"sam", `{"type": "interval", "title": "Sam's own", "route": "bug", "hours": 1, "paused": true}`},
	} {
		g.must(tb, e[0], 201, "PUT", "/dav/Workflow/Schedule/new.json", e[1])
	}
	g.advance(tb, "2012-11-12T00:00:00Z")
	g.must(tb, "admin", 204, "PUT", "/dav/Workflow/Routes/intake.yaml", fmt.Sprintf(collector, "sam"))
	g.advance(tb, "2012-11-12T06:00:00Z")
	g.must(tb, "admin", 204, "PUT", "/dav/Workflow/Routes/intake.yaml", fmt.Sprintf(collector, "everyone"))
	g.advance(tb, "2012-11-14T07:30:56Z")
	out := map[string]string{}
	row := regexp.MustCompile(`<a href="/schedule/([0-9a-f]{32})"><b>([^<]+)</b>`)
	for _, user := range []string{"ann", "sam"} {
		for _, m := range row.FindAllStringSubmatch(g.browse(tb, user).get(tb, "/schedule").body, -1) {
			out[html.UnescapeString(m[2])] = m[1]
		}
	}
	if len(out) != 7 {
		tb.Fatalf("there are the entries %v", out)
	}
	g.must(tb, "ann", 204, "PUT", "/dav/Workflow/Schedule/"+out["Nightly rates"]+".json", `{"do": "trigger"}`)
	return out
}

// schedulePagesToTry are the pages of the schedule that furnishSchedule has filled.
func schedulePagesToTry(entries map[string]string) []pageToTry {
	at := func(title string) string { return "/schedule/" + entries[title] }
	return []pageToTry{
		{"schedule", "ann", "/schedule", 200},
		{"schedule-30", "ann", "/schedule?days=30", 200},
		{"schedule-filtered", "ann", "/schedule?route=bug&context=core&q=scales", 200},
		{"schedule-paused", "ann", "/schedule?paused=1", 200},
		{"schedule-failed", "ann", "/schedule?failed=1", 200},
		{"schedule-timeline", "ann", "/schedule?days=7", 200},
		{"schedule-days", "ann", "/schedule?days=31", 400},
		{"schedule-flag", "ann", "/schedule?paused=yes", 400},
		{"schedule-after", "ann", "/schedule?after=x", 400},
		{"schedule-sort", "ann", "/schedule?sort=zzz", 400},
		{"entry", "ann", at("Collect inbox"), 200},
		{"entry-earlier", "ann", at("Probe the scales") + "?after=1352600000000", 200},
		{"entry-calendar", "ann", at("Nightly rates"), 200},
		{"entry-paused", "ann", at("Audit export"), 200},
		{"entry-pause", "ann", at("Nightly rates") + "?do=pause", 200},
		{"entry-trigger", "ann", at("Nightly rates") + "?do=trigger", 200},
		{"entry-backfill", "ann", at("Nightly rates") + "?do=backfill", 200},
		{"entry-delete", "ann", at("Nightly rates") + "?do=delete", 200},
		{"entry-of-others", "ann", at("Sam's own"), 404},
		{"entry-name", "ann", "/schedule/" + strings.ToUpper(entries["Nightly rates"]), 404},
		{"entry-absent", "ann", "/schedule/" + strings.Repeat("0", 32), 404},
		{"entry-place", "ann", at("Nightly rates") + "?after=x", 400},
		{"entry-new", "ann", "/schedule/new", 200},
		{"entry-new-filled", "ann", "/schedule/new?type=cron&day=last+sun&hour=2&minute=30&timezone=Europe%2FStockholm&route=bug&xattrDict=day+%3D+%24__TODAY__%3B%0Aamount+%3D+12", 200},
		{"entry-edit", "ann", at("Month-end close") + "/edit", 200},
		{"entry-edit-others", "ann", at("Sam's own") + "/edit", 404},
	}
}

// TestSchedulePages draws the pages of the schedule.
func TestSchedulePages(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	empty := []pageToTry{{"schedule-empty", "sam", "/schedule", 200}}
	g.tryPages(t, empty)
	entries := g.furnishSchedule(t)
	g.tryPages(t, schedulePagesToTry(entries))
	for path, want := range map[string]int{"/schedule?part=list": 200, "/schedule?part=timeline": 200, "/schedule?part=none": 404, "/schedule/" + entries["Collect inbox"] + "?part=history": 200, "/schedule/" + entries["Collect inbox"] + "?part=next": 200} {
		if got := g.browse(t, "ann").get(t, path); got.status != want {
			t.Errorf("%s: got %d, want %d", path, got.status, want)
		}
	}
}

// TestEntryCommands: each is done as the drive does it, once, and leads back to the entry.
func TestEntryCommands(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	entries := g.furnishSchedule(t)
	b := g.browse(t, "ann")
	uuid := entries["Nightly rates"]
	page, file := "/schedule/"+uuid, "/dav/Workflow/Schedule/"+uuid+".json"
	for _, test := range []struct {
		name   string
		fields []string
		to     string
		says   string
		path   string
		has    string
	}{
		{"pause", []string{"do", "pause", "note", `until "they" say`}, page, "is paused", file, `"note": "until \"they\" say"`},
		{"resume", []string{"do", "resume"}, page, "goes on", file, `"paused": false`},
		{"fire", []string{"do", "trigger"}, page, "has fired", "/dav/Workflow/Schedule/" + uuid + "/occurrences.json", `"outcome":"triggered"`},
		{"backfill", []string{"do", "backfill", "from", "2012-11-01", "to", "2012-11-03"}, page, "filled in", "/dav/Workflow/Schedule/" + uuid + "/occurrences.json", `"outcome":"backfilled"`},
		{"delete", []string{"do", "delete"}, "/schedule", "is deleted", "/dav/Workflow/Status/schedule/" + uuid + ".txt", "deleted by ann"},
	} {
		got := b.post(t, page, append(test.fields, "key", test.name)...)
		if got.status != 303 || got.header.Get("Location") != test.to {
			t.Errorf("%s: got %d %q %s", test.name, got.status, got.header.Get("Location"), textOf(got.body, "refused"))
			continue
		}
		if said := textOf(b.get(t, "/account").body, "notice"); !strings.Contains(said, test.says) {
			t.Errorf("%s: the notice says %q", test.name, said)
		}
		if stored := strings.ReplaceAll(g.must(t, "ann", 200, "GET", test.path, "").body, `": "triggered`, `":"triggered`); !strings.Contains(strings.ReplaceAll(stored, `": "backfilled`, `":"backfilled`), test.has) {
			t.Errorf("%s: there is no %s in %s", test.name, test.has, stored)
		}
	}
	ended := b.get(t, page)
	if ended.status != 200 || !strings.Contains(ended.body, "Deleted by Ann Lindqvist") || strings.Contains(ended.body, "Fire now") {
		t.Errorf("the page of an entry that is deleted: %d %s", ended.status, ended.body)
	}
	if got := b.post(t, "/schedule/"+entries["Collect inbox"], "do", "backfill", "from", "2012-11-13", "to", "2012-11-14", "show", "1"); !strings.Contains(got.body, "That time has 4 instants.") {
		t.Errorf("a backfill that is asked about: %d %s", got.status, textOf(got.body, "ask"))
	}
	refused := b.post(t, "/schedule/"+entries["Collect inbox"], "do", "backfill", "from", "never", "to", "2099-01-01")
	if refused.status != 422 || textOf(refused.body, "a-from-fault") == "" || !strings.Contains(refused.body, `value="never"`) {
		t.Errorf("a backfill that is refused: %d %s", refused.status, refused.body)
	}
	if got := g.browse(t, "sam").post(t, page, "do", "trigger"); got.status != 404 {
		t.Errorf("the entry of others: got %d, want 404", got.status)
	}
}

// TestStoreEntries: the form of an entry stores what it shows, under the name of its title;
// what is edited meanwhile is shown beside.
func TestStoreEntries(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	fields := []string{
		"do", "store", "key", "K1", "type", "cron", "title", "Stock / taking", "route", "bug", "context", "core", "day", "last sun", "hour", "2", "minute", "30", "month", "*", "weekday", "*",
		"timezone", "Europe/Stockholm", "misfire", "all", "exclude", "2012-12-24\n2012-12-27 to 2013-01-02", "xattrDict", "month = $__MONTHSTART__;\namount = 12\nflag = \"true\"",
	}
	first := b.post(t, "/schedule/new", fields...)
	where := first.header.Get("Location")
	if first.status != 303 || !regexp.MustCompile(`^/schedule/[0-9a-f]{32}$`).MatchString(where) {
		t.Fatalf("got %d %q %s", first.status, where, textOf(first.body, "refused"))
	}
	if again := b.post(t, "/schedule/new", fields...); again.header.Get("Location") != where {
		t.Errorf("the same form again: %d %q, want %q", again.status, again.header.Get("Location"), where)
	}
	stored := g.must(t, "ann", 200, "GET", "/dav/Workflow/Schedule/"+strings.TrimPrefix(where, "/schedule/")+".json", "").body
	for _, part := range []string{`"day": "last sun"`, `"context": "core"`, `"misfire": "all"`, `"amount": 12`, `"flag": "true"`, `"2012-12-24"`} {
		if !strings.Contains(stored, part) {
			t.Errorf("there is no %s in %s", part, stored)
		}
	}
	g.must(t, "ann", 200, "GET", "/dav/Workflow/Schedule/Stock%20_%20taking.json", "")
	fields[3], fields[11] = "K2", "core"
	fields[len(fields)-1] = "other = 1"
	if other := b.post(t, "/schedule/new", fields...); other.status != 303 || other.header.Get("Location") == where {
		t.Errorf("another entry of that title: %d %q", other.status, other.header.Get("Location"))
	}
	edit := where + "/edit"
	m := regexp.MustCompile(`name="match" value="([^"]+)"`).FindStringSubmatch(b.get(t, edit).body)
	if m == nil {
		t.Fatal("the form has no ETag")
	}
	match := html.UnescapeString(m[1])
	g.must(t, "bob", 204, "PUT", "/dav/Workflow/Schedule/"+strings.TrimPrefix(where, "/schedule/")+".json", `{"do": "pause", "note": "wait"}`)
	late := b.post(t, edit, "do", "store", "match", match, "type", "cron", "title", "Mine", "route", "bug", "hour", "3", "minute", "30", "timezone", "UTC")
	if late.status != 412 || !strings.Contains(late.body, "Save mine all the same") || !strings.Contains(late.body, "<mark>Stock / taking</mark>") || !strings.Contains(late.body, `value="Mine"`) {
		t.Errorf("an entry that was changed meanwhile: %d %s", late.status, late.body)
	}
	for _, fault := range faultsOf(late.body) {
		t.Error("412:", fault)
	}
	m = regexp.MustCompile(`name="match" value="([^"]+)"`).FindStringSubmatch(late.body)
	if got := b.post(t, edit, "do", "store", "match", html.UnescapeString(m[1]), "type", "cron", "title", "Mine", "route", "bug", "hour", "3", "minute", "30", "timezone", "UTC"); got.status != 303 {
		t.Errorf("all the same: %d %s", got.status, textOf(got.body, "refused"))
	}
}

// TestPreviewEntries: what a form would do is said before it is stored, by the drive's own
// check and by the iterator that fires.
func TestPreviewEntries(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	for _, test := range []struct {
		name   string
		fields []string
		says   []string
	}{
		{"a gap", []string{"type", "cron", "day", "last sun", "hour", "2", "minute", "30", "timezone", "Europe/Stockholm"}, []string{"At 02:30 on the last Sunday", "Sun 31 Mar, <b>03:00</b>", "clocks go forward: there is no 02:30", "01:00 UTC"}},
		{"free minutes", []string{"type", "cron", "hour", "23"}, []string{"Every minute from 23:00 to 23:59: is that meant?"}},
		{"left out", []string{"type", "interval", "hours", "24", "date", "2012-11-09 08:00", "exclude", "2012-11-10"}, []string{"left out: 2012-11-10 (exclude)"}},
		{"once", []string{"type", "simple", "date", "2012-11-21 09:00"}, []string{"Once on Wed 21 Nov, 09:00 <span class=\"sub\">(UTC)</span>", "Wed 21 Nov, <b>09:00</b>"}},
		{"crontab", []string{"type", "crontab", "spec", "*/90 * * * *"}, []string{"use the type interval"}},
		{"labels", []string{"type", "interval", "hours", "1", "xattrDict", "day = $__TODAY__;\nodd = $__NOSUCH__;"}, []string{"<dt>day</dt><dd>2012-11-09</dd>", "There is no label $__NOSUCH__;."}},
		{"a fault", []string{"type", "cron", "weekday", "7", "hour", "25"}, []string{"Not yet an entry", `data-fault="f-weekday"`, `data-fault="f-hour"`, "sun"}},
		{"hostile", []string{"type", "cron", "weekday", "<script>alert(1)</script>"}, []string{"&lt;script&gt;"}},
	} {
		got := b.post(t, "/schedule/new?part=preview", append([]string{"do", "store", "show", "1", "route", "bug"}, test.fields...)...)
		if got.status != 200 || !strings.HasPrefix(strings.TrimSpace(got.body), `<div class="stack-s" id="preview"`) {
			t.Errorf("%s: %d %s", test.name, got.status, got.body)
		}
		for _, part := range test.says {
			if !strings.Contains(got.body, part) {
				t.Errorf("%s: there is no %q in %s", test.name, part, got.body)
			}
		}
	}
	whole := b.post(t, "/schedule/new", "do", "store", "show", "1", "route", "bug", "type", "cron", "hour", "25", "title", "kept <b>")
	if whole.status != 200 || textOf(whole.body, "f-hour-fault") == "" || !strings.Contains(whole.body, "kept &lt;b&gt;") {
		t.Errorf("without script: %d %s", whole.status, textOf(whole.body, "refused"))
	}
	if list := g.must(t, "ann", 200, "GET", "/dav/Workflow/Schedule/.ls", "").body; strings.Contains(list, ".json") {
		t.Errorf("a preview has stored %s", list)
	}
}

// TestEntryCurlLines runs the curl lines of the forms.
func TestEntryCurlLines(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	g := newRig(t)
	g.must(t, "ann", 201, "PUT", "/dav/Workflow/Schedule/first.json", `{"type": "interval", "title": "First", "route": "bug", "hours": 6}`)
	m := regexp.MustCompile(`/schedule/([0-9a-f]{32})`).FindStringSubmatch(g.browse(t, "ann").get(t, "/schedule").body)
	page := m[0]
	for _, test := range []struct {
		name, path string
		fields     []string
		after, has string
	}{
		{"new", "/schedule/new", []string{"do", "store", "type", "cron", "title", "It's $HOME", "route", "bug", "hour", "2", "minute", "30", "show", "1"}, "/dav/Workflow/Schedule/It's%20$HOME.json", `"hour": 2`},
		{"edit", page + "/edit", []string{"do", "store", "type", "interval", "title", "Second", "route", "bug", "days", "2", "show", "1"}, "/dav/Workflow/Schedule/" + m[1] + ".json", `"days": 2`},
		{"pause", page, []string{"do", "pause", "note", "`id`", "show", "1"}, "/dav/Workflow/Schedule/" + m[1] + ".json", "\"note\": \"`id`\""},
		{"trigger", page, []string{"do", "trigger", "show", "1"}, "/dav/Workflow/Schedule/" + m[1] + "/occurrences.json", "triggered"},
	} {
		got := g.browse(t, "ann").post(t, test.path, test.fields...)
		line := curlText.FindStringSubmatch(got.body)
		if line == nil {
			t.Errorf("%s: there is no curl line in %d %s", test.name, got.status, got.body)
			continue
		}
		command := strings.Replace(html.UnescapeString(line[1]), "curl -u ann ", "curl -sS --fail-with-body -u 'ann:"+password+"' ", 1)
		if out, err := exec.CommandContext(t.Context(), "bash", "-c", command).CombinedOutput(); err != nil {
			t.Errorf("%s: %s: %v %s", test.name, command, err, out)
		}
		if stored := g.must(t, "ann", 200, "GET", test.after, "").body; !strings.Contains(stored, test.has) {
			t.Errorf("%s: after the curl line there is no %s in %s", test.name, test.has, stored)
		}
	}
}

// TestSchedulePlaces: the pages of the list have every entry once.
func TestSchedulePlaces(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	const n = 60
	for i := range n {
		g.must(t, "ann", 201, "PUT", "/dav/Workflow/Schedule/new.json", fmt.Sprintf(`{"type": "interval", "title": "Entry %d", "route": "bug", "hours": %d}`, i, i%5+1))
	}
	b := g.browse(t, "ann")
	seen, at := map[string]bool{}, "/schedule"
	for pages := 0; at != ""; pages++ {
		got := b.get(t, at)
		for _, m := range regexp.MustCompile(`<tr id="entry-([0-9a-f]{32})"`).FindAllStringSubmatch(got.body, -1) {
			if seen[m[1]] {
				t.Errorf("%s is there twice", m[1])
			}
			seen[m[1]] = true
		}
		at = ""
		if m := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(got.body); m != nil {
			at = html.UnescapeString(m[1])
		}
		if pages > 3 {
			t.Fatal("it does not end")
		}
	}
	if len(seen) != n {
		t.Errorf("there are %d entries, want %d", len(seen), n)
	}
	clone := regexp.MustCompile(`href="(/schedule/new\?[^"]+)">Clone`).FindStringSubmatch(b.get(t, "/schedule").body)
	address, err := url.Parse(html.UnescapeString(clone[1]))
	if err != nil || address.Query().Get("title") != "Entry 0" {
		t.Errorf("the form of a clone is at %s %v", address, err)
	}
	if got := b.get(t, address.String()); got.status != 200 || !strings.Contains(got.body, `value="Entry 0"`) {
		t.Errorf("a clone: %d", got.status)
	}
}

// TestEntryOfADisabledOwner: the pages do not show an entry as on whose owner is disabled.
func TestEntryOfADisabledOwner(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "sam", 201, "PUT", "/dav/Workflow/Schedule/new.json", `{"type": "interval", "title": "Sams own", "route": "bug", "hours": 1}`)
	list := g.browse(t, "admin").get(t, "/schedule").body
	uuid := regexp.MustCompile(`<a href="/schedule/([0-9a-f]{32})"><b>Sams own</b>`).FindStringSubmatch(list)
	if uuid == nil || !strings.Contains(list, "Next: <b>Sams own</b>") {
		t.Fatalf("the list is %s", list)
	}
	g.must(t, "admin", 200, "PUT", "/dav/Admin/Users/sam.json", `{"disabled": true}`)
	for _, page := range []string{"/schedule", "/schedule/" + uuid[1]} {
		body := g.browse(t, "admin").get(t, page).body
		if !strings.Contains(body, "Owner disabled") || !strings.Contains(body, "none while its owner is disabled") || strings.Contains(body, "Next: <b>Sams own</b>") {
			t.Errorf("%s is %s", page, body)
		}
	}
	if body := g.browse(t, "admin").get(t, "/schedule/"+uuid[1]).body; !strings.Contains(body, "It starts no cases until the owner is enabled") {
		t.Errorf("the page of the entry is %s", body)
	}
}

// TestFailedCases: an instant whose case has failed is drawn and told as failed, and the filter
// finds its entry, until its case has been mended or a later one has not failed.
func TestFailedCases(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/job.yaml", "title: Job\naccess: {start: [everyone], admin: [ann]}\nxattrs: {fails: {type: boolean}}\n"+
		"states: {new: {type: start}, done: {type: complete}, broken: {type: failed}}\n"+
		"actions:\n  run: {trigger: init}\n  break: {trigger: auto, in: [new], to: broken, guard: xattr.fails == true}\n  finish: {trigger: auto, in: [new], to: done, guard: xattr.fails != true}\n")
	for title, fails := range map[string]string{"Broken": "true", "Sound": "false"} {
		g.must(t, "ann", 201, "PUT", "/dav/Workflow/Schedule/new.json", `{"type": "interval", "title": "`+title+`", "route": "job", "hours": 6, "xattrDict": {"fails": `+fails+`}}`)
	}
	uuid := g.furnished(t, "Broken")
	g.advance(t, g.clock.Now().Add(7*time.Hour).Format(time.RFC3339))
	b := g.browse(t, "ann")
	list := b.get(t, "/schedule?failed=1").body
	for _, has := range []string{"1 failed the last time", "<b>Broken</b>", "<title>1 failed</title>", `</a> has failed`, "On, fails"} {
		if !strings.Contains(list, has) {
			t.Errorf("those that failed lately: there is no %q in %s", has, list)
		}
	}
	if strings.Contains(list, "<b>Sound</b></a>") {
		t.Error("one whose case is done has failed lately")
	}
	if all := b.get(t, "/schedule").body; !strings.Contains(all, "failed: ") || !strings.Contains(all, "done: ") {
		t.Errorf("the coming days do not tell what failed from what is done: %s", all)
	}
	page := b.get(t, "/schedule/"+uuid).body
	for _, has := range []string{`class="fail"`, "its case has failed", "has failed.</b> It is the last one"} {
		if !strings.Contains(page, has) {
			t.Errorf("the page of the entry: there is no %q in %s", has, page)
		}
	}
	g.must(t, "ann", 204, "PUT", "/dav/Workflow/Schedule/"+uuid+".json", `{"type": "interval", "title": "Broken", "route": "job", "hours": 6, "xattrDict": {"fails": false}}`)
	g.must(t, "ann", 204, "PUT", "/dav/Workflow/Schedule/"+uuid+".json", `{"do": "trigger"}`)
	if list := b.get(t, "/schedule?failed=1").body; !strings.Contains(list, "No entry passes the filter") {
		t.Errorf("a later case has not failed: %s", list)
	}
}
