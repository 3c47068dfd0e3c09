package davfs

import (
	"strings"
	"testing"
)

// TestPictures: the folders of routes and cases have pictures of where the case is,
// versions have theirs under their numbers; nobody sees one of what he may not see.
func TestPictures(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.play(`
		davfs2 PUT Routes/tip/a.txt | x | 201
		davfs2 LIST Cases/19/ | | 207 | Actions Files Labels Messages Outbox Timers comment.txt diagram.mmd diagram.svg diagram.txt input log.json log.txt
		curl GET Cases/19/diagram.txt | | 200 | (?s:tip: where case 19 is.*From  .*Performed.*)
		curl GET Cases/19/DIAGRAM.SVG | | 200 | (?s:<svg .*now.*)
		curl GET Cases/19/diagram.mmd | | 200 | (?s:stateDiagram-v2.*class n[0-9]+ here.*)
		curl:bob GET Cases/19/diagram.svg | | 404
		curl GET Cases/99/diagram.svg | | 404
		curl PUT Cases/19/diagram.svg | x | 405
		curl GET Routes/tip/diagram.svg | | 200 | (?s:<svg .*resolve.*)
		curl GET Routes/tip/diagram.txt | | 200 | (?s:tip\n\nFrom .*)
		curl PUT Routes/tip/diagram.svg | x | 422
		curl PUT Routes/tip/diagram.txt | x | 422
		curl GET Routes/tip/Versions/1.svg | | 200 | (?s:<svg .*resolve.*)
		curl GET Routes/tip/Versions/1.mmd | | 200 | (?s:stateDiagram-v2.*)
		curl GET Routes/tip/Versions/9.svg | | 404
		curl GET Routes/tip/Versions/1.png | | 404
		curl GET Routes/none/diagram.svg | | 404`)
	rec := s.ask(t, "sam GET /dav/Workflow/Routes/tip/diagram.svg")
	if got := rec.Header().Get("Content-Type"); got != "image/svg+xml" {
		t.Errorf("the picture has the type %s", got)
	}
	if got := rec.Header().Get("ETag"); got == "" {
		t.Error("the picture has no ETag")
	}
	if list := s.ask(t, "sam PROPFIND /dav/Workflow/Routes/tip/", "Depth: 1").Body.String(); !strings.Contains(list, "diagram.svg") {
		t.Errorf("the folder of a route does not list its picture: %s", list)
	}
}

// TestVersionAsStored: a version that was stored as YAML is there with its comments; one that
// was stored as JSON has only its complete form.
func TestVersionAsStored(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const machine = "states: {open: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, end: {in: [open], allowed: [everyone], to: done}}"
	put := func(file, text string) {
		t.Helper()
		if rec := s.ask(t, "sam PUT /dav/Workflow/Routes/"+file, strings.Split("> "+strings.ReplaceAll(text, "\n", "\n> "), "\n")...); rec.Code >= 300 {
			t.Fatalf("%s: %d %s", file, rec.Code, rec.Body)
		}
	}
	first := "# why it is so\n" + machine
	put("said.yaml", first)
	put("said.yaml", "title: Other # a name\n"+machine)
	put("said.json", `{"title": "Third", "states": {"open": {"type": "start"}, "done": {"type": "complete"}}, "actions": {"begin": {"trigger": "init"}, "end": {"in": ["open"], "allowed": ["everyone"], "to": "done"}}}`)
	rec := s.ask(t, "sam GET /dav/Workflow/Routes/said/Versions/1.yaml")
	if rec.Code != 200 || rec.Body.String() != first || rec.Header().Get("ETag") == "" {
		t.Errorf("version 1: %d %s %s", rec.Code, rec.Header(), rec.Body)
	}
	s.play(`
		curl GET Routes/said/Versions/2.yml | | 200 | (?s:title: Other # a name.*)
		curl GET Routes/said/Versions/3.yaml | | 404
		curl GET Routes/said/Versions/3.json | | 200 | (?s:.*"Third".*)
		curl GET Routes/said/Versions/9.yaml | | 404
		curl PUT Routes/said/Versions/1.yaml | x | 405
		curl:bob GET Routes/said/Versions/1.yaml | | 404`)
}
