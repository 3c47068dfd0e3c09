package web

import (
	"strings"
	"testing"
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
		{"route-delete", "admin", "/routes/expense?do=delete", 200},
		{"route-version", "ann", "/routes/expense/versions/1", 200},
		{"route-version-absent", "ann", "/routes/expense/versions/9", 404},
		{"route-version-against", "ann", "/routes/expense/versions/1?against=9", 400},
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
		{"route-absent", "ann", "/routes/no-such-route", 404},
		{"route-start", "ann", "/routes/expense/start", 200},
		{"route-start-filled", "ann", "/routes/expense/start?title=Taxi&x.amount=12.5", 200},
		{"route-start-unknown", "ann", "/routes/expense/start?amount=12", 400},
		{"route-start-absent", "ann", "/routes/no-such-route/start", 404},
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
