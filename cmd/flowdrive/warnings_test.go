package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestWarningsInAnswers: a script that stores a route or an entry is told of what it may
// not have meant. Without warnings the body is empty, and mounting clients have none.
func TestWarningsInAnswers(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		const (
			steps  = `{"type": "crontab", "spec": "*/90 * * * *", "route": "bug"}`
			clean  = `{"type": "crontab", "spec": "*/30 * * * *", "route": "bug"}`
			nobody = "roles: {clerk: {assign: ['team:nobody']}}\nstates: {a: {type: start}, b: {type: complete}}\nactions: {begin: {trigger: init}, end: {in: [a], role: clerk, to: b}}\n"
		)
		for _, test := range []struct {
			path, body, agent string
			status            int
			says              string
		}{
			{"/dav/Workflow/Schedule/often.json", steps, "curl/8", http.StatusCreated, "*/90"},
			{"/dav/Workflow/Schedule/often.json", steps, "curl/8", http.StatusOK, "*/90"},
			{"/dav/Workflow/Schedule/often.json", clean, "curl/8", http.StatusNoContent, ""},
			{"/dav/Workflow/Schedule/other.json", steps, "davfs2/1.6", http.StatusCreated, ""},
			{"/dav/Workflow/Routes/lonely.yaml", nobody, "curl/8", http.StatusCreated, "nobody"},
			{"/dav/Workflow/Routes/lonely.yaml", nobody + "title: Lonely\n", "curl/8", http.StatusOK, "nobody"},
			{"/dav/Workflow/Routes/lonelier.yaml", nobody, "davfs2/1.6", http.StatusCreated, ""},
		} {
			w := s.as("admin", "PUT", test.path, test.body, "User-Agent", test.agent)
			body := w.Body.String()
			if w.Code != test.status || (body == "") != (test.says == "") || !strings.Contains(body, test.says) || body != "" && !strings.HasPrefix(body, `{"warnings":["`) {
				t.Errorf("%s by %s: %d %q", test.path, test.agent, w.Code, body)
			}
		}
	})
}
