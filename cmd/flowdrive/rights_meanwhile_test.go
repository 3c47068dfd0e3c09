package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// drip is a body in whose midst something happens.
type drip struct {
	parts     []string
	meanwhile func()
}

func newDrip(body string, meanwhile func()) *drip {
	return &drip{[]string{body[:len(body)/2], body[len(body)/2:]}, meanwhile}
}

func (d *drip) Read(p []byte) (int, error) {
	if len(d.parts) == 1 && d.meanwhile != nil {
		d.meanwhile()
		d.meanwhile = nil
	}
	if len(d.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.parts[0])
	if d.parts[0] = d.parts[0][n:]; d.parts[0] == "" {
		d.parts = d.parts[1:]
	}
	return n, nil
}

// asked is a request, with the credentials that it comes with.
type asked struct{ user, password, method, path, body string }

func (s *inProcess) do(a asked, body io.Reader, w http.ResponseWriter) {
	r := httptest.NewRequest(a.method, a.path, body).WithContext(s.Context())
	r.Header.Set("User-Agent", "curl/8.5")
	r.Header.Set("Content-Type", "application/json")
	if a.method == "PROPFIND" {
		r.Header.Set("Depth", "1")
	}
	r.SetBasicAuth(a.user, a.password)
	s.server.Handler().ServeHTTP(w, r)
}

const (
	bossPassword = "a password of boss"
	bobPassword  = "a password of bob"
)

// staff makes boss, an administrator, and bob, who is in the team ops and has
// an app password, which is returned.
func (s *inProcess) staff() (device string) {
	s.must("PUT", "/dav/Admin/Users/boss.json", `{"password": "`+bossPassword+`", "admin": true}`)
	s.must("PUT", "/dav/Admin/Users/bob.json", `{"password": "`+bobPassword+`"}`)
	s.must("PUT", "/dav/Admin/Teams/ops.json", `{"members": ["bob", "boss"]}`)
	for _, a := range []asked{
		{"boss", bossPassword, "PUT", "/dav/Workflow/Routes/own.yaml", "context: ops\nstates: {open: {type: start}, shut: {type: complete}}\n" +
			"actions:\n  begin: {trigger: init}\n  close: {in: [open], to: shut, allowed: [everyone]}\n"},
		{"boss", bossPassword, "PUT", "/dav/Documents/ops/there", "as it was"},
		{"bob", bobPassword, "PUT", "/dav/Account/AppPasswords/laptop.json", "{}"},
	} {
		w := httptest.NewRecorder()
		if s.do(a, strings.NewReader(a.body), w); w.Code != http.StatusCreated {
			s.Fatalf("%s: %d %s", a.path, w.Code, w.Body)
		}
		device = regexp.MustCompile(`fd-[a-z2-7]+`).FindString(w.Body.String())
	}
	return device
}

// stored is what the administrator sees of everything.
func (s *inProcess) stored() string {
	var out strings.Builder
	for _, path := range []string{
		"/dav/Workflow/Schedule", "/dav/Workflow/Routes", "/dav/Workflow/Cases", "/dav/Admin/Users", "/dav/Admin/Teams", "/dav/Admin/Holds",
		"/dav/Documents/bob", "/dav/Documents/ops", "/dav/Documents/everyone",
	} {
		fmt.Fprintf(&out, "%s\n%s", path, s.must("GET", path+"/.contents", "").Body)
	}
	return out.String() + s.must("GET", "/clock", "").Body.String()
}

// TestRightsEndMeanwhile: who loses a right while the body of a request comes is
// answered as a request that begins then, and nothing is changed.
func TestRightsEndMeanwhile(t *testing.T) {
	t.Parallel()
	const (
		disabled = `{"disabled": true}`
		lost     = `{"admin": false}`
		changed  = `{"password": "another password"}`
		bob      = "/dav/Admin/Users/bob.json"
		boss     = "/dav/Admin/Users/boss.json"
		ops      = "/dav/Admin/Teams/ops.json"
	)
	type event struct{ method, path, body string }
	team := event{"PUT", ops, `{"members": ["boss"]}`}
	admin := func(path, body string) asked { return asked{"boss", bossPassword, "PUT", path, body} }
	own := func(method, path, body string) asked { return asked{"bob", bobPassword, method, path, body} }
	device := func(method, path, body string) asked { return asked{"bob", "", method, path, body} }
	const entry = `{"route": "own", "context": "ops", "cron": "0 0 * * *"}`
	for what, tt := range map[string]struct {
		asked asked
		event event
		want  int
	}{
		"a disabled administrator makes another one": {admin("/dav/Admin/Users/backdoor.json", `{"password": "backdoor", "admin": true}`), event{"PUT", boss, disabled}, 401},
		"a former administrator makes another one":   {admin("/dav/Admin/Users/backdoor.json", `{"password": "backdoor", "admin": true}`), event{"PUT", boss, lost}, 404},
		"with a password that was changed":           {admin("/dav/Admin/Users/backdoor.json", `{"password": "backdoor", "admin": true}`), event{"PUT", boss, changed}, 401},
		"a former administrator changes a team":      {admin("/dav/Admin/Teams/more.json", `{"members": ["boss"]}`), event{"PUT", boss, lost}, 404},
		"a former administrator holds":               {admin("/dav/Admin/Holds/all.json", `{"route": "own", "reason": "mine"}`), event{"PUT", boss, lost}, 404},
		"a former administrator moves the clock":     {asked{"boss", bossPassword, "POST", "/clock", `{"advance": "P1D"}`}, event{"PUT", boss, lost}, 403},
		"a disabled administrator moves the clock":   {asked{"boss", bossPassword, "POST", "/clock", `{"advance": "P1D"}`}, event{"PUT", boss, disabled}, 401},
		"a disabled user's app password":             {own("PUT", "/dav/Account/AppPasswords/more.json", `{}`), event{"PUT", bob, disabled}, 401},
		"a disabled user's new password":             {own("PUT", "/dav/Account/me.json", `{"fullName": "Bob"}`), event{"PUT", bob, disabled}, 401},
		"a document of a deleted user":               {asked{"gone", "a password of gone", "PUT", "/dav/Documents/gone/x", "text"}, event{"DELETE", "/dav/Admin/Users/gone.json", ""}, 401},
		"a document with a revoked app password":     {device("PUT", "/dav/Documents/bob/x", "some text"), event{"revoke", "", ""}, 401},
		"a route with a revoked app password":        {device("PUT", "/dav/Workflow/Routes/x.yaml", small(1)), event{"revoke", "", ""}, 401},
		"a folder's members, disabled":               {own("PROPFIND", "/dav/Documents/bob/", `<propfind xmlns="DAV:"><allprop/></propfind>`), event{"PUT", bob, disabled}, 401},
		"what is in memory, disabled":                {own("PROPFIND", "/dav/Account/", `<propfind xmlns="DAV:"><allprop/></propfind>`), event{"PUT", bob, disabled}, 401},
		"a document of a team that was left":         {own("PUT", "/dav/Documents/ops/x", "some text"), team, 404},
		"a document there is":                        {own("PUT", "/dav/Documents/ops/there", "some text"), team, 404},
		"a property of a document":                   {own("PROPPATCH", "/dav/Documents/ops/there", noTimestamp), team, 404},
		"the members of its folder":                  {own("PROPFIND", "/dav/Documents/ops/", `<propfind xmlns="DAV:"><allprop/></propfind>`), team, 404},
		"an entry of a team that was left":           {own("PUT", "/dav/Workflow/Schedule/x.json", entry), team, 422},
		"a case of a team that was left":             {own("PUT", "/dav/Workflow/Cases/x.json", `{"route": "own"}`), team, 422},
		"a route of a team that was left":            {own("PUT", "/dav/Workflow/Routes/x.yaml", "context: ops\n"+small(1)), team, 403},
		"a file dropped on the team's route":         {own("PUT", "/dav/Workflow/Routes/own/x.csv", "a,b,c"), team, 404},
		"a lock on what was the team's":              {own("LOCK", "/dav/Documents/ops/there", `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`), team, 404},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			withServer(t, func(s *inProcess) {
				laptop := s.staff()
				s.must("PUT", "/dav/Admin/Users/gone.json", `{"password": "a password of gone"}`)
				if tt.asked.password == "" {
					tt.asked.password = laptop
				}
				var before string
				happens := func() {
					if tt.event.method == "revoke" {
						s.do(own("DELETE", "/dav/Account/AppPasswords/laptop.json", ""), http.NoBody, httptest.NewRecorder())
					} else {
						s.must(tt.event.method, tt.event.path, tt.event.body)
					}
					before = s.stored()
				}
				w := httptest.NewRecorder()
				s.do(tt.asked, newDrip(tt.asked.body, happens), w)
				if w.Code != tt.want {
					t.Errorf("got %d, want %d: %.300s", w.Code, tt.want, w.Body)
				}
				fresh := httptest.NewRecorder()
				s.do(tt.asked, strings.NewReader(tt.asked.body), fresh)
				if fresh.Code != tt.want {
					t.Errorf("a request that begins then gets %d, want %d: %.300s", fresh.Code, tt.want, fresh.Body)
				}
				if diff := gocmp.Diff(before, s.stored()); diff != "" {
					t.Errorf("something was changed: %s", diff)
				}
			})
		})
	}
}

// TestRightsGoOn: a request that takes its caller's own rights away is done,
// and answered; one whose caller keeps the right goes on, whatever else changes.
func TestRightsGoOn(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		laptop := s.staff()
		try := func(a asked, meanwhile func(), want int) {
			t.Helper()
			w := httptest.NewRecorder()
			s.do(a, newDrip(a.body, meanwhile), w)
			if w.Code != want {
				t.Errorf("%s %s %s: got %d, want %d: %.300s", a.method, a.path, a.body, w.Code, want, w.Body)
			}
		}
		bob := func(method, path, body string) asked { return asked{"bob", bobPassword, method, path, body} }
		boss := func(method, path, body string) asked { return asked{"boss", bossPassword, method, path, body} }
		try(bob("PUT", "/dav/Documents/bob/x", "some text"), func() {
			s.must("PUT", "/dav/Admin/Teams/ops.json", `{"members": []}`)
			s.must("PUT", "/dav/Admin/Users/boss.json", `{"fullName": "The Boss"}`)
		}, http.StatusCreated)
		s.must("PUT", "/dav/Admin/Teams/ops.json", `{"members": ["bob", "boss"]}`)
		try(bob("PUT", "/dav/Workflow/Cases/x.json", `{"route": "own"}`), nil, http.StatusCreated)
		try(asked{"bob", laptop, "PUT", "/dav/Documents/bob/y", "some text"}, func() {
			try(bob("PUT", "/dav/Account/me.json", `{"password": "yet another", "oldPassword": "`+bobPassword+`"}`), nil, http.StatusNoContent)
		}, http.StatusCreated)
		try(boss("PUT", "/dav/Admin/Users/boss.json", `{"fullName": "Boss", "disabled": true}`), nil, http.StatusNoContent)
		s.must("PUT", "/dav/Admin/Users/boss.json", `{"disabled": false}`)
		try(boss("PUT", "/dav/Admin/Users/boss.json", `{"admin": false}`), nil, http.StatusNoContent)
		s.must("PUT", "/dav/Admin/Users/boss.json", `{"admin": true}`)
		try(boss("PUT", "/dav/Admin/Users/boss.json", `{"password": "another password"}`), nil, http.StatusNoContent)
	})
}

// slow is the answer to somebody who stops reading it for a while.
type slow struct {
	*httptest.ResponseRecorder
	after     int // bytes
	meanwhile func()
}

func (s *slow) Write(p []byte) (int, error) {
	n, err := s.ResponseRecorder.Write(p)
	if s.meanwhile != nil && s.Body.Len() >= s.after {
		s.meanwhile()
		s.meanwhile = nil
	}
	return n, err
}

// TestSlowReaders: an answer that tells what is stored ends when its caller has
// lost access, however slowly it is read. Who has left a team is told nothing
// more of it than the page that was fetched before.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		s.staff()
		const entries = 1100 // three pages
		for i := range entries {
			w := httptest.NewRecorder()
			s.do(asked{"boss", bossPassword, "PUT", fmt.Sprintf("/dav/Workflow/Schedule/e%04d.json", i), ""},
				strings.NewReader(`{"route": "own", "context": "ops", "type": "interval", "weeks": 500}`), w)
			if w.Code != http.StatusCreated {
				s.Fatalf("entry %d: %d %s", i, w.Code, w.Body)
			}
		}
		large := strings.Repeat("0123456789abcdef", 1<<16)
		s.must("PUT", "/dav/Documents/everyone/large", large)
		read := func(path string, meanwhile func()) (told string, broken bool) {
			w := &slow{httptest.NewRecorder(), 1000, meanwhile}
			method := "GET"
			if strings.HasSuffix(path, "/") {
				method = "PROPFIND"
			}
			func() {
				defer func() { broken = recover() == http.ErrAbortHandler }() //nolint:errorlint // a panic's value
				s.do(asked{"bob", bobPassword, method, path, ""}, http.NoBody, w)
			}()
			return w.Body.String(), broken
		}
		const contents, folder = "/dav/Workflow/Schedule/.contents", "/dav/Workflow/Schedule/"
		for _, path := range []string{contents, folder, "/dav/Documents/everyone/large"} {
			whole, broken := read(path, nil)
			if broken || len(whole) < 100_000 {
				t.Errorf("%s: %d bytes, broken off %t", path, len(whole), broken)
			}
			told, broken := read(path, func() { s.must("PUT", "/dav/Admin/Users/bob.json", `{"disabled": true}`) })
			if !broken || len(told) > len(whole)*3/4 {
				t.Errorf("%s: %d of %d bytes went to a disabled user, broken off %t", path, len(told), len(whole), broken)
			}
			s.must("PUT", "/dav/Admin/Users/bob.json", `{"disabled": false}`)
		}
		told, broken := read(contents, func() { s.must("PUT", "/dav/Admin/Teams/ops.json", `{"members": ["boss"]}`) })
		if n := strings.Count(told, `"weeks": 500`); n != 16 || broken || !strings.HasSuffix(told, "\n]\n") {
			t.Errorf("%d entries of %d went to who has left the team, broken off %t; want 16, the first page", n, entries, broken)
		}
	})
}
