package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"flowdrive/internal/errs"
)

// desk is a route whose cases the clerk approves or refuses, and deskStory a story of it.
const (
	desk = `title: Desk
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: ["user:tom"]}}
states: {asked: {type: start}, approved: {type: complete}, refused: {type: denied}}
actions:
  ask: {trigger: init, past: Asked}
  approve: {type: approve, in: [asked], role: clerk, to: approved, past: Approved}
  refuse: {in: [asked], role: clerk, to: refused, past: Refused}
  forget: {in: [asked], trigger: time, timeout: P7D, to: refused}
`
	deskStory = `title: Tom approves
users: [jane, tom]
as: tom
steps:
- start: {title: A laptop}
  as: jane
  expect: {state: active, status: asked}
- perform: approve
  as: jane
  refused: not-allowed
- perform: approve
  expect: {state: completed, status: approved, log: [Approved]}
- start: {title: A desk}
  as: jane
- advance: P8D
- check: true
  expect: {status: refused}
`
)

// brokenStory is what a client reads of a PUT that was refused.
type brokenStory struct {
	Type     string       `json:"type"`
	Detail   string       `json:"detail"`
	Scenario string       `json:"scenario"`
	Step     int          `json:"step"`
	Log      string       `json:"log"`
	Errors   []errs.Fault `json:"errors"`
}

// broken wants a PUT to be refused for its story, and returns what is said of it.
func (s *inProcess) broken(path, body string, header ...string) brokenStory {
	s.Helper()
	w := s.as("admin", "PUT", path, body, header...)
	var r brokenStory
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != http.StatusUnprocessableEntity || r.Type != "urn:flowdrive:problem:scenario-broken" {
		s.Fatalf("PUT %s: %d %s (%v)", path, w.Code, w.Body, err)
	}
	return r
}

// TestScenarioBesideRoute: a story is played when it is stored, and whenever its route is.
// One that breaks refuses either with the step, and a dry run shows it.
func TestScenarioBesideRoute(t *testing.T) {
	t.Parallel()
	skipShort(t) // a story is played in a process
	withServer(t, func(s *inProcess) {
		const route, scenario = "/dav/Workflow/Routes/desk.yaml", "/dav/Workflow/Routes/desk.scenario.yaml"
		want := func(code int, method, path, body string, holds ...string) {
			t.Helper()
			w := s.as("admin", method, path, body)
			if w.Code != code {
				t.Fatalf("%s %s: %d %s; want %d", method, path, w.Code, w.Body, code)
			}
			for _, text := range holds {
				if !strings.Contains(w.Body.String(), text) {
					t.Errorf("%s %s: %q is not in %s", method, path, text, w.Body)
				}
			}
		}
		// Stored in any order.
		want(http.StatusCreated, "PUT", scenario, deskStory, `{"warnings":["There is no route \"desk\"`)
		want(http.StatusOK, "GET", scenario, "", deskStory)
		want(http.StatusCreated, "PUT", route, desk)
		want(http.StatusOK, "GET", "/dav/Workflow/Routes/desk.json", "", `"scenario": {`, `"href": "/dav/Workflow/Routes/desk.scenario.yaml"`, `"title": "Tom approves"`,
			`"version": 1`, `"result": "holds"`, `"steps": 6`, `"expectations": 7`)

		// A route that breaks it.
		slow := strings.Replace(desk, "P7D", "P9D", 1)
		r := s.broken(route, slow)
		if f := r.Errors; len(f) != 1 || f[0].Pointer != "/steps/5/expect/status" || f[0].Line != 17 || f[0].Detail != `step 6 (check): want "refused", but it is "asked"` {
			t.Errorf("got %+v", f)
		}
		if r.Step != 6 || r.Scenario != scenario || !strings.Contains(r.Log, "Approved") || !strings.Contains(r.Detail, "desk.scenario.yaml does not hold") {
			t.Errorf("got %+v", r)
		}
		if dry := s.broken(route+"?dryRun", slow); dry.Detail != r.Detail {
			t.Errorf("a dry run says %q", dry.Detail)
		}
		want(http.StatusOK, "GET", route, "", desk)
		want(http.StatusOK, "PUT", route, desk) // as it is: nothing happens, but a warning that there is no tom here

		// A story that breaks.
		s.broken(scenario, strings.Replace(deskStory, "P8D", "P6D", 1))
		want(http.StatusOK, "GET", scenario, "", deskStory)
		want(http.StatusUnprocessableEntity, "PUT", scenario, "steps: [{perfrm: x}]", `did you mean \"perform\"?`)

		// A dry run shows what is played.
		quick := strings.Replace(desk, "P7D", "P5D", 1)
		want(http.StatusOK, "PUT", route+"?dryRun", quick, `"log": "case`, `A laptop`, `"version": 2`)
		want(http.StatusOK, "PUT", scenario+"?dryRun", deskStory+"# more\n", `"log": "case`, `"expectations": 7`)
		want(http.StatusOK, "GET", scenario, "", deskStory)
		want(http.StatusOK, "PUT", route, quick)
		want(http.StatusOK, "GET", "/dav/Workflow/Routes/desk.json", "", `"version": 2`)

		// What mounting clients are refused lies in Rejected/.
		if w := s.as("admin", "PUT", route, slow, "User-Agent", "gvfs/1"); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("a mounting client: %d", w.Code)
		}
		listing := s.as("admin", "GET", "/dav/Workflow/Routes/Rejected/", "", "Accept", "application/json").Body.String()
		var files []struct{ Href string }
		if err := json.Unmarshal([]byte(listing), &files); err != nil || len(files) != 2 {
			t.Fatalf("Rejected/ has %s", listing)
		}
		for _, f := range files {
			if strings.HasSuffix(f.Href, ".txt") {
				want(http.StatusOK, "GET", f.Href, "", "step 6 (check): want", "save the scenario and then the route")
			}
		}
	})
}

// TestScenarioOfOldVersion: an owner whom the story does not name copies a version of the
// route over the route, and so undoes a change.
func TestScenarioOfOldVersion(t *testing.T) {
	t.Parallel()
	skipShort(t) // a story is played in a process
	withServer(t, func(s *inProcess) {
		const route, scenario = "/dav/Workflow/Routes/desk.yaml", "/dav/Workflow/Routes/desk.scenario.yaml"
		want := func(code int, who, method, path, body string) string {
			t.Helper()
			w := s.as(who, method, path, body)
			if w.Code != code {
				t.Fatalf("%s %s: %d %s; want %d", method, path, w.Code, w.Body, code)
			}
			return w.Body.String()
		}
		want(http.StatusCreated, "sam", "PUT", route, desk)
		want(http.StatusCreated, "sam", "PUT", scenario, deskStory)
		want(http.StatusOK, "sam", "PUT", route, strings.Replace(desk, "title: Desk", "title: Desks", 1))
		first := want(http.StatusOK, "sam", "GET", "/dav/Workflow/Routes/desk/Versions/1.json", "")
		if !strings.Contains(first, `"context": "sam"`) {
			t.Fatalf("the version does not name its owner: %s", first)
		}
		want(http.StatusOK, "sam", "PUT", route, first)
		if now := want(http.StatusOK, "sam", "GET", "/dav/Workflow/Routes/desk.json", ""); !strings.Contains(now, `"title": "Desk"`) || !strings.Contains(now, `"result": "holds"`) {
			t.Errorf("the route is not undone: %s", now)
		}
	})
}

// TestScenarioThatDoesNotEnd: a story that takes too long, or cannot begin, refuses its PUT
// with a sentence, and others are played all the same.
func TestScenarioThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	skipShort(t) // a story is played in a process
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/ticker.yaml", `
access: {start: [everyone]}
states: {open: {type: start}, shut: {type: complete}}
actions:
  begin: {trigger: init}
  tick: {in: [open], trigger: time, timeout: PT1S, to: open}
  end: {in: [open], allowed: [everyone], to: shut}
`)
		r := s.broken("/dav/Workflow/Routes/ticker.scenario.yaml", "as: admin\nsteps:\n"+strings.Repeat("- start: {}\n", 100)+"- advance: P300D\n")
		if !strings.Contains(r.Detail, "takes longer than the ") && !strings.Contains(r.Detail, "needs more memory than ") {
			t.Errorf("got %q", r.Detail)
		}
		r = s.broken("/dav/Workflow/Routes/ticker.scenario.yaml", "users: ['two words']\nas: admin\nsteps:\n- start: {}\n")
		if !strings.Contains(r.Detail, "something that it needs is refused: the user two words") {
			t.Errorf("got %q", r.Detail)
		}
		s.must("PUT", "/dav/Workflow/Routes/ticker.scenario.json", `{"as": "admin", "steps": [{"start": {}}, {"advance": "PT10S"}, {"perform": "end"}]}`)
	})
}

// TestScenarioOnMounts: the ways in which clients of mounted drives save work for
// scenarios as they do for routes.
func TestScenarioOnMounts(t *testing.T) {
	t.Parallel()
	skipShort(t) // a story is played in a process
	const (
		route = `{states: {a: {type: start}, b: {type: complete}}, actions: {begin: {trigger: init}, end: {trigger: auto, in: [a], to: b}}}`
		holds = `{as: admin, steps: [{start: {}, expect: {status: b}}]}`
		other = `{as: admin, steps: [{start: {}, expect: {state: completed}}]}`
		wrong = `{as: admin, steps: [{start: {}, expect: {status: a}}]}`
	)
	for _, tt := range []struct{ name, agent, script string }{
		{"copied in order of names, and deleted so", "rclone/v1.60", `
			PUT @/own.scenario.yaml > HOLDS = 201
			PUT @/own.yaml > ROUTE = 201
			PROPFIND @/ ; Depth: 1 = 207 ~ own\.yaml.*own\.scenario\.yaml
			GET @/own.json = 200 ~ "result": "holds"
			DELETE @/own.yaml = 204
			PROPFIND @/ ; Depth: 1 = 207 ~ own\.scenario\.yaml
			DELETE @/own.scenario.yaml = 204
			GET @/own.scenario.yaml = 404`},
		{"vim on davfs2", "davfs2/1.6.1 neon/0.32.5", `
			PUT @/own.yaml > ROUTE = 201
			PUT @/own.scenario.yaml > HOLDS = 201
			LOCK @/.own.scenario.yaml.swp ; Depth: 0 > LOCKINFO = 201
			UNLOCK @/.own.scenario.yaml.swp ; Lock-Token: <TOKEN> = 204
			MOVE @/own.scenario.yaml ; Destination: http://example.com@/own.scenario.yaml~ ; Overwrite: T = 201
			HEAD @/own.scenario.yaml = 404
			LOCK @/own.scenario.yaml ; Depth: 0 > LOCKINFO = 201
			HEAD @/own.scenario.yaml = 200
			PUT @/own.scenario.yaml ; If: <http://example.com@/own.scenario.yaml> (<TOKEN>) ; If-Match: ETAG > OTHER = 204
			UNLOCK @/own.scenario.yaml ; Lock-Token: <TOKEN> = 204
			GET @/own.scenario.yaml = 200 ~ completed
			PUT @/own.scenario.yaml > WRONG = 415
			GET @/own.scenario.yaml = 200 ~ completed
			PROPFIND @/Rejected/ ; Depth: 1 = 207 ~ own\.scenario\.yaml\.txt
			PROPFIND @/.history/ ; Depth: 1 = 207 ~ %20own\.scenario\.yaml`},
		{"gvfs deletes before it writes", "gvfs/1.50", `
			PUT @/own.yaml > ROUTE = 201
			PUT @/own.scenario.yaml > HOLDS = 201
			DELETE @/own.scenario.yaml = 204
			PUT @/own.scenario.yaml > WRONG = 422
			GET @/own.scenario.yaml = 200 ~ status: b
			DELETE @/own.yaml = 204
			PUT @/own.yaml > {states: {a: {type: start}}, actions: {begin: {trigger: init}}} = 422
			GET @/own.yaml = 200 ~ trigger: auto
			GET @/own.json = 200 ~ "result": "holds"`},
		{"a temporary file is moved over it", "dolphin/22", `
			PUT @/own.yaml > ROUTE = 201
			PUT @/own.scenario.yaml > HOLDS = 201
			PUT @/own.scenario.yaml.part > OTHER = 201
			MOVE @/own.scenario.yaml.part ; Destination: http://example.com@/own.scenario.yaml ; Overwrite: T = 204
			GET @/own.scenario.yaml = 200 ~ completed
			GET @/own.scenario.yaml.part = 404
			COPY @/own.scenario.yaml ; Destination: http://example.com@/bug.scenario.yaml = 422
			MOVE @/own.scenario.yaml ; Destination: http://example.com@/later.scenario.yaml = 201
			GET @/own.scenario.yaml = 404
			MOVE @/own.yaml ; Destination: http://example.com@/later.yaml = 201
			PUT @/later.yaml > ROUTE # again = 204
			GET @/later.json = 200 ~ later\.scenario\.yaml
			MOVE @/later.scenario.yaml ; Destination: http://example.com@/later.yaml = 403`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			withServer(t, func(s *inProcess) {
				r := &replay{inProcess: s, agent: tt.agent, at: "/dav/Workflow/Routes"}
				r.play(t, strings.NewReplacer("ROUTE", route, "HOLDS", holds, "OTHER", other, "WRONG", wrong).Replace(tt.script))
			})
		})
	}
}
