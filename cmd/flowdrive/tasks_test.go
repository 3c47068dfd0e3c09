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
