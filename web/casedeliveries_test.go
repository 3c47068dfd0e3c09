package web

import (
	"strings"
	"testing"
	"time"

	"flowdrive/engine/outbox"
)

// TestDeliveryRows: a delivery says how far it is, how often it was tried, what became of
// the last attempt and when the next one is. The page follows what changes soon.
func TestDeliveryRows(t *testing.T) {
	t.Parallel()
	refused, delivered, canceled := "{secret: mail-host}: refused", "delivered", "canceled"
	now := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	past, later := "2012-11-09T12:00:00Z", "2012-11-09T13:00:00Z"
	x := &visit{now: now, Words: words{now: now, zone: time.UTC}}
	for _, test := range []struct {
		j                               outbox.Journal
		what, state, class, tried, last string
		next, soon, open                bool
	}{
		{outbox.Journal{Step: "exec", What: "exec sort", State: outbox.StateWaiting, Next: &past}, "Command sort", "Waits", "off", "", "", false, true, true},
		{outbox.Journal{Step: "mail", What: "mail to ann: A lamp", State: outbox.StateWaiting, Next: &later, Count: 2, Result: &refused}, "Mail to ann: A lamp", "Is tried again", "warn", "2 attempts", "a secret address: refused", true, false, true},
		{outbox.Journal{Step: "http", What: "http POST {secret: hook}", State: outbox.StateRunning, Count: 1}, "Request POST a secret address", "Under way", "active", "1 attempt", "", false, true, true},
		{outbox.Journal{Step: "call", What: "call pick", State: outbox.StateFailed, Count: 3, Result: &refused}, "Callback pick", "Failed", "bad", "3 attempts", "a secret address: refused", false, false, true},
		{outbox.Journal{Step: "exec", What: "exec sort", State: "delivered", Count: 1, Result: &delivered}, "Command sort", "Done", "good", "1 attempt", "", false, false, false},
		{outbox.Journal{Step: "exec", What: "exec sort", State: "canceled", Result: &canceled}, "Command sort", "Canceled", "off", "", "", false, false, false},
		{outbox.Journal{Step: "exec", What: "exec sort", State: "given up", Count: 3, Result: &refused}, "Command sort", "Given up", "off", "3 attempts", "a secret address: refused", false, false, false},
		{outbox.Journal{Step: "exec", What: "exec sort", State: "recorded", Count: 1}, "Command sort", "Recorded", "off", "1 attempt", "", false, false, false},
	} {
		test.j.Created = past
		row, soon, err := x.caseDrawing().deliveryRow(&test.j)
		if err != nil {
			t.Fatal(err)
		}
		if row.What != test.what || row.State.Text != test.state || row.State.Class != test.class || row.Tried != test.tried || row.Last != test.last || row.When == "" {
			t.Errorf("%+v: got %+v", test, row)
		}
		if (row.Next != "") != test.next || soon != test.soon || test.j.Open() != test.open {
			t.Errorf("%+v: got next %q, soon %t, open %t", test, row.Next, soon, test.j.Open())
		}
	}
}

// TestEndOfOutput: of what a command has written the last lines are shown.
func TestEndOfOutput(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"one\ntwo\n", "one\ntwo"},
		{"\xff\n", "\uFFFD"},
		{strings.Repeat("line\n", 20), "…\n" + strings.TrimSuffix(strings.Repeat("line\n", shownOutputLines), "\n")},
		{strings.Repeat("x", shownOutputBytes-5) + "\nlast", "…\nlast"},
		{strings.Repeat("x", shownOutputBytes), "…\n" + strings.Repeat("x", shownOutputBytes)},
	} {
		if got := endOf(test.text); got != test.want {
			t.Errorf("%.40q: got %.80q", test.text, got)
		}
	}
}

// TestDeliveriesOfCase: the page of a case says what the server does outside for it, and of
// many the newest, with a link to all of them. Who does not see the case learns nothing of it.
func TestDeliveriesOfCase(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.must(t, "ann", 204, "PUT", "/dav/Account/me.json", `{"email": "ann@example.org"}`)
	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/mails.yaml", `
access: {start: [bob]}
states: {a: {type: start}, z: {type: complete}}
actions:
  i:
    trigger: init
    title: Ask them
    sideEffects: [`+strings.TrimSuffix(strings.Repeat(`{mail: {to: [ann], subject: "Hello", text: "There"}}, `, 12), ", ")+`]
  x: {in: [a], allowed: 'user:bob', to: z}
`)
	id := g.start(t, "bob", `{"route": "mails", "title": "One"}`)
	part := func(user string, status int) string {
		t.Helper()
		got := g.browse(t, user).get(t, "/cases/"+id+"?part=deliveries")
		if got.status != status {
			t.Fatalf("%s: got %d", user, got.status)
		}
		return got.body
	}
	body, folder := part("bob", 200), "/dav/Workflow/Cases/"+id+"/Outbox/"
	if n := strings.Count(body, `<li><span class="mk">`); n != 10 {
		t.Errorf("%d deliveries: %s", n, body)
	}
	for _, want := range []string{"What the server is doing", "Nothing now.", "Mail to ann: Hello", "Ask them", folder + "i.", `href="` + folder + `"`, `data-live="/dav/Workflow/Cases/` + id + `. `} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s: %s", want, body)
		}
	}
	part("sam", 404)
	other := g.start(t, "bob", `{"route": "bug", "title": "Two"}`)
	if body := g.browse(t, "bob").get(t, "/cases/"+other+"?part=deliveries").body; !strings.Contains(body, " hidden>") || strings.Contains(body, "What the server is doing") {
		t.Errorf("a case for which nothing is done outside: %s", body)
	}
}
