package web

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"testing"

	"flowdrive/store"
)

func routePagesToTry() []pageToTry {
	return []pageToTry{
		{"routes", "ann", "/routes", 200},
		{"routes-none", "ann", "/routes?q=nothing-has-this", 200},
		{"route", "ann", "/routes/expense", 200},
		{"route-new", "ann", "/routes/new", 200},
		{"route-new-from", "ann", "/routes/new?from=bug", 200},
		{"route-new-from-none", "ann", "/routes/new?from=zzz", 400},
		{"route-edit", "admin", "/routes/expense/edit", 200},
		{"route-edit-others", "ann", "/routes/expense/edit", 403},
		{"route-edit-absent", "ann", "/routes/no-such-route/edit", 404},
		{"route-scenario", "admin", "/routes/expense?do=scenario", 200},
		{"route-scenario-edit", "admin", "/routes/leave?do=scenario", 200},
		{"route-delete", "admin", "/routes/expense?do=delete", 200},
		{"report", "ann", "/routes/expense/report", 200},
		{"report-of-sam", "sam", "/routes/expense/report", 200},
		{"report-absent", "ann", "/routes/no-such-route/report", 404},
		{"report-figure", "ann", "/routes/expense/report.csv?figure=zzz", 400},
		{"report-week", "ann", "/routes/expense/report.csv?figure=begun&week=2012-W54", 400},
		{"board", "ann", "/routes/expense/board", 200},
		{"board-of-sam", "sam", "/routes/expense/board", 200},
		{"board-filtered", "ann", "/routes/expense/board?q=nothing-has-this", 200},
		{"board-move", "ann", "/routes/expense/board?do=move&case=17", 200},
		{"board-move-of-others", "sam", "/routes/expense/board?do=move&case=17", 404},
		{"board-move-of-another-route", "ann", "/routes/expense/board?do=move&case=19", 404},
		{"board-move-number", "ann", "/routes/expense/board?do=move&case=x", 400},
		{"board-parameter", "ann", "/routes/expense/board?sort=due", 400},
		{"board-absent", "ann", "/routes/no-such-route/board", 404},
		{"route-admin", "admin", "/routes/expense", 200},
		{"route-cases-absent", "ann", "/routes/no-such-route/cases", 404},
		{"route-versions", "ann", "/routes/expense/versions", 200},
		{"route-versions-compared", "ann", "/routes/leave/versions", 200},
		{"route-versions-equal", "ann", "/routes/leave/versions?from=2&to=2", 200},
		{"route-versions-missing", "ann", "/routes/leave/versions?from=1&to=9", 404},
		{"route-versions-word", "ann", "/routes/leave/versions?from=one", 400},
		{"route-versions-absent", "ann", "/routes/no-such-route/versions", 404},
		{"route-version", "ann", "/routes/leave/versions/1", 200},
		{"route-version-missing", "ann", "/routes/leave/versions/9", 404},
		{"route-version-name", "ann", "/routes/leave/versions/01", 404},
		{"route-access", "ann", "/routes/leave/access", 200},
		{"route-access-of-sam", "sam", "/routes/expense/access", 200},
		{"route-access-absent", "sam", "/routes/no-such-route/access", 404},
		{"route-leave", "admin", "/routes/leave", 200},
		{"route-absent", "ann", "/routes/no-such-route", 404},
		{"route-start", "ann", "/routes/expense/start", 200},
		{"route-start-filled", "ann", "/routes/expense/start?title=Taxi&x.amount=12.5", 200},
		{"route-start-unknown", "ann", "/routes/expense/start?amount=12", 400},
		{"route-start-undeclared", "ann", "/routes/expense/start?x.amuont=12", 400},
		{"route-start-absent", "ann", "/routes/no-such-route/start", 404},
	}
}

// furnishRoutes stores a route that is in its second version, with a scenario and hooks.
func (g *rig) furnishRoutes(tb testing.TB) {
	tb.Helper()
	const at = "/dav/Workflow/Routes/leave"
	g.must(tb, "admin", 201, "PUT", at+".yaml", leaveRoute)
	g.must(tb, "admin", 204, "PUT", at+".yaml", strings.NewReplacer("title: Leave\n", "title: Leave of absence\n", "to: granted", "to: granted, title: Grant it").Replace(leaveRoute))
	g.must(tb, "admin", 201, "PUT", at+".scenario.yaml", "title: Ann takes a day off\nusers: [ann, lea]\nteams: {core: [lea]}\nas: ann\nsteps:\n  - start: {title: Friday}\n    expect: {status: asked}\n")
	g.must(tb, "admin", 201, "PUT", at+"/Hooks/portal.json", `{"verify": {"scheme": "none"}}`)
}

// TestRouteCounts: the page of a route says how many cases are in each state and leads to
// them, to whom it belongs and who may do what; what its reader does not see is not counted.
func TestRouteCounts(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	g.start(t, "bob", `{"route": "expense", "title": "A train", "xattrDict": {"amount": 12}}`)
	for _, test := range []struct {
		user, page string
		has, not   []string
	}{
		{"ann", "/routes/expense", []string{
			"1 open case, 1 ended", `href="/cases?route=expense&amp;state=active&amp;status=claimed" aria-label="Claimed: 1 case"`, `state=ended&amp;status=paid" aria-label="Paid: 1 case"`,
			"It belongs to Administrator. It can be started and seen by everyone, and changed by Administrator.", "/dav/Workflow/Routes/expense.yaml\">",
		}, []string{"Delete…"}},
		{"sam", "/routes/expense", []string{"No case yet"}, []string{"follow it", "Claimed: 1 case"}},
		{"admin", "/routes/leave", []string{"It belongs to core. It can be started and seen by everyone, and changed by Bob Marsh.", "Delete…"}, nil},
		{"ann", "/routes/leiden", []string{"No case yet"}, []string{`/board"`}},
	} {
		got := g.browse(t, test.user).get(t, test.page).body
		for _, want := range test.has {
			if !strings.Contains(got, want) {
				t.Errorf("%s as %s lacks %q", test.page, test.user, want)
			}
		}
		for _, not := range test.not {
			if strings.Contains(got, not) {
				t.Errorf("%s as %s has %q", test.page, test.user, not)
			}
		}
	}
	g.advance(t, "2012-11-13T12:35:00Z")
	if got, want := g.browse(t, "ann").get(t, "/routes/expense?part=counted").body, `aria-label="Claimed: 1 case, 1 late"`; !strings.Contains(got, want) {
		t.Errorf("four days later the picture lacks %q: %s", want, got)
	}
}

// leaveRoute is a route with roles of all kinds.
const leaveRoute = `title: Leave
context: core
access: {start: [everyone, ann], read: [], admin: [bob]}
xattrs:
  boss: {type: string, title: Their boss}
roles:
  asker: {title: Who asks, assign: [starter]}
  lead: {assign: ["xattr:boss", "team:core"], pick: ["user:cy", everyone]}
  board: {title: <i>Board</i>, assign: ["role:lead", admins, stakeholders]}
states:
  asked: {type: start}
  granted: {type: complete}
  declined: {type: denied}
actions:
  ask: {trigger: init}
  grant: {in: [asked], role: lead, to: granted}
  decline: {in: [asked], role: board, to: declined}
  withdraw: {in: [asked], role: asker, to: declined}
`

// TestListsOfRoutes: the lists of a route are the lists of all, filtered by it.
func TestListsOfRoutes(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	for path, want := range map[string]string{
		"/routes/EXPENSE/cases": "/cases?route=expense", "/routes/expense/schedule": "/schedule?route=expense", "/routes/expense/cases?q=x": "", "/routes/none/cases": "",
	} {
		if got := b.get(t, path).header.Get("Location"); got != want {
			t.Errorf("%s leads to %q, want %q", path, got, want)
		}
	}
}

// TestSideBySide: lines that differ stand beside each other, with some around them.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, older, newer string
		want               []string
		cut                bool
	}{
		{name: "equal", older: "a\nb\n", newer: "a\nb\n"},
		{name: "nothing", newer: ""},
		{name: "changed", older: "a\nb\nc\n", newer: "a\nB\nc\n", want: []string{"…", "1 a|1 a", "2-b|2+B", "3 c|3 c"}},
		{name: "two become one", older: "a\nb\n", newer: "c\n", want: []string{"…", "1-a|1+c", "2-b|"}},
		{name: "one becomes two", older: "a\nz\n", newer: "b\nc\nz\n", want: []string{"…", "1-a|1+b", "|2+c", "2 z|3 z"}},
		{name: "added twice", older: "a\n", newer: "x\na\ny\n", want: []string{"…", "|1+x", "1 a|2 a", "|3+y"}},
		{name: "no line feed", older: "a", newer: "b", want: []string{"…", "1-a|1+b"}},
		{name: "like a head", older: "-- x\n", newer: "@@ -1,1 +1,1 @@\n", want: []string{"…", "1--- x|1+@@ -1,1 +1,1 @@"}},
		{name: "far apart", older: "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", newer: "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\n", want: []string{"…", "1-a|1+A", "2 b|2 b", "3 c|3 c", "4 d|4 d", "…", "7 g|7 g", "8 h|8 h", "9 i|9 i", "10-j|10+J"}},
	} {
		lines, cut := sideBySide([]byte(test.older), []byte(test.newer))
		var got []string
		side := func(no int, changed bool, sign, text string) string {
			if no == 0 {
				return ""
			}
			if !changed {
				sign = " "
			}
			return strconv.Itoa(no) + sign + text
		}
		for _, l := range lines {
			if l.Gap {
				got = append(got, "…")
				continue
			}
			got = append(got, side(l.OldNo, l.Removed, "-", l.Old)+"|"+side(l.NewNo, l.Added, "+", l.New))
		}
		if !slices.Equal(got, test.want) || cut != test.cut {
			t.Errorf("%s: got %q, cut %v, want %q, cut %v", test.name, got, cut, test.want, test.cut)
		}
	}
	if lines, cut := sideBySide([]byte(strings.Repeat("a\n", mostDiffLines+1)), nil); !cut || len(lines) != mostDiffLines {
		t.Errorf("of a long text %d lines, cut %v", len(lines), cut)
	}
}

// TestStartForm: a case is started by its form; what is wrong is said at the field and
// keeps what was typed; a form that is sent twice starts one case.
func TestStartForm(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	b := g.browse(t, "ann")
	form := b.get(t, "/routes/expense/start?title=Taxi")
	if !strings.Contains(form.body, `name="x.amount"`) || !strings.Contains(form.body, `value="Taxi"`) {
		t.Fatalf("the form: %s", form.body)
	}
	wrong := b.post(t, "/routes/expense/start", "do", "start", "key", "one", "title", "Taxi home", "x.amount", "twelve")
	if wrong.status != 422 || !strings.Contains(wrong.body, `value="Taxi home"`) || !strings.Contains(wrong.body, `id="start-x.amount-fault"`) {
		t.Errorf("a word for a number: %d %s", wrong.status, wrong.body)
	}
	var at string
	for range 2 {
		done := b.post(t, "/routes/expense/start", "do", "start", "key", "two", "title", "Taxi home", "x.amount", "12.5")
		if done.status != 303 || !strings.HasPrefix(done.header.Get("Location"), "/cases/") {
			t.Fatalf("the form: %d %v %s", done.status, done.header, done.body)
		}
		if at == "" {
			at = done.header.Get("Location")
		} else if again := done.header.Get("Location"); again != at {
			t.Errorf("sent twice it leads to %s and %s", at, again)
		}
	}
	stored := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/"+strings.TrimPrefix(at, "/cases/")+".json", "").body
	if !strings.Contains(stored, `"amount": 12.5`) || !strings.Contains(stored, `"title": "Taxi home"`) {
		t.Errorf("the case: %s", stored)
	}
	if list := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/.contents?route=expense", "").body; strings.Count(list, "Taxi home") != 1 {
		t.Errorf("the cases: %s", list)
	}
}

// TestStartFormOfLater: a case is started with players of its roles, a priority and an
// instant; what is wrong with each is said at its field. The curl line is the request.
func TestStartFormOfLater(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	const text = "roles: {owner: {title: Owner, pick: [everyone], assign: [starter]}, other: {assign: [starter]}}\n" +
		"states: {a: {type: start}, z: {type: complete}}\nactions: {i: {trigger: init}, x: {in: [a], allowed: owner, to: z}}\n"
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/picked.yaml", text)
	b := g.browse(t, "admin")
	form := b.get(t, "/routes/picked/start").body
	if !strings.Contains(form, `name="roles.owner"`) || strings.Contains(form, `name="roles.other"`) || strings.Contains(form, "<details open>") {
		t.Errorf("the form: %s", form)
	}
	for _, of := range []struct{ field, value string }{{"roles.owner", "nobody-has-this-name"}, {"priority", "high"}, {"startAt", "next friday"}} {
		wrong := b.post(t, "/routes/picked/start", "do", "start", "key", of.field, "title", "Box", of.field, of.value)
		if wrong.status != 422 || !strings.Contains(wrong.body, `id="start-`+of.field+`-fault"`) || !strings.Contains(wrong.body, `value="`+of.value+`"`) {
			t.Errorf("%s is %s: %d %s", of.field, of.value, wrong.status, wrong.body)
		}
	}
	sent := []string{"do", "start", "key", "one", "title", "Box", "roles.owner", "ann, bob", "priority", "7", "startAt", "2099-01-02T03:04:05Z"}
	shown := b.post(t, "/routes/picked/start", append(sent, "show", "1")...)
	if want := `{"route": "picked", "title": "Box", "roles": {"owner": ["ann","bob"]}, "priority": 7, "startAt": "2099-01-02T03:04:05Z"}`; !strings.Contains(html.UnescapeString(shown.body), want) {
		t.Errorf("the curl line is not of %s: %s", want, shown.body)
	}
	done := b.post(t, "/routes/picked/start", sent...)
	if done.status != 303 {
		t.Fatalf("the form: %d %s", done.status, done.body)
	}
	if got := textOf(b.get(t, done.header.Get("Location")).body, "notice"); got != "The case is stored. It will start on Fri 2 Jan 2099, 03:04." {
		t.Errorf("of a case that waits for its date the page says %q", got)
	}
	stored := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/"+strings.TrimPrefix(done.header.Get("Location"), "/cases/")+".json", "").body
	for _, want := range []string{`"priority": 7`, `"startAt": "2099-01-02T03:04:05Z"`, `"ann"`, `"bob"`} {
		if !strings.Contains(stored, want) {
			t.Errorf("the case has no %s: %s", want, stored)
		}
	}
}

// TestDateOfAnXattr: an XATTR that is a date is asked for as one, and the page of the route
// says so.
func TestDateOfAnXattr(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/off.yaml", "states: {a: {type: start}, z: {type: complete}}\nactions: {i: {trigger: init}, x: {in: [a], allowed: everyone, to: z}}\nxattrs: {first: {type: string, format: date, required: true}}\n")
	b := g.browse(t, "admin")
	if page := b.get(t, "/routes/off/start").body; !strings.Contains(page, `name="x.first" value="" required type="date"`) {
		t.Errorf("the form: %s", page)
	}
	if page := b.get(t, "/routes/off").body; !strings.Contains(page, "date, needed") {
		t.Errorf("the page of the route: %s", textOf(page, "main"))
	}
}

// TestNumbersThatAreTyped: 1.200 and 1,200 are asked about, as a number has it in one country
// and as it has it in another; spaces and currencies are explained.
func TestNumbersThatAreTyped(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/pay.yaml", "states: {a: {type: start}, z: {type: complete}}\nactions: {i: {trigger: init}, x: {in: [a], allowed: everyone, form: {type: object, properties: {amount: {type: number}}}}}\nxattrs: {amount: {type: number}}\n")
	b := g.browse(t, "admin")
	for typed, want := range map[string]string{
		"1.200":   "write 1200, or 1.2",
		"1,200":   "write 1200, or 1.2",
		"1.125":   "write 1125, or 1.1250",
		"12,50":   "write it with a point: 12.50",
		"300 EUR": "write 300, without currency or spaces",
		"€ 300":   "write 300, without currency or spaces",
		"1 200":   "write 1200, without currency or spaces",
	} {
		got := b.post(t, "/routes/pay/start", "do", "start", "key", typed, "title", "Pay", "x.amount", typed)
		if fault := textOf(got.body, "start-x.amount-fault"); got.status != 422 || !strings.HasSuffix(strings.TrimSuffix(fault, "."), want) {
			t.Errorf("%s: got %d %q, want %q", typed, got.status, fault, want)
		}
	}
	done := b.post(t, "/routes/pay/start", "do", "start", "key", "clear", "title", "Pay", "x.amount", "1.1250")
	if done.status != 303 {
		t.Fatalf("got %d", done.status)
	}
	page := done.header.Get("Location")
	if got := b.post(t, page, "do", "perform", "action", "x", "x.amount", "1.200"); got.status != 422 || textOf(got.body, "c-x.amount-fault") == "" {
		t.Errorf("a task: got %d, %q", got.status, textOf(got.body, "c-x.amount-fault"))
	}
	g.must(t, "admin", 204, "PUT", "/dav/Workflow/"+strings.Replace(page, "/cases", "Cases", 1)+".json", `{"xattrDict": {"amount": 1.125}}`)
	if got := b.post(t, page, "do", "perform", "action", "x", "x.amount", "1.125"); got.status != 303 {
		t.Errorf("what the case had: got %d %s", got.status, textOf(got.body, "main"))
	}
}

// TestRouteList: a route's card has its picture, and counts the open cases that its reader
// sees, with a link to them. An event of a case draws it again.
func TestRouteList(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/a%23b.yaml", "access: {start: [everyone]}\nstates: {a: {type: start}, z: {type: complete}}\nactions: {i: {trigger: init}, x: {in: [a], allowed: 'user:bob', to: z}}\n")
	card := func(user string) string {
		t.Helper()
		body := g.browse(t, user).get(t, "/routes?part=list").body
		_, body, found := strings.Cut(body, `src="/dav/Workflow/Routes/a%23b/diagram.svg"`)
		if !found || !strings.Contains(body, `href="/routes/a%23b"`) {
			t.Fatalf("%s: no card with a picture: %s", user, body)
		}
		one, _, _ := strings.Cut(body, "</li>")
		return one
	}
	if got := card("bob"); !strings.Contains(got, "No open case") {
		t.Errorf("before there is a case: %s", got)
	}
	g.start(t, "bob", `{"route": "a#b", "title": "One"}`)
	for user, want := range map[string]string{"bob": `<a href="/cases?route=a%23b">1 open case</a>`, "admin": `<a href="/cases?route=a%23b">1 open case</a>`, "sam": "No open case"} {
		if got := card(user); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", user, got, want)
		}
	}
	g.start(t, "bob", `{"route": "a#b", "title": "Two"}`)
	if got := card("bob"); !strings.Contains(got, ">2 open cases</a>") {
		t.Errorf("with another: %s", got)
	}
	if !strings.Contains(g.browse(t, "bob").get(t, "/routes").body, `data-live="/dav/Workflow/Routes/ /dav/Workflow/Cases/"`) {
		t.Error("the list does not hear of cases")
	}
	if status := g.must(t, "bob", 200, "GET", "/dav/Workflow/Routes/a%23b/diagram.svg", "").status; status != 200 {
		t.Errorf("the picture: %d", status)
	}
}

// TestWordsOfOpen: what is beyond the bound of the count is said to be more.
func TestWordsOfOpen(t *testing.T) {
	t.Parallel()
	for n, want := range map[store.OpenCount]string{
		{}: "", {Cases: 1}: "1 open case", {Cases: 999}: "999 open cases", {Cases: 999, More: true}: "999+ open cases", {More: true}: "Open cases",
	} {
		if got := wordsOfOpen(n); got != want {
			t.Errorf("%+v: got %q, want %q", n, got, want)
		}
	}
}

// TestStartIsForThoseWhoMay: nobody is offered to start a case that they may not start,
// and names of routes are escaped.
func TestStartIsForThoseWhoMay(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	const text = "states: {a: {type: start}, z: {type: complete}}\nactions: {i: {trigger: init}, x: {in: [a], allowed: everyone, to: z}}\n"
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/a%23b.yaml", text+"xattrs: {urgent: {type: boolean}, amount: {type: number, minimum: 1, maximum: 9}}\n")
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/closed.yaml", text+"access: {start: []}\n")
	b := g.browse(t, "admin")
	list := b.get(t, "/routes").body
	if !strings.Contains(list, `href="/routes/a%23b/start"`) || strings.Contains(list, `href="/routes/closed/start"`) || !strings.Contains(list, `href="/routes/closed"`) {
		t.Errorf("the list: %s", list)
	}
	if body := b.get(t, "/routes/closed").body; strings.Contains(body, "/routes/closed/start") {
		t.Errorf("the page of a route of which nobody starts cases: %s", body)
	}
	form := b.get(t, "/routes/a%23b/start")
	if form.status != 200 || !strings.Contains(form.body, "at least 1, at most 9") {
		t.Errorf("the form: %d %s", form.status, form.body)
	}
	done := b.post(t, "/routes/a%23b/start", "do", "start", "key", "one", "title", "Box")
	if done.status != 303 {
		t.Fatalf("the form: %d %s", done.status, done.body)
	}
	path := "/dav/Workflow/Cases/" + strings.TrimPrefix(done.header.Get("Location"), "/cases/") + ".json"
	if stored := g.must(t, "admin", 200, "GET", path, "").body; strings.Contains(stored, "urgent") {
		t.Errorf("a box that nobody has ticked is in the case: %s", stored)
	}
}

// TestStartAsksForWhatItNeeds: a start is asked for what the route declares, and not for
// what only later actions give, unless the address fills it in.
func TestStartAsksForWhatItNeeds(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/paper.yaml", "access: {start: [everyone]}\n"+
		"xattrs: {needed: {type: number, required: true, edit: []}, own: {title: Own}, recorded: {edit: []}, counted: {type: number, edit: []}, preset: {type: number, default: 2, edit: []}, free: {edit: []}}\n"+
		"states: {a: {type: start}, z: {type: complete}}\nactions:\n  i: {trigger: init}\n"+
		"  record: {in: [a], allowed: everyone, form: {properties: {recorded: {type: string}, own: {type: string}, needed: {type: number}, preset: {type: number}}}}\n"+
		"  end: {in: [a], allowed: everyone, to: z, onFire: [{set: {counted: 3}}]}\n")
	b := g.browse(t, "sam")
	form, filled := b.get(t, "/routes/paper/start").body, b.get(t, "/routes/paper/start?x.counted=7").body
	for key, asked := range map[string]bool{"needed": true, "own": true, "recorded": false, "counted": false, "preset": true, "free": true} {
		if got := strings.Contains(form, `name="x.`+key+`"`); got != asked {
			t.Errorf("asks for %s: %t, want %t in\n%s", key, got, asked, form)
		}
	}
	if !strings.Contains(filled, `name="x.counted" value="7"`) || strings.Contains(filled, `name="x.recorded"`) {
		t.Errorf("the form that the address fills in: %s", filled)
	}
	done := b.post(t, "/routes/paper/start", "do", "start", "key", "one", "x.needed", "1", "x.counted", "7")
	stored := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/"+strings.TrimPrefix(done.header.Get("Location"), "/cases/")+".json", "").body
	if done.status != 303 || !strings.Contains(stored, `"counted": 7`) {
		t.Errorf("what was filled in besides: %d %s", done.status, stored)
	}
}

// TestFaultsBearLabels: a refused form names what is wrong by the labels of its fields, which
// lead to them, and not by pointers into JSON. Fields that are needed say so to the browser,
// unless another action of the form can do without.
func TestFaultsBearLabels(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	form := b.get(t, "/routes/expense/start").body
	for _, part := range []string{`id="start-x.amount" name="x.amount" value="" required`, `id="start-title" name="title" value="">`} {
		if !strings.Contains(form, part) {
			t.Errorf("the form has no %s: %s", part, form)
		}
	}
	wrong := b.post(t, "/routes/expense/start", "do", "start", "key", "one", "title", "Taxi", "x.amount", "")
	for _, part := range []string{
		"<b>This is not right yet.</b>", `<li><a href="#start-x.amount">Amount</a> is required by the route</li>`,
		`aria-invalid="true" aria-describedby="start-x.amount-fault"`,
	} {
		if !strings.Contains(wrong.body, part) {
			t.Errorf("the refused form has no %s: %s", part, wrong.body)
		}
	}
	if two := (&refusal{Faults: make([]fault, 2)}).Lead(); two != "2 things are not right yet." {
		t.Errorf("of two faults: %s", two)
	}
	if strings.Contains(textOf(wrong.body, "refused"), "/") {
		t.Errorf("a pointer: %s", textOf(wrong.body, "refused"))
	}
	if several := b.get(t, "/cases/17?open=refuse").body; !strings.Contains(several, `name="resolution" value=`) || strings.Contains(several, "required") {
		t.Errorf("a form of several actions insists on what one of them needs: %s", several)
	}
	refused := b.post(t, "/cases/17?open=refuse", "do", "perform", "case", "17", "action", "refuse", "key", "two", "comment", "No.")
	if !strings.Contains(refused.body, `<a href="#c-resolution">Resolution</a>`) || !strings.Contains(refused.body, `<fieldset class="f of-2" aria-invalid="true" aria-describedby="c-resolution-fault">`) {
		t.Errorf("without a resolution: %s", refused.body)
	}
	if delegate := b.get(t, "/cases/17?open=approve&do=delegate").body; !strings.Contains(delegate, `name="to" value="" required`) {
		t.Errorf("the form that delegates: %s", delegate)
	}
	for _, page := range []string{wrong.body, refused.body} {
		for _, fault := range faultsOf(page) {
			t.Error(fault)
		}
	}
}

// TestRoutePageSaysWho: the page of a route says who may perform each action, who plays the
// roles, and who is in the teams, to those who may see that.
func TestRoutePageSaysWho(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/who.yaml", "access: {start: [everyone]}\nroles: {boss: {title: Boss, assign: [\"team:core\"]}, guest: {title: Guest, pick: [everyone]}}\n"+
		"states: {a: {type: start}, z: {type: complete}}\nactions:\n  i: {trigger: init}\n  sign: {in: [a], role: boss, allowed: [guest, \"user:sam\"], to: z}\n"+
		"  note: {in: [a], allowed: [readers]}\n  stop: {in: [a], allowed: [\"team:core\", everyone], to: z}\n")
	for user, sees := range map[string]bool{"ann": true, "sam": false} {
		body := g.browse(t, user).get(t, "/routes/who").body
		for part, want := range map[string]bool{
			"<td>Boss, Guest, sam</td>": true, "<td>everyone who sees the case</td>": true, "<td>the team core, everyone</td>": true, "<dt>Guest</dt><dd>whom the starter chooses</dd>": true,
			"those who are allowed": false, "<dt>Boss</dt><dd>the team core: Ann Lindqvist, Bob Marsh and Cy Tanaka</dd>": sees, "<dt>The team core</dt><dd>Ann Lindqvist, Bob Marsh and Cy Tanaka</dd>": sees,
		} {
			if strings.Contains(body, part) != want {
				t.Errorf("%s: has %s: %t, want %t in\n%s", user, part, !want, want, body)
			}
		}
	}
}
