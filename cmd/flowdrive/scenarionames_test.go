package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestScenarioNames: a scenario whose name is not quite right tells so on a mount, and is
// listed once however its ending is spelled (docs/contract/routes.md#9-scenarios).
func TestScenarioNames(t *testing.T) {
	t.Parallel()
	skipShort(t) // a story is played in a process
	const (
		folder = "/dav/Workflow/Routes/"
		mount  = "davfs2/1.6.1 neon/0.32.5"
		route  = `{states: {a: {type: start}, b: {type: complete}}, actions: {begin: {trigger: init}, end: {trigger: auto, in: [a], to: b}}}`
		story  = `{as: admin, steps: [{start: {}, expect: {status: b}}]}`
		note   = "travl.scenario waits for its route.txt"
	)
	withServer(t, func(s *inProcess) {
		do := func(method, name, body string, want int, header ...string) string {
			t.Helper()
			w := s.as("admin", method, folder+name, body, append(header, "User-Agent", mount)...)
			if w.Code != want {
				t.Fatalf("%s %s: %d %s, want %d", method, name, w.Code, w.Body, want)
			}
			return w.Body.String()
		}
		noted := func(want bool) {
			t.Helper()
			got := s.as("admin", "GET", folder+"Rejected/", "", "User-Agent", mount, "Accept", "application/json").Body.String()
			if strings.Contains(got, note) != want {
				t.Errorf("noted: want %t, the folder has %s", want, got)
			}
		}
		listed := func(want ...string) {
			t.Helper()
			list := do("PROPFIND", "", "", http.StatusMultiStatus, "Depth", "1")
			var got []string
			for _, name := range []string{"travel.yaml", "travel.yml", "travel.scenario.yaml", "travel.scenario.yml"} {
				if strings.Contains(list, folder+name+"<") {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("listed %q, want %q", got, want)
			}
		}
		do("PUT", "travel.yml", route, http.StatusCreated)
		listed("travel.yml")
		do("PUT", "travl.scenario.yaml", story, http.StatusCreated)
		noted(true)
		if text := do("GET", "Rejected/"+url.PathEscape(note), "", http.StatusOK); !strings.Contains(text, `did you mean "travel"`) || !strings.Contains(text, "rename the file") {
			t.Errorf("the note says %s", text)
		}
		do("MOVE", "travl.scenario.yaml", "", http.StatusCreated, "Destination", folder+"travel.scenario.yaml")
		noted(false)
		do("DELETE", "travel.scenario.yaml", "", http.StatusNoContent)

		for _, name := range []string{"travel.scenarios.yaml", "travel-scenario.yaml", "travel.scenerio.yml", "travel.scen.json"} {
			body := story
			if strings.HasSuffix(name, ".json") {
				body = `{"as": "admin", "steps": [{"start": {}}]}`
			}
			want := `the file of a scenario is called \"travel.scenario` + name[strings.LastIndexByte(name, '.'):] + `\"`
			if w := s.as("admin", "PUT", folder+name, body); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want) {
				t.Errorf("PUT %s: %d %s", name, w.Code, w.Body)
			}
		}

		do("PUT", "travel.scenario.yml", story, http.StatusCreated)
		listed("travel.yml", "travel.scenario.yml")
		do("PUT", "travel.scenario.yaml", story+"\n", http.StatusNoContent)
		listed("travel.yml", "travel.scenario.yaml")
		do("PUT", "travel.scenario.yml", story, http.StatusNoContent)
		do("DELETE", "travel.scenario.yml", "", http.StatusNoContent)
		listed("travel.yml")

		// A scenario that comes before its route is noted until then.
		do("PUT", "travl.scenario.yaml", story, http.StatusCreated)
		noted(true)
		do("PUT", "travl.yaml", route, http.StatusCreated)
		noted(false)
		do("DELETE", "travl.yaml", "", http.StatusNoContent)
		do("PUT", "travl.scenario.yaml", story+"\n", http.StatusNoContent)
		noted(true)
		do("DELETE", "travl.scenario.yaml", "", http.StatusNoContent)
		noted(false)
	})
}
