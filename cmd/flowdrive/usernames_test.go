package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestNamesOfDirectories: a user may be called as directories call people, with dots and
// @, wherever a name is read or told: log-in, roots of documents, teams, routes, given
// names, the past, renaming.
func TestNamesOfDirectories(t *testing.T) {
	t.Parallel()
	const lee = "ann.lee@example.com"
	withServer(t, func(s *inProcess) {
		wants := func(user string, code int, method, path, body, contains string, header ...string) {
			t.Helper()
			if w := s.as(user, method, path, body, header...); w.Code != code || !strings.Contains(w.Body.String(), contains) {
				t.Errorf("%s: %s %s: %d %s\nwant %d and %q", user, method, path, w.Code, w.Body, code, contains)
			}
		}
		password := "nine plain green horses"
		s.passwords[lee], s.passwords[`PC\Ann.Lee@example.com`] = password, password
		wants("admin", 201, "PUT", "/dav/Admin/Users/ann.lee@example.com.json", `{"password": "`+password+`"}`, "")
		wants("admin", 200, "GET", "/dav/Admin/Users/ann.lee%40example.com.json", "", `"name": "`+lee+`"`)
		for _, name := range []string{"ann..lee", "ann.lee.", "ann.json", "ann@", "ann.tmp"} {
			wants("admin", 422, "PUT", "/dav/Admin/Users/"+name+".json", `{}`, "valid name for a user")
		}
		wants("admin", 422, "PUT", "/dav/Admin/Teams/a.b.json", `{}`, "valid name for a team")
		wants("admin", 201, "PUT", "/dav/Admin/Teams/crew.json", `{"members": ["`+lee+`", "sam"]}`, "")

		wants(`PC\Ann.Lee@example.com`, 200, "GET", "/dav/Account/me.json", "", `"name": "`+lee+`"`)
		wants(lee, 201, "PUT", "/dav/Documents/ann.lee@example.com/notes.txt", "mine", "")
		wants(lee, 200, "GET", "/dav/Documents/Ann.Lee%40Example.com/notes.txt", "", "mine")
		wants("sam", 404, "GET", "/dav/Documents/ann.lee@example.com/notes.txt", "", "")
		wants(lee, 200, "GET", "/dav/Account/People.json", "", `"`+lee+`"`)

		route := `{"context": "crew", "access": {"start": ["crew"], "read": ["` + lee + `"]}, "roles": {"boss": {"assign": ["user:` + lee + `"]}},
			"states": {"open": {"type": "start"}, "done": {"type": "complete"}},
			"actions": {"i": {"trigger": "init", "onFire": [{"addStakeholders": ["` + lee + `"]}, {"assign": {"role": "boss", "to": ["user:` + lee + `"]}}]},
				"do": {"in": ["open"], "role": "boss", "to": "done"}}}`
		wants("admin", 201, "PUT", "/dav/Workflow/Routes/named.json", route, "")
		wants("admin", 422, "PUT", "/dav/Workflow/Routes/wrong.json", strings.ReplaceAll(route, "user:"+lee, "user:ann..lee"), "must be the name of a user")
		wants(lee, 201, "PUT", "/dav/Workflow/Schedule/nightly.json", `{"route": "named", "context": "crew", "type": "cron", "hour": 3, "minute": 0}`, "")
		wants("sam", 207, "PROPFIND", "/dav/Workflow/Schedule/", "", `/nightly@`+lee+`.json<`, "Depth", "1")
		wants("sam", 200, "GET", "/dav/Workflow/Schedule/nightly@ann.lee%40example.com.json", "", `"hour": 3`)
		wants(lee, 201, "PUT", "/dav/Workflow/Cases/mine.json", `{"route": "named"}`, "")
		wants(lee, 200, "GET", "/dav/Workflow/Worklist/Offered/.contents", "", lee)

		s.passwords["ann.lee"] = password
		wants("admin", 201, "MOVE", "/dav/Admin/Users/ann.lee@example.com.json", "", "", "Destination", "/dav/Admin/Users/ann.lee.json")
		wants("ann.lee", 200, "GET", "/dav/Documents/ann.lee/notes.txt", "", "mine")
		wants("sam", 200, "GET", "/dav/Workflow/Schedule/nightly@ann.lee.json", "", `"hour": 3`)
		wants("sam", 200, "GET", "/dav/Workflow/Routes/named/.contents", "", "")
		wants("ann.lee", 204, "DELETE", "/dav/Workflow/Schedule/nightly.json", "", "")
		wants("admin", 200, "GET", "/dav/Admin/Users/.contents", "", `"ann.lee"`)

		form := url.Values{"name": {"ann.lee"}, "password": {password}}.Encode()
		w := s.as("", http.MethodPost, "/login", form, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
		if w.Code != http.StatusSeeOther {
			t.Fatalf("log-in to the pages: %d %s", w.Code, w.Body)
		}
	})
}
