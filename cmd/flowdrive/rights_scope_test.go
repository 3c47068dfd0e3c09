package main

import (
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestScopedAppPassword: the app password of an administrator whose scope is a folder does
// nothing that reaches beyond the folder: neither by an address nor by what a document names,
// and nothing that goes on without it. One for reading changes nothing.
func TestScopedAppPassword(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.must("PUT", "/dav/Workflow/Routes/buy.yaml", "access: {start: [admin]}\nstates: {open: {type: start}}\nactions: {begin: {trigger: init}}\n")
		s.must("PUT", "/dav/Documents/admin/secret.txt", "a secret")
		attachment := path.Base(s.must("PUT", "/attachfs/secret.txt", "a secret").Header().Get("Location"))
		own := s.passwords["admin"]
		logIn := func(label, scope string) {
			t.Helper()
			s.passwords["admin"] = own
			made := s.must("PUT", "/dav/Account/AppPasswords/"+label+".json", fmt.Sprintf(`{"scope": %q}`, scope)).Body.String()
			s.passwords["admin"] = regexp.MustCompile(`fd-[a-z2-7]+`).FindString(made)
		}
		try := func(what, method, at, body string, want int, header ...string) {
			t.Helper()
			if w := s.as("admin", method, at, body, header...); w.Code != want {
				t.Errorf("%s: %s %s %s: %d, want %d: %.300s", what, method, at, body, w.Code, want, w.Body)
			}
		}
		const (
			hook   = "/dav/Workflow/Routes/buy/Hooks/pushes.json"
			always = `"route": "buy", "type": "interval", "days": 1`
		)
		document := func(name string) string { return `{"route": "buy", "document": "/dav/Documents/admin/` + name + `"}` }
		for i, scope := range []string{"Workflow/Routes/buy", "Workflow/Routes", "Workflow", "all"} {
			logIn(fmt.Sprint("hooks", i), scope)
			try(scope, "PUT", hook, `{}`, http.StatusForbidden)
			try(scope, "PUT", "/dav/Account/CalendarLinks/x.json", `{}`, http.StatusForbidden)
			try(scope, "PUT", "/dav/Account/AppPasswords/x.json", `{}`, http.StatusForbidden)
		}
		logIn("cases", "Workflow")
		try("a document beyond", "PUT", "/dav/Workflow/Cases/a.json", document("secret.txt"), http.StatusUnprocessableEntity)
		try("an attachment beyond", "PUT", "/dav/Workflow/Cases/a.json", `{"route": "buy", "attachmentUUID": "`+attachment+`"}`, http.StatusUnprocessableEntity)
		try("a document beyond, of an entry", "PUT", "/dav/Workflow/Schedule/a.json", `{`+always+`, "document": "/dav/Documents/admin/secret.txt"}`, http.StatusUnprocessableEntity)
		try("an attachment beyond, of an entry", "PUT", "/dav/Workflow/Schedule/a.json", `{`+always+`, "attachmentUUID": "`+attachment+`"}`, http.StatusUnprocessableEntity)
		try("a copy from beyond", "COPY", "/dav/Documents/admin/secret.txt", "", http.StatusForbidden, "Destination", "/dav/Workflow/Routes/buy/secret.txt")
		try("a copy to beyond", "COPY", "/dav/Workflow/Routes/buy.yaml", "", http.StatusForbidden, "Destination", "/dav/Documents/admin/buy.yaml")
		try("the events", "GET", "/events", "", http.StatusForbidden)
		try("the clock", "POST", "/clock", `{"advance": "PT1H"}`, http.StatusForbidden)
		try("what it is for", "PUT", "/dav/Workflow/Cases/a.json", `{"route": "buy"}`, http.StatusCreated)
		try("what it is for, of an entry", "PUT", "/dav/Workflow/Schedule/a.json", `{`+always+`}`, http.StatusCreated)
		if text := s.as("admin", "PUT", "/dav/Workflow/Cases/b.json", document("secret.txt")).Body.String(); !strings.Contains(text, "is not in /dav/Workflow, which alone this app password is for") {
			t.Errorf("the refusal does not say why: %s", text)
		}
		logIn("reading", "read")
		try("a read", "GET", "/dav/Documents/admin/secret.txt", "", http.StatusOK)
		for _, method := range []string{"PUT", "DELETE", "MKCOL", "PROPPATCH", "LOCK", "POST"} {
			try("for reading", method, "/dav/Documents/admin/secret.txt", "", http.StatusForbidden)
		}
		logIn("everything", "all")
		try("all", "PUT", "/dav/Workflow/Cases/c.json", document("secret.txt"), http.StatusCreated)
	})
}
