package web

import (
	"html"
	"strings"
	"testing"
)

// TestBoardMoves: a card is moved by performing what leads there; what the drive refuses
// leaves it where it is and says why.
func TestBoardMoves(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.furnish(t)
	b := g.browse(t, "ann")
	state := func(id string) string {
		stored := g.must(t, "admin", 200, "GET", "/dav/Workflow/Cases/"+id+".json", "").body
		_, rest, _ := strings.Cut(stored, `"status": "`)
		name, _, _ := strings.Cut(rest, `"`)
		return name
	}

	shown := b.post(t, "/routes/bug/board", "do", "move", "case", "18", "way", "resolve", "show", "1")
	if want := "-X MOVE -H 'Destination: /dav/Workflow/Routes/bug/Board/resolved/18.json'"; !strings.Contains(html.UnescapeString(shown.body), want) {
		t.Errorf("the curl line has no %s: %s", want, shown.body)
	}
	if got := state("18"); got != "open" {
		t.Errorf("shown, the case is %s", got)
	}
	shown = b.post(t, "/routes/bug/board", "do", "move", "case", "18", "way", "resolve", "comment", "Done", "show", "1")
	if want := `/dav/Workflow/Cases/18/Actions/resolve.json`; !strings.Contains(shown.body, want) {
		t.Errorf("with a comment the curl line has no %s", want)
	}

	for range 2 { // a form that is sent twice acts once
		if got := b.post(t, "/routes/bug/board?q=x", "do", "move", "key", "one", "case", "18", "from", "open", "to", "resolved"); got.status != 303 || got.header.Get("Location") != "/routes/bug/board?q=x" {
			t.Fatalf("the move: %d %v %s", got.status, got.header, got.body)
		}
	}
	if got := state("18"); got != "resolved" {
		t.Errorf("moved, the case is %s", got)
	}
	if got := b.get(t, "/routes/bug/board"); !strings.Contains(got.body, "is in Resolved now") {
		t.Errorf("nothing says that it was moved: %s", got.body)
	}

	if got := b.post(t, "/routes/expense/board", "do", "move", "key", "two", "case", "17", "way", "approve"); got.status != 303 {
		t.Errorf("a decision: %d %s", got.status, got.body)
	}
	if got := state("17"); got != "approved-once" {
		t.Errorf("decided, the case is %s", got)
	}

	for _, test := range []struct {
		name   string
		path   string
		fields []string
		status int
		says   string
	}{
		{"where no action leads", "/routes/bug/board", []string{"case", "19", "to", "closed"}, 409, "No action of yours leads from &#34;open&#34; to &#34;closed&#34; now."},
		{"that asks for a resolution", "/routes/expense/board", []string{"case", "17", "to", "refused"}, 422, "Resolution must be one of"},
		{"that somebody else has moved", "/routes/bug/board", []string{"case", "18", "from", "open", "to", "closed"}, 409, "is in Resolved now"},
		{"to no state", "/routes/bug/board", []string{"case", "19", "to", "nowhere"}, 409, ""},
		{"by no action", "/routes/bug/board", []string{"case", "19", "way", "never"}, 409, ""},
		{"nowhere", "/routes/bug/board", []string{"case", "19"}, 400, "way"},
		{"of no case", "/routes/bug/board", []string{"case", "x", "to", "closed"}, 400, "number"},
		{"of a case of another route", "/routes/bug/board", []string{"case", "17", "to", "closed"}, 404, ""},
	} {
		got := b.post(t, test.path, append([]string{"do", "move", "key", test.name}, test.fields...)...)
		if got.status != test.status || !strings.Contains(got.body, test.says) {
			t.Errorf("%s: got %d, want %d with %q: %s", test.name, got.status, test.status, test.says, got.body)
		}
	}
	if got := state("19"); got != "open" {
		t.Errorf("after refusals the case is %s", got)
	}
	if got := g.browse(t, "sam").post(t, "/routes/expense/board", "do", "move", "case", "17", "to", "paid"); got.status != 404 {
		t.Errorf("a case that is not seen: got %d, want 404", got.status)
	}
}

// TestBoardIsBounded: a column shows some cards and leads to the list of all.
func TestBoardIsBounded(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for range laneCards + 1 {
		g.must(t, "ann", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "Again"}`)
	}
	got := g.browse(t, "ann").get(t, "/routes/bug/board")
	if n := strings.Count(got.body, `class="kard"`); n != laneCards {
		t.Errorf("there are %d cards, want %d", n, laneCards)
	}
	if !strings.Contains(html.UnescapeString(got.body), `<span class="n">30+</span>`) || !strings.Contains(got.body, `href="/cases?route=bug&amp;state=active&amp;status=open"`) {
		t.Errorf("nothing says that there are others: %s", got.body)
	}
}
