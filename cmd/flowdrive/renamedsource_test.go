package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestRenamedInTheSourceOfAnEntry: the file of a schedule entry can be saved again after
// what it names was renamed or handed over.
func TestRenamedInTheSourceOfAnEntry(t *testing.T) {
	t.Parallel()
	const file = "/dav/Workflow/Schedule/nightly.json"
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/desk.yaml", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  end: {in: [open], allowed: [everyone], to: done}
`)
		user := "sam"
		again := func(what string, says, saysNot string) {
			t.Helper()
			text := s.as(user, "GET", file, "").Body.String()
			if !strings.Contains(text, says) || strings.Contains(text, saysNot) {
				t.Errorf("%s: the file is %s", what, text)
			}
			if w := s.as(user, "PUT", file, strings.Replace(text, `"hour": "22"`, `"hour": "21"`, 1)); w.Code >= http.StatusMultipleChoices {
				t.Errorf("%s: saved again: %d %s", what, w.Code, w.Body)
			}
		}
		if w := s.as("sam", "PUT", "/dav/Documents/sam/rates.csv", "1,2"); w.Code != http.StatusCreated {
			t.Fatalf("the document: %d %s", w.Code, w.Body)
		}
		w := s.as("sam", "PUT", file, `{"route": "desk", "type": "cron", "hour": "22", "context": "sam", "document": "/dav/Documents/sam/rates.csv"}`)
		if w.Code != http.StatusCreated {
			t.Fatalf("the entry: %d %s", w.Code, w.Body)
		}
		move := func(from, to string) {
			t.Helper()
			s.must("MOVE", from, "", "Destination", to)
		}
		move("/dav/Workflow/Routes/desk.yaml", "/dav/Workflow/Routes/counter.yaml")
		again("a renamed route", `"route": "counter"`, `desk`)
		move("/dav/Admin/Users/sam.json", "/dav/Admin/Users/samuel.json")
		user, s.passwords["samuel"] = "samuel", s.passwords["sam"]
		again("a renamed user", "/dav/Documents/samuel/rates.csv", `"sam"`)
		history := s.as(user, "GET", "/dav/Workflow/Schedule/.history/", "", "Accept", "application/json").Body.String()
		if !strings.Contains(history, "nightly.json") {
			t.Errorf("what was saved is not kept: %s", history)
		}
	})
}

// TestCommandToAFreedName: a canceled case has given its name back; who sends it a command
// by that is told how to.
func TestCommandToAFreedName(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		const file = "/dav/Workflow/Cases/lamp.json"
		at := s.must("PUT", file, `{"route": "bug"}`).Header().Get("Location")
		s.must("DELETE", file, "")
		if w := s.as("admin", "PUT", file, `{"do": "archive"}`); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "gives its name back") {
			t.Errorf("by its name: %d %s", w.Code, w.Body)
		}
		if list := s.must("GET", "/dav/Workflow/Cases/.ls?state=canceled", "").Body.String(); !strings.Contains(list, at) {
			t.Errorf("the canceled cases: %s", list)
		}
		s.must("PUT", at, `{"do": "archive"}`)
	})
}

// TestWarningsOnAMount: what is warned of in a route is in its newest version.
func TestWarningsOnAMount(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.as("admin", "PUT", "/dav/Workflow/Routes/odd.json", `{"states": {"open": {"type": "start"}, "never": {}, "done": {"type": "complete"}},
			"actions": {"begin": {"trigger": "init"}, "end": {"in": ["open"], "allowed": ["everyone"], "to": "done"}}}`, "User-Agent", "davfs2/1.6.1")
		if form := s.must("GET", "/dav/Workflow/Routes/odd/Versions/1.json", "", "User-Agent", "davfs2/1.6.1").Body.String(); !strings.Contains(form, `"warnings": [`) || strings.Contains(form, `"warnings": []`) {
			t.Errorf("the version: %s", form)
		}
	})
}
