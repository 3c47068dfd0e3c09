package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestDocumentsNameTheirSchema: every document may name the schema that it follows, as
// editors write it, in JSON and YAML. Elsewhere in it, or as no text, it is a fault.
func TestDocumentsNameTheirSchema(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		f := s.furnish()
		const is = `"$schema": "../Schemas/x.schema.json"`
		for _, test := range []struct{ path, body string }{
			{"/dav/Workflow/Schedule/a.json", `{` + is + `, "type": "interval", "route": "bug", "hours": 8}`},
			{"/dav/Workflow/Schedule/b.yaml", "$schema: x\ntype: interval\nroute: bug\nhours: 8\n"},
			{"/dav/Workflow/Routes/r.json", `{` + is + `, "states": {"a": {"type": "start"}}, "actions": {"begin": {"trigger": "init"}}}`},
			{"/dav/Workflow/Routes/q.yaml", "$schema: x\nstates: {a: {type: start}}\nactions: {begin: {trigger: init}}\n"},
			{"/dav/Workflow/Cases/new.json", `{` + is + `, "route": "bug"}`},
			{"/dav/Workflow/Cases/" + f.id + ".json", `{` + is + `, "title": "Smoke"}`},
			{"/dav/Workflow/Cases/" + f.id + "/Actions/comment.json", `{` + is + `, "comment": "Well."}`},
			{"/dav/Workflow/Cases/" + f.id + "/Timers/comment.due.json", `{` + is + `, "limit": 300}`},
			{"/dav/Account/me.json", `{` + is + `}`},
			{"/dav/Account/AppPasswords/tv.json", `{` + is + `}`},
			{"/dav/Account/CalendarLinks/tv.json", `{` + is + `}`},
			{"/dav/Admin/Users/joe.json", `{` + is + `}`},
			{"/dav/Admin/Teams/them.json", `{` + is + `}`},
			{"/dav/Admin/Holds/night.json", `{` + is + `, "group": "night"}`},
		} {
			if w := s.as("admin", "PUT", test.path, test.body); w.Code >= http.StatusMultipleChoices {
				t.Errorf("%s: %d %s", test.path, w.Code, w.Body)
			}
			broken := strings.Replace(test.body, is, `"$schema": 1`, 1)
			if broken == test.body {
				continue
			}
			if w := s.as("admin", "PUT", test.path, broken); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "/$schema") {
				t.Errorf("%s with a schema that is a number: %d %s", test.path, w.Code, w.Body)
			}
		}
		if w := s.as("admin", "PUT", "/dav/Workflow/Routes/r.json", `{"states": {"a": {"type": "start", "$schema": "x"}}, "actions": {"begin": {"trigger": "init"}}}`); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("a schema of a state: %d", w.Code)
		}
	})
}
