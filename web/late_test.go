package web

import (
	"strings"
	"testing"
)

// TestLatePage: what is late or has failed, each with what can be done about it.
func TestLatePage(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.tryPages(t, []pageToTry{{"late-none", "ann", "/late", 200}})
	g.furnish(t)
	g.advance(t, "2012-12-20T08:00:00Z")
	g.tryPages(t, []pageToTry{{"late", "ann", "/late", 200}, {"late-parameter", "ann", "/late?sort=zzz", 400}})
	if got := g.browse(t, "ann").get(t, "/late?part=late"); got.status != 200 || !strings.Contains(got.body, "Two monitors for the lab") {
		t.Errorf("the part: %d %s", got.status, got.body)
	}
}

// TestLatePageSaysThatNobodyIsTold: an administrator without an address learns that nobody
// is told of what fails; others cannot change that.
func TestLatePageSaysThatNobodyIsTold(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	const want = "No administrator is told outside of the drive of what fails: "
	for user, says := range map[string]bool{"admin": true, "ann": false} {
		if got := g.browse(t, user).get(t, "/late"); got.status != 200 || strings.Contains(got.body, want) != says {
			t.Errorf("%s: got %d; want that it says so: %v in\n%s", user, got.status, says, got.body)
		}
	}
}

// TestLatePageOutsideOfCases: a schedule entry that could not create its case is on the
// page, with the reason and a link.
func TestLatePageOutsideOfCases(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.must(t, "ann", 201, "PUT", "/dav/Workflow/Schedule/six.json", `{"type": "interval", "title": "Six", "route": "expense", "hours": 6}`)
	g.advance(t, "2012-11-10T08:00:00Z")
	got := g.browse(t, "ann").get(t, "/late")
	for _, part := range []string{"1 outside of cases", `<a href="/schedule/`, "schedule entry six: Six</a>", "amount is required by the route"} {
		if !strings.Contains(got.body, part) {
			t.Errorf("there is no %q in\n%s", part, got.body)
		}
	}
	overview := g.browse(t, "admin").get(t, "/admin")
	for _, part := range []string{"<b>Schedule entry six@ann: Six.</b>", "amount is required by the route", `<a class="b b-s" href="/schedule/`, `<a href="/late" aria-label="Late or failed: `} {
		if !strings.Contains(overview.body, part) {
			t.Errorf("the overview of administrators has no %q in\n%s", part, overview.body)
		}
	}
}

// TestFailureOnItsCase: what the server could not do stands above everything else on the
// page of its case, once, and those who may have it tried again find that there.
func TestFailureOnItsCase(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/weigh.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {owner: {assign: [starter]}}
xattrs: {weight: {type: number}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  weigh: {title: Weigh, trigger: auto, in: [open], decide: 'xattr.weight > 1 ? "y" : "n"', outputs: {y: done, n: done}}
  finish: {in: [open], role: owner, to: done}
`)
	id := g.start(t, "bob", `{"route": "weigh", "title": "Crate"}`)
	const says = "<b>Weigh could not be done.</b>"
	again := `<a class="b b-s" href="/cases/` + id + `?do=retry&amp;open=weigh#todo">Try again…</a>`
	for user, may := range map[string]bool{"bob": false, "admin": true} {
		got := g.browse(t, user).get(t, "/cases/"+id)
		if strings.Count(got.body, says) != 1 || strings.Contains(got.body, again) != may {
			t.Errorf("%s: got %d; want once that it could not be done, and %v that it can be tried again, in\n%s", user, got.status, may, got.body)
		}
	}
	if got := g.browse(t, "admin").get(t, "/cases/"+id+"?do=retry&open=weigh"); got.status != 200 || !strings.Contains(got.body, `name="do" value="retry"`) {
		t.Errorf("its form: got %d\n%s", got.status, got.body)
	}
}

// TestForecasts: what happens if nobody does anything is a list of instants, and storing
// nothing.
func TestForecasts(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.must(t, "ann", 201, "PUT", "/dav/Workflow/Schedule/six.json", `{"type": "interval", "title": "Six", "route": "bug", "hours": 6}`)
	b := g.browse(t, "ann")
	entry := "/schedule/" + g.furnished(t, "Six")
	before := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/17.json", "").body
	for path, want := range map[string][]string{
		"/cases/17?part=forecast": {`<section class="card" id="forecast"`, "<time datetime=", "Approve"},
		entry + "?part=forecast":  {`<time datetime="2012-11-09T18:34:56Z"`, "Starts a case of bug"},
	} {
		got := b.get(t, path)
		if got.status != 200 {
			t.Errorf("%s: got %d", path, got.status)
		}
		for _, part := range want {
			if !strings.Contains(got.body, part) {
				t.Errorf("%s: there is no %q in %s", path, part, got.body)
			}
		}
	}
	if after := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/17.json", "").body; after != before {
		t.Errorf("a forecast has changed the case: %s", after)
	}
	if got := g.browse(t, "sam").get(t, "/cases/17?part=forecast"); got.status != 404 {
		t.Errorf("the forecast of a case of others: got %d, want 404", got.status)
	}
}

// TestLateRowsLeadToWhatMends: each row has a link to the form that mends it, for those who
// may send that form: who has the task does it, who administers the route gives it another
// date, or has tried again what failed.
func TestLateRowsLeadToWhatMends(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "cy", 201, "PUT", "/dav/Workflow/Routes/weights.yaml", strings.TrimPrefix(`
title: Weights
access: {start: [everyone], read: [everyone], admin: [cy]}
roles: {asker: {assign: [starter]}, clerk: {assign: ["user:bob"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  weigh: {trigger: auto, in: [open], onFire: [{jq: {from: InputMessage, filter: .weight, to: Weight}}]}
  write: {title: Write it down, in: [open], role: clerk, to: done, dueIn: P1D}
`, "\n"))
	id := g.start(t, "ann", `{"route": "weights", "title": "A crate"}`)
	g.advance(t, "2012-11-20T08:00:00Z")
	const date, again, write = "Another date…<", "Try again…<", "Write it down<"
	for user, want := range map[string][]string{
		"cy": {
			`<a class="b b-s" href="/cases/` + id + `?do=retry&amp;open=weigh#todo">` + again,
			`<a class="b b-s" href="/cases/` + id + `?do=timer&amp;timer=write.due#ask">` + date,
		},
		"bob": { // it is overdue, and has a warning
			`<a class="b b-s" href="/cases/` + id + `?open=write#todo">` + write,
			`<a class="b b-s" href="/cases/` + id + `?open=write#todo">` + write,
		},
		"ann": nil,
	} {
		body := g.browse(t, user).get(t, "/late").body
		if !strings.Contains(body, "A crate") {
			t.Errorf("%s does not see the case:\n%s", user, body)
		}
		if n := strings.Count(body, `<a class="b b-s" href="/cases/`); n != len(want) {
			t.Errorf("%s has %d links, want %d:\n%s", user, n, len(want), body)
		}
		for _, link := range want {
			if !strings.Contains(body, link) {
				t.Errorf("%s has no %q in\n%s", user, link, body)
			}
		}
	}
	for user, pages := range map[string]map[string]string{
		"cy":  {"?do=retry&open=weigh": "weigh", "?do=timer&timer=write.due": "Set another date"},
		"bob": {"?open=write": "Write it down"},
	} {
		for page, text := range pages {
			if got := g.browse(t, user).get(t, "/cases/"+id+page); got.status != 200 || !strings.Contains(got.body, text) {
				t.Errorf("%s: %s is %d without %q", user, page, got.status, text)
			}
		}
	}
	if got := g.browse(t, "ann").get(t, "/tasks"); !strings.Contains(got.body, `<a href="/late">`) {
		t.Errorf("Late is not in the navigation:\n%s", got.body)
	}
}
