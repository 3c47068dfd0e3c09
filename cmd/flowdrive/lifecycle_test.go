package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestLifecycle lives through a case over HTTP: it is suspended and resumed,
// moved on the board, completed and reopened, canceled and taken back.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	withServer(t, liveThrough)
}

func liveThrough(s *inProcess) {
	id := strings.TrimSuffix(strings.TrimPrefix(s.must("PUT", "/dav/Workflow/Cases/fire.json", `{"route": "bug", "title": "Fire: hall"}`).Header().Get("Location"), "/dav/Workflow/Cases/"), ".json")
	at, board := "/dav/Workflow/Cases/"+id, "/dav/Workflow/Routes/bug/Board/"
	moves := func(to string) []string {
		return []string{"Destination", board + to, "Overwrite", "F"}
	}
	for i, step := range []struct {
		method, path, body string
		header             []string
		code               int
		says               string // in the body, or what the state and status are then
	}{
		{"PUT", at + ".json", `{"state": "suspended", "suspendedUntil": "2012-11-20T12:00:00Z"}`, nil, 204, "suspended open"},
		{"PUT", at + "/Actions/resolve.json", `{}`, nil, 409, "case-not-open"},
		{"MOVE", board + "open/" + id + "%20x.json", "", moves("resolved/x"), 409, "suspended"},
		{"POST", "/clock", `{"set": "2012-11-20T11:59:59Z"}`, []string{"Content-Type", "application/json"}, 200, "suspended open"},
		{"POST", "/clock", `{"advance": "PT1S"}`, []string{"Content-Type", "application/json"}, 200, "active open"},
		{"PUT", at + ".json", `{"state": "suspended"}`, nil, 204, "suspended open"},
		{"PUT", at + ".json", `{"state": "active"}`, nil, 204, "active open"},
		{"MOVE", board + "open/" + id + "%20x.json", "", moves("closed/x"), 409, "resolved (resolve)"},
		{"MOVE", board + "open/" + id + "%20x.json", "", moves("nowhere/x"), 409, "no folder"},
		{"MOVE", board + "open/" + id + "%20x.json", "", []string{"Destination", "/dav/Workflow/Cases/x.json"}, 403, "to delete it here would cancel the case"},
		{"MOVE", board + "closed/" + id + "%20x.json", "", moves("open/x"), 404, ""},
		{"MOVE", board + "open/" + id + "%20x.json", "", append(moves("resolved/x"), "If-Match", `"other"`), 412, ""},
		{"MOVE", board + "open/" + id + "%20x.json", "", moves("resolved/any%20name%20at%20all"), 201, "active resolved"},
		{"MOVE", board + "resolved/" + id + ".json", "", moves("closed/" + id + ".json"), 201, "completed closed"},
		{"PUT", at + ".json", `{"state": "active"}`, nil, 409, "reopen"},
		{"PUT", at + ".json", `{"state": "suspended"}`, nil, 409, "case-not-open"},
		{"PUT", at + "/Actions/reopen.json", `{}`, nil, 204, "active open"},
		{"DELETE", at + ".json", "", nil, 204, "canceled open"},
		{"PUT", at + ".json", `{"title": "x"}`, nil, 403, "read-only"},
		{"PUT", at + ".json", `{"state": "active"}`, nil, 204, "active open"},
		{"PUT", at + ".json", `{"state": "queued"}`, nil, 422, "/state"},
	} {
		w := s.as("admin", step.method, step.path, step.body, step.header...)
		body := w.Body.String()
		if step.code < http.StatusMultipleChoices {
			var c struct{ State, Status string }
			if err := json.Unmarshal(s.must("GET", at+".json", "").Body.Bytes(), &c); err != nil {
				s.Fatal(err)
			}
			body = c.State + " " + c.Status
		}
		if w.Code != step.code || !strings.Contains(body, step.says) {
			s.Fatalf("step %d, %s %s %s %v: got %d %s, want %d %s", i, step.method, step.path, step.body, step.header, w.Code, body, step.code, step.says)
		}
		if step.method == "MOVE" && w.Code == http.StatusCreated {
			got := fmt.Sprint(w.Header().Get("Location"), " ", w.Header().Get("X-Flowdrive-Case-Status"))
			if !strings.HasPrefix(got, at+".json ") || !strings.HasSuffix(step.says, w.Header().Get("X-Flowdrive-Case-Status")) {
				s.Errorf("MOVE answers %v", w.Header())
			}
		}
	}
}
