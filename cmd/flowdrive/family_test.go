package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// proposal and ballot are a route and that of its children.
const (
	proposal = `
access: {start: [everyone], read: [everyone]}
roles: {submitter: {assign: [starter]}, voter: {assign: [starter], pick: [everyone]}}
states: {proposed: {type: start}, voting: {}, withdrawn: {type: cancelled}, approved: {type: complete}, rejected: {type: denied}}
actions:
  propose: {trigger: init}
  vote:
    in: [proposed]
    child: {route: ballot, roles: {voter: {from: voter, each: per_user}}, while: voting}
    decide: 'tally.status.approved > tally.status.rejected ? "approved" : "rejected"'
    outputs: {approved: approved, rejected: rejected}
  withdraw: {in: [proposed, voting], role: submitter, to: withdrawn}
`
	ballot = `
access: {start: [], read: []}
roles: {voter: {}}
states: {open: {type: start}, approved: {type: complete}, rejected: {type: denied}}
actions:
  open: {trigger: init}
  approve: {in: [open], role: voter, to: approved, type: approve}
  reject: {in: [open], role: voter, to: rejected}
  no-vote: {in: [open], trigger: time, timeout: P7D, to: rejected}
`
)

// caseForm returns what GET of a case says.
func (s *inProcess) caseForm(user, id string) (form struct {
	State, Status, ParentAction    string
	Parent, Version                int64
	ChildrenCount                  int64
	Children                       []struct{ ID int64 }
	EnabledActions, PendingActions []string
},
) {
	s.Helper()
	w := s.as(user, "GET", "/dav/Workflow/Cases/"+id+".json", "")
	if err := json.Unmarshal(w.Body.Bytes(), &form); err != nil {
		s.Fatalf("case %s: %d %s", id, w.Code, w.Body)
	}
	return form
}

// TestChildrenOverHTTP: what a case that waits for others looks like on the
// drive, what is refused, and what becomes of the children.
func TestChildrenOverHTTP(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		const routes, cases = "/dav/Workflow/Routes/", "/dav/Workflow/Cases/"
		want := func(user, method, path, body string, status int, holds ...string) {
			t.Helper()
			w := s.as(user, method, path, body)
			if w.Code != status {
				t.Errorf("%s by %s of %s: %d %s; want %d", method, user, path, w.Code, w.Body, status)
			}
			for _, text := range holds {
				if !strings.Contains(w.Body.String(), text) {
					t.Errorf("%s of %s: %q is not in %s", method, path, text, w.Body)
				}
			}
		}
		want("admin", "PUT", routes+"proposal.yaml", proposal, http.StatusUnprocessableEntity, `"/actions/vote/child/route"`, `"not-found"`)
		s.must("PUT", routes+"ballot.yaml", ballot)
		want("admin", "PUT", routes+"proposal.yaml", strings.Replace(proposal, "{voter: {from", "{elector: {from", 1),
			http.StatusUnprocessableEntity, `"/actions/vote/child/roles/elector"`, `"not-found"`)
		want("admin", "PUT", routes+"proposal.yaml", strings.Replace(proposal, "while: voting", "while: votes", 1), http.StatusUnprocessableEntity, `"/actions/vote/child/while"`)
		want("admin", "PUT", routes+"proposal.yaml", strings.Replace(proposal, "while: voting}", "while: voting}\n    role: voter", 1), http.StatusUnprocessableEntity, `"/actions/vote/role"`)
		s.must("PUT", routes+"proposal.yaml", proposal)
		want("admin", "DELETE", routes+"ballot.yaml", "", http.StatusConflict, "in-use", "proposal")

		start := func() (id string, kids []string) {
			t.Helper()
			w := s.as("sam", "PUT", cases+"new.json", `{"route": "proposal", "title": "TIP 42", "roles": {"voter": ["sam", "ann"]}}`)
			if w.Code != http.StatusCreated {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			location := w.Header().Get("Location")
			id = strings.TrimSuffix(location[strings.LastIndexByte(location, '/')+1:], ".json")
			for _, child := range s.caseForm("sam", id).Children {
				kids = append(kids, fmt.Sprint(child.ID))
			}
			return id, kids
		}
		id, kids := start()
		if f := s.caseForm("sam", id); f.State+f.Status+fmt.Sprint(f.EnabledActions, f.PendingActions, f.ChildrenCount, len(kids)) != "activevoting[withdraw] [vote] 2 2" {
			t.Errorf("parent %+v", f)
		}
		if f := s.caseForm("ann", kids[0]); fmt.Sprint(f.Parent) != id || f.ParentAction != "vote" || f.Status != "open" {
			t.Errorf("child %+v", f)
		}
		// It is nobody's task, whoever asks; administrators may abort it.
		action := cases + id + "/Actions/vote.json"
		want("sam", "GET", action, "", http.StatusOK, `"state": "running"`)
		want("sam", "PUT", action, `{}`, http.StatusConflict, "action-not-enabled")
		want("admin", "PUT", action, `{}`, http.StatusConflict, "action-not-enabled")
		want("sam", "PUT", action, `{"do": "abort"}`, http.StatusForbidden)
		want("ann", "PUT", cases+id+"/Actions/withdraw.json", `{}`, http.StatusForbidden) // she plays a role in it, and not that one
		// A child is a case like others.
		want("ann", "GET", cases+".contents?parent="+id, "", http.StatusOK, `"TIP 42 (ann)"`)
		want("sam", "GET", cases+".contents?parent="+id+"&limit=1", "", http.StatusOK, `"TIP 42 (ann)"`)
		want("ann", "GET", cases+kids[0]+".json", "", http.StatusOK)
		want("ann", "GET", cases+kids[0]+"/log.txt", "", http.StatusOK, "Created by vote of case "+id)
		etag := s.as("sam", "GET", cases+id+".json", "").Header().Get("ETag")
		want("ann", "PUT", cases+kids[0]+"/Actions/approve.json", `{}`, http.StatusNoContent)
		now := s.as("sam", "GET", cases+id+".json", "")
		if now.Header().Get("ETag") == etag || !strings.Contains(now.Body.String(), `"state": "completed"`) {
			t.Errorf("ETag %s before and after a vote: %s", etag, now.Body)
		}
		if w := s.as("sam", "PUT", cases+id+".json", `{"title": "TIP 42, voted"}`, "If-Match", etag); w.Code != http.StatusNoContent {
			t.Errorf("a condition on the version of the parent: %d %s", w.Code, w.Body)
		}
		// The last voter drops out, and so all have voted.
		want("sam", "DELETE", cases+kids[1]+".json", "", http.StatusNoContent)
		if f := s.caseForm("sam", id); f.State+f.Status != "completedapproved" {
			t.Errorf("parent %+v", f)
		}
		want("ann", "PUT", cases+kids[0]+"/Actions/reject.json", `{}`, http.StatusConflict, "case-not-open")
		want("admin", "PUT", cases+kids[0]+".json", `{"state": "active"}`, http.StatusConflict, "case-not-open")

		id, kids = start()
		want("admin", "PUT", cases+id+"/Actions/vote.json", `{"do": "abort"}`, http.StatusNoContent)
		want("sam", "PUT", cases+kids[1]+"/Actions/approve.json", `{}`, http.StatusConflict, "case-not-open")
		want("admin", "PUT", cases+kids[1]+".json", `{"state": "active"}`, http.StatusConflict, "case-not-open")

		id, kids = start()
		want("sam", "PUT", cases+id+".json", `{"state": "canceled"}`, http.StatusNoContent)
		for _, kid := range kids {
			if f := s.caseForm("sam", kid); f.State != "canceled" {
				t.Errorf("child %+v", f)
			}
		}
		s.must("POST", "/clock", `{"advance": "P8D"}`, "Content-Type", "application/json")

		id, kids = start()
		want("sam", "PUT", cases+id+".json", `{"state": "suspended"}`, http.StatusNoContent)
		want("ann", "PUT", cases+kids[0]+"/Actions/approve.json", `{}`, http.StatusConflict, "case-not-open")
		want("admin", "PUT", cases+kids[0]+".json", `{"state": "active"}`, http.StatusConflict, "case-not-open")
		s.must("POST", "/clock", `{"advance": "P8D"}`, "Content-Type", "application/json")
		want("sam", "PUT", cases+id+".json", `{"state": "active"}`, http.StatusNoContent)
		if f := s.caseForm("sam", id); f.State+f.Status != "completedrejected" {
			t.Errorf("parent %+v", f)
		}
	})
}
