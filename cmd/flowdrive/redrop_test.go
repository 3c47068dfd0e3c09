package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestDropAgainIntoADraft: a file that is saved again gives its draft another content,
// and what is in the query; no second draft is made (docs/contract/drive.md#draft-cases).
func TestDropAgainIntoADraft(t *testing.T) {
	t.Parallel()
	const mount, folder = "davfs2/1.6.1 neon/0.32.5", "/dav/Workflow/Routes/purchase/"
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/purchase.yaml", routePurchase)
		drop := func(user, name, body string, want int, headers ...string) string {
			t.Helper()
			w := s.as(user, "PUT", folder+name, body, headers...)
			if w.Code != want {
				t.Fatalf("%s drops %s: %d %s, want %d", user, name, w.Code, w.Body, want)
			}
			return w.Header().Get("Location")
		}
		notes := func() int {
			t.Helper()
			return strings.Count(s.as("sam", "GET", folder+"Rejected/", "", "User-Agent", mount, "Accept", "application/json").Body.String(), "is a draft.txt")
		}
		at := drop("sam", "Quote.pdf", "one", http.StatusCreated, "User-Agent", mount)
		drop("sam", "Quote.pdf", "two", http.StatusNoContent, "User-Agent", mount)
		if got := drop("sam", "QUOTE.pdf?note=x", "three", http.StatusAccepted); got != at {
			t.Errorf("the draft is at %s, before at %s", got, at)
		}
		other := drop("ann", "Quote.pdf", "other", http.StatusAccepted)
		second := drop("sam", "Second.pdf", "another", http.StatusAccepted)
		if other == at || second == at {
			t.Error("another user's file, or another file, is the same draft")
		}
		id := strings.TrimSuffix(at[strings.LastIndexByte(at, '/')+1:], ".json")
		if got := s.as("sam", "GET", "/dav/Workflow/Cases/"+id+"/input", "").Body.String(); got != "three" {
			t.Errorf("the input is %q", got)
		}
		if got := s.draftedCase("sam", id); got.State != "draft" || got.XattrDict["note"] != "x" {
			t.Errorf("the draft is %+v", got)
		}
		if n := notes(); n != 1 {
			t.Errorf("%d notes", n)
		}
		// What is wrong leaves it as it is; what is asked of a version is looked at.
		drop("sam", "Quote.pdf?amount=much", "four", http.StatusUnprocessableEntity)
		drop("sam", "Quote.pdf", "four", http.StatusPreconditionFailed, "If-None-Match", "*")
		if w := s.as("sam", "PUT", folder+"Quote.pdf?amount=5&supplier=Acme&.dryRun", "four"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"state": "active"`) {
			t.Errorf("a dry run: %d %s", w.Code, w.Body)
		}
		idle := s.as("sam", "PUT", "/dav/Workflow/Cases/"+id+"/Actions/start.json", s.as("sam", "GET", "/dav/Workflow/Cases/"+id+"/Actions/start.json", "").Body.String(), "User-Agent", mount)
		if state := idle.Header().Get("X-Flowdrive-Case-State"); idle.Code != http.StatusNoContent || state != "draft" {
			t.Errorf("a save that does nothing: %d, state %q", idle.Code, state)
		}
		// With all that is missing it starts, and the note goes.
		drop("sam", "Quote.pdf?amount=5&supplier=Acme", "five", http.StatusNoContent)
		if got := s.draftedCase("sam", id); got.State != "active" || got.XattrDict["amount"] != 5.0 {
			t.Errorf("the case is %+v", got)
		}
		if got := s.as("sam", "GET", "/dav/Workflow/Cases/"+id+"/input", "").Body.String(); got != "five" {
			t.Errorf("the input is %q", got)
		}
		if n := notes(); n != 0 {
			t.Errorf("%d notes are left", n)
		}
		if third := drop("sam", "Quote.pdf", "six", http.StatusAccepted); third == at {
			t.Error("the started case got another input")
		}
	})
}
