package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// taskNames returns the names on a worklist, as .ls has them; "" where the
// answer is another.
func (s *inProcess) taskNames(user, list string) string {
	s.Helper()
	var lines []struct{ Name, Href, ETag string }
	w := s.as(user, "GET", "/dav/Workflow/Worklist/"+list+"/.ls", "")
	if err := json.Unmarshal(w.Body.Bytes(), &lines); err != nil {
		s.Fatalf("%s: %d %v", list, w.Code, err)
	}
	names := make([]string, len(lines))
	for i := range lines {
		names[i] = lines[i].Name
		got := s.as(user, "GET", lines[i].Href, "")
		if got.Header().Get("ETag") != lines[i].ETag {
			s.Errorf("%s is listed as %s, and has %s", lines[i].Href, lines[i].ETag, got.Header().Get("ETag"))
		}
	}
	return strings.Join(names, " ")
}

// TestTasksOverHTTP: one offers, two want it, one has it; by PUT and by MOVE.
func TestTasksOverHTTP(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/desk.yaml", `
access: {start: [everyone]}
roles: {clerk: {assign: [everyone]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish: {in: [open], role: clerk, to: done, accept: required}
`)
		location := s.must("PUT", "/dav/Workflow/Cases/new.json", `{"route": "desk", "roles": {"clerk": ["sam", "ann"]}}`).Header().Get("Location")
		id := strings.TrimSuffix(location[strings.LastIndexByte(location, '/')+1:], ".json")
		file, listed := id+".finish.json", id+".finish desk.json"
		const lists = "/dav/Workflow/Worklist/"
		want := func(what string, got, want any) {
			t.Helper()
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: got %v, want %v", what, got, want)
			}
		}
		want("sam's", s.taskNames("sam", "Offered"), listed)
		want("ann's", s.taskNames("ann", "Offered"), listed)
		want("not accepted", s.as("sam", "PUT", lists+"Offered/"+file, `{}`).Code, http.StatusConflict)

		moved := s.as("sam", "MOVE", lists+"Offered/"+file, "", "Destination", lists+"Accepted/"+file)
		want("accepted by moving it", moved.Code, http.StatusCreated)
		want("the case", moved.Header().Get("Location"), location)
		want("sam's", s.taskNames("sam", "Offered")+"|"+s.taskNames("sam", "Accepted"), "|"+listed)
		want("ann's", s.taskNames("ann", "Offered")+"|"+s.taskNames("ann", "Accepted"), "|")
		late := s.as("ann", "PUT", "/dav/Workflow/Cases/"+id+"/Actions/finish.json", `{"do": "accept"}`)
		want("too late", late.Code, http.StatusConflict)
		var problem struct{ AcceptedBy, Type string }
		if err := json.Unmarshal(late.Body.Bytes(), &problem); err != nil {
			t.Fatal(err)
		}
		want("who has it", problem.AcceptedBy+" "+problem.Type, "sam urn:flowdrive:problem:action-not-enabled")

		want("released by moving it", s.as("sam", "MOVE", lists+"Accepted/"+file, "", "Destination", lists+"Offered/"+file).Code, http.StatusCreated)
		want("ann's", s.taskNames("ann", "Offered"), listed)
		want("delegated", s.as("ann", "PUT", lists+"Offered/"+file, `{"do": "delegate", "to": "admin"}`).Code, http.StatusNoContent)
		want("sam's", s.taskNames("sam", "Offered"), "")
		want("admin's", s.taskNames("admin", "Offered"), listed)
		// The same key again is answered as before, and does nothing.
		for range 2 {
			w := s.as("admin", "PUT", lists+"Offered/"+file, `{"do": "accept"}`, "Idempotency-Key", "once")
			want("accepted", fmt.Sprintf("%d %s", w.Code, w.Header().Get("X-Flowdrive-Log-Entry")), "204 6")
		}
		s.must("PUT", "/dav/Workflow/Cases/"+id+".json", `{"state": "suspended"}`)
		want("of a suspended case", s.taskNames("admin", "Accepted"), "")
		want("in a suspended case", s.as("admin", "PUT", lists+"Accepted/"+file, `{"do": "release"}`).Code, http.StatusConflict)
		s.must("PUT", "/dav/Workflow/Cases/"+id+".json", `{"state": "active"}`)
		want("of a resumed case", s.taskNames("admin", "Accepted"), listed)
		s.must("PUT", lists+"Accepted/"+file, `{}`)
		want("done", s.taskNames("admin", "Accepted"), "")
	})
}

// TestUnchangedTaskDoesNothing: the file of a task that is saved as it was read
// performs nothing, from an editor on a mount and from a script; what is filled in
// performs.
func TestUnchangedTaskDoesNothing(t *testing.T) {
	t.Parallel()
	const mount, script = "davfs2/1.6.1 neon/0.32.5", "curl/8.5"
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/buy.yaml", `
access: {start: [everyone]}
roles: {manager: {assign: [starter]}}
xattrs: {amount: {type: number, required: true}, supplier: {type: string}}
states: {open: {type: start}, bought: {type: complete}, refused: {type: denied}}
actions:
  ask: {trigger: init}
  approve: {type: approve, in: [open], role: manager, to: bought}
  refuse:
    in: [open]
    role: manager
    to: refused
    resolutions: {costly: Too costly, useless: Useless}
    form: {properties: {amount: {type: number}, why: {type: string}}, required: [amount]}
`)
		start := func() (id string) {
			t.Helper()
			at := s.must("PUT", "/dav/Workflow/Cases/new.json", `{"route": "buy", "title": "Desk", "xattrDict": {"amount": 9000}}`).Header().Get("Location")
			return strings.TrimSuffix(at[strings.LastIndexByte(at, '/')+1:], ".json")
		}
		id := start()
		file := func(action string) string {
			return "/dav/Workflow/Worklist/Offered/" + id + "." + action + "%20Desk.json"
		}
		form := func(action string) string { return s.must("GET", file(action), "").Body.String() }
		put := func(agent, action, body string, want int, words string) {
			t.Helper()
			w := s.as("admin", "PUT", file(action), body, "User-Agent", agent)
			if w.Code != want || !strings.Contains(w.Body.String(), words) {
				t.Errorf("%s PUT %s %s: %d %s, want %d %q", agent, action, body, w.Code, w.Body, want, words)
			}
		}
		status := func(want string) {
			t.Helper()
			var c struct{ State, Status string }
			if err := json.Unmarshal(s.must("GET", "/dav/Workflow/Cases/"+id+".json", "").Body.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			if got := c.State + " " + c.Status; got != want {
				t.Errorf("the case is %s, want %s", got, want)
			}
		}
		read := form("approve")
		for _, want := range []string{"{\n  \"do\": \"\",\n  \"comment\": \"\"", `"amount": 9000`, `"supplier": null`, `"caseTitle": "Desk"`, `"starter": "admin"`, `"leadsTo": ["bought"]`} {
			if !strings.Contains(read, want) {
				t.Errorf("%s lacks %s", read, want)
			}
		}
		var spaced map[string]any
		if err := json.Unmarshal([]byte(read), &spaced); err != nil {
			t.Fatal(err)
		}
		other, err := json.MarshalIndent(spaced, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{read, string(other), `{"do": ""}`, `{"do": null}`, `{"do": "", "xattrDict": {"amount": 9000.0, "supplier": null}}`} {
			put(mount, "approve", body, http.StatusNoContent, "")
			put(script, "approve", body, http.StatusUnprocessableEntity, "say what to do")
		}
		status("active open")
		put(mount, "approve", strings.Replace(read, "9000", "9001", 1), http.StatusUnsupportedMediaType, "changes no XATTRs")
		put(mount, "approve", strings.Replace(read, `"do": ""`, `"do": "approve"`, 1), http.StatusUnsupportedMediaType, "must be one of")
		status("active open")

		// What was changed since the file was read is not undone.
		stale := strings.Replace(form("refuse"), "9000", "8000", 1)
		s.must("PUT", "/dav/Workflow/Cases/"+id+".json", `{"xattrDict": {"amount": 100}}`)
		put(mount, "refuse", stale, http.StatusPreconditionFailed, "has changed")
		put(mount, "refuse", strings.Replace(form("refuse"), `"resolution": null`, `"resolution": "costly"`, 1), http.StatusNoContent, "")
		status("completed refused")

		id = start()
		put(mount, "refuse", strings.Replace(strings.Replace(form("refuse"), `"resolution": null`, `"resolution": "costly"`, 1), "9000", "8000", 1), http.StatusNoContent, "")
		if got := s.must("GET", "/dav/Workflow/Cases/"+id+".json", "").Body.String(); !strings.Contains(got, "8000") {
			t.Errorf("the amount was not stored: %s", got)
		}
		status("completed refused")

		for _, body := range []string{`{}`, `{"comment": "fine"}`, `{"do": "", "comment": "fine"}`, "say perform"} {
			if id = start(); body == "say perform" {
				body = strings.Replace(form("approve"), `"do": ""`, `"do": "perform"`, 1)
			}
			put(script, "approve", body, http.StatusNoContent, "")
			status("completed bought")
		}
	})
}
