package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestTimersOverHTTP follows the timers of a case in the sandbox: what is
// overdue after the clock was moved has expired, and another limit counts
// from now.
func TestTimersOverHTTP(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/review.yaml", `
access: {start: [everyone], read: [everyone]}
timeout: P7D
timers: {reminder: {limit: P2D, onExpire: [{set: {reminded: true}}]}}
roles: {reviewer: {assign: ["user:sam"]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: [{enableTimer: reminder}]}
  review: {in: [open], role: reviewer, to: done, dueIn: P1D}
  close: {in: [open], trigger: auto, guard: 'timers["reminder"].expired && timers["review.due"].expired', to: done}
`)
		location := s.must("PUT", "/dav/Workflow/Cases/new.json", `{"route": "review"}`).Header().Get("Location")
		folder := strings.TrimSuffix(location, ".json")
		shows := func(path string, want ...string) {
			t.Helper()
			w := s.as("sam", "GET", folder+path, "")
			for _, part := range want {
				part = strings.ReplaceAll(part, `":`, `": `)
				if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), part) {
					t.Errorf("%s lacks %s: %d %s", path, part, w.Code, w.Body)
				}
			}
		}
		clock := func(body string) {
			t.Helper()
			s.must("POST", "/clock", body, "Content-Type", "application/json")
		}
		shows("/Timers/review.due.json", `"state":"running"`, `"limit":"P1D"`, `"relative":true`, `"expired":false`)
		clock(`{"advance": "P1DT1S"}`)
		shows("/Timers/review.due.json", `"expired":true`)
		shows("/Actions/review.json", `"timer":"review.due"`)
		set := s.as("sam", "PUT", folder+"/Timers/review.due.json", `{"limit": 60}`, "Prefer", "return=representation")
		if set.Code != http.StatusOK || !strings.Contains(set.Body.String(), "\"limit\": \"PT1M\",\n  \"relative\": true") ||
			set.Header().Get("Content-Location") != folder+"/Timers/review.due.json" || set.Header().Get("ETag") == "" {
			t.Errorf("another limit: %d %v %s", set.Code, set.Header(), set.Body)
		}
		shows("/Timers/review.due.json", `"expired":false`)
		shows("/Actions/review.json", `"warnings":[]`)
		clock(`{"advance": "PT1M"}`)
		shows("/Actions/review.json", `"timer":"review.due"`)
		clock(`{"advance": "P1D"}`) // the reminder expires, and a guard sees that both have
		shows(".json", `"state":"completed"`, `"status":"done"`, `"reminded":true`)
		shows("/log.json", `TimerExpired: reminder (user)`, `TimerExpired: review.due (due)`)
		shows("/Timers/case.json", `"state":"off"`, `"expirationDate":null`)
		for body, want := range map[string]int{
			`{"limit": "P1D"}`: http.StatusConflict, `{"limit": "soon"}`: http.StatusUnprocessableEntity, `{`: http.StatusBadRequest,
		} {
			if w := s.as("admin", "PUT", folder+"/Timers/case.json", body); w.Code != want {
				t.Errorf("%s of a completed case: %d %s", body, w.Code, w.Body)
			}
		}
		clock(`{"advance": "P30D"}`)
		if log := s.as("sam", "GET", folder+"/log.json", "").Body.String(); strings.Count(log, "TimerExpired") != 3 {
			t.Errorf("log: %s", log)
		}
	})
}
