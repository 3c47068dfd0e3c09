package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// undelivered is what this test reads of an entry of Worklist/Escalated/.
type undelivered struct {
	Case                       int64
	Action, State, Step, Error string
	Attempts                   int
}

// TestUndelivered: what could not be delivered is a file of its own among what
// is escalated, and below the actions of its case, to be retried or given up.
func TestUndelivered(t *testing.T) {
	t.Parallel()
	p := startProgram(t, t.TempDir())
	p.must(t, http.StatusCreated, http.MethodPut, "/dav/Workflow/Routes/note.yaml", `
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, to: done, sideEffects: [{mail: {to: [starter]}}]}
`)
	p.must(t, http.StatusNoContent, http.MethodPut, "/dav/Admin/Users/admin.json", `{"email": "admin@example.org"}`)
	at := p.must(t, http.StatusCreated, http.MethodPut, casesFolder+"new.json", `{"route": "note"}`).header.Get("Location")
	const escalated = "/dav/Workflow/Worklist/Escalated/"
	var entry undelivered
	waits := func(attempts int) {
		t.Helper()
		eventually(t, func() string {
			list := get[[]undelivered](t, p, escalated+".contents")
			if len(list) == 1 && list[0].Attempts == attempts {
				entry = list[0]
				return ""
			}
			return fmt.Sprintf("escalated: %+v", list)
		})
	}
	waits(1)
	if entry.State != "escalated" || entry.Action != "begin" || entry.Step != "mail" || entry.Error == "" {
		t.Errorf("got %+v", entry)
	}
	names := get[[]struct{ Name, ID, Href string }](t, p, escalated+".ls")
	if len(names) != 1 || !strings.HasPrefix(names[0].Name, fmt.Sprintf("%d.begin.", entry.Case)) {
		t.Fatalf("listed %+v", names)
	}
	below := strings.TrimSuffix(at, ".json") + "/Actions/" + strings.TrimPrefix(names[0].ID, fmt.Sprintf("%d.", entry.Case)) + ".json"
	if one, other := p.must(t, http.StatusOK, http.MethodGet, names[0].Href, ""), p.must(t, http.StatusOK, http.MethodGet, below, ""); string(one.body) != string(other.body) {
		t.Errorf("%s is %s, %s is %s", names[0].Href, one.body, below, other.body)
	}
	p.must(t, http.StatusConflict, http.MethodPut, below, `{}`)
	p.must(t, http.StatusNoContent, http.MethodPut, names[0].Href, `{"do": "retry"}`)
	waits(2)
	p.must(t, http.StatusNoContent, http.MethodPut, below, `{"do": "abort", "comment": "never mind"}`)
	if left := get[[]undelivered](t, p, escalated+".contents"); len(left) > 0 {
		t.Errorf("left %+v", left)
	}
	p.must(t, http.StatusNotFound, http.MethodGet, below, "")
	p.must(t, http.StatusNotFound, http.MethodPut, below, `{"do": "retry"}`)
}
