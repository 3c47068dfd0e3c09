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
