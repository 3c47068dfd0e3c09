package web

import (
	"regexp"
	"strings"
	"testing"
)

// TestHowFar: lists and the page of a case say in the words of its route how far it is in
// which several take part.
func TestHowFar(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	sam := g.browse(t, "sam")
	says := func(path, want string) {
		t.Helper()
		text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(sam.get(t, path).body, "")
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q: %s", path, want, text)
		}
	}
	tip := g.start(t, "sam", `{"route": "tip", "title": "TIP 42"}`)
	says("/cases", "0 of 3 have voted")
	child := regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(g.must(t, "ann", 200, "GET", "/dav/Workflow/Cases/.ls?parent="+tip, "").body)
	g.must(t, "ann", 204, "PUT", "/dav/Workflow/Cases/"+child[1]+"/Actions/approve.json", `{}`)
	says("/cases", "1 of 3 have voted")
	says("/cases/"+tip, "1 of 3 have voted")
	says("/cases/"+tip, "decides when all have voted, or on Fri 16 Nov, 12:34")

	request := g.start(t, "sam", `{"route": "request", "title": "A badge"}`)
	g.must(t, "sam", 204, "PUT", "/dav/Workflow/Cases/"+request+"/Actions/confirm.json", `{}`)
	says("/cases", "1 of 2 agreed")

	g.must(t, "admin", 201, "PUT", "/dav/Workflow/Routes/parts.yaml", `
access: {start: [everyone], read: [everyone]}
roles: {worker: {assign: [starter]}}
states: {open: {type: start}, wait: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  build: {in: [open], child: {route: bug, while: wait}, to: done, past: Built}
`)
	parts := g.start(t, "sam", `{"route": "parts", "title": "In one part"}`)
	says("/cases/"+parts, "0 of 1 has ended")
}

// TestOutlookOfEntry: the page of an entry says how it goes on after the instants that it
// lists, and nothing of files.
func TestOutlookOfEntry(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	look := func(doc, want string, then ...string) {
		t.Helper()
		at := g.must(t, "sam", 201, "PUT", "/dav/Workflow/Schedule/new.json", doc).header.Get("Location")
		for _, change := range then {
			g.must(t, "sam", 204, "PUT", at, change)
		}
		uuid := strings.TrimSuffix(strings.TrimPrefix(at, "/dav/Workflow/Schedule/"), ".json")
		if body := g.browse(t, "sam").get(t, "/schedule/"+uuid+"?part=forecast").body; !strings.Contains(body, want) || strings.Contains(body, "do&") {
			t.Errorf("%s: no %q: %s", doc, want, body)
		}
	}
	const daily = `"route": "bug", "type": "cron", "hour": 8, "minute": 0`
	look(`{`+daily+`, "title": "On and on"}`, "And so on.")
	look(`{`+daily+`, "title": "Five", "repeat": 5}`, "And so on, 2 times more.")
	look(`{`+daily+`, "title": "Two", "repeat": 2}`, "Then it has fired for the last time.")
	look(`{"route": "bug", "type": "simple", "date": "2012-12-01T08:00:00", "title": "Once"}`, "Then it has fired for the last time.")
	look(`{`+daily+`, "title": "Paused"}`, "Nothing, until it is resumed.", `{"do": "pause"}`)
}
