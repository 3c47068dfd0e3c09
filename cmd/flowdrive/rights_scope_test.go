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

// TestFolderOfAScopeStays: who has the app password of a folder does what there is in it, and
// does not take the folder away or put another in its place.
func TestFolderOfAScopeStays(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		for _, folder := range []string{"in", "in/sub"} {
			if w := s.as("ann", "MKCOL", "/dav/Documents/ann/"+folder, ""); w.Code != http.StatusCreated {
				t.Fatalf("%s: %d %s", folder, w.Code, w.Body)
			}
		}
		for scope, want := range map[string]int{"Documents/sam": 422, "Documents/nobody/x": 422, "Documents": 201, "Documents/ann/later": 201, "Documents/everyone": 201} {
			w := s.as("ann", "PUT", "/dav/Account/AppPasswords/"+strings.ReplaceAll(scope, "/", "-")+".json", fmt.Sprintf(`{"scope": %q}`, scope))
			if w.Code != want || want == 422 && !strings.Contains(w.Body.String(), "that you can see") {
				t.Errorf("scope %s: %d, want %d: %s", scope, w.Code, want, w.Body)
			}
		}
		made := s.as("ann", "PUT", "/dav/Account/AppPasswords/in.json", `{"scope": "/dav/Documents/ann/in"}`).Body.String()
		s.passwords["ann"] = regexp.MustCompile(`fd-[a-z2-7]+`).FindString(made)
		for _, test := range []struct {
			method, at, to string
			want           int
		}{
			{"DELETE", "/dav/Documents/ann/in", "", 403},
			{"DELETE", "/dav/Documents/ann/in/", "", 403},
			{"MOVE", "/dav/Documents/ann/in", "/dav/Documents/ann/in/sub/in", 403},
			{"MOVE", "/dav/Documents/ann/in/sub", "/dav/Documents/ann/in", 403},
			{"COPY", "/dav/Documents/ann/in/sub", "/dav/Documents/ann/in/", 403},
			{"PROPFIND", "/dav/Documents/ann/in", "", 207},
			{"COPY", "/dav/Documents/ann/in/sub", "/dav/Documents/ann/in/copy", 201},
			{"MOVE", "/dav/Documents/ann/in/copy", "/dav/Documents/ann/in/moved", 201},
			{"DELETE", "/dav/Documents/ann/in/moved", "", 204},
		} {
			var header []string
			if test.to != "" {
				header = []string{"Destination", test.to}
			}
			w := s.as("ann", test.method, test.at, "", header...)
			if w.Code != test.want || test.want == 403 && !strings.Contains(w.Body.String(), "the folder itself stays") {
				t.Errorf("%s %s %s: %d, want %d: %s", test.method, test.at, test.to, w.Code, test.want, w.Body)
			}
		}
	})
}
