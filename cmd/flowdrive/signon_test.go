package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"flowdrive/internal/document"
	"flowdrive/internal/signon"
	"flowdrive/internal/signontest"
)

// atProvider logs a person of the provider in, and returns the address to which they are
// sent back.
func atProvider(t *testing.T, from, user string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == "example.com" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	fetch := func(method, at, body string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(text)
	}
	page, body := fetch(http.MethodGet, from, "") //nolint:bodyclose // fetch closes it
	id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindStringSubmatch(body)
	if id == nil {
		t.Fatalf("the provider shows no form: %s", body)
	}
	sent := url.Values{"id": {id[1]}, "username": {user}, "password": {"verysecure"}}.Encode()
	back, body := fetch(http.MethodPost, page.Request.URL.Scheme+"://"+page.Request.URL.Host+"/login/username", sent) //nolint:bodyclose // fetch closes it
	if to := back.Header.Get("Location"); to != "" {
		return to
	}
	t.Fatalf("the provider sends nobody back: %d %s", back.StatusCode, body)
	return ""
}

// TestSignOn: people log in at a real provider. They are found by what it calls them for
// ever, made if that is allowed, and never by their name alone.
func TestSignOn(t *testing.T) { //nolint:paralleltest // the provider of the test has its clients in one place
	p := signontest.Provider(t, "http://example.com/login/oidc/callback")
	const user = "test-user@127.0.0.1"
	teams := mapFlag{}
	if err := teams.Set("{User: staff, Nobody: others}"); err != nil {
		t.Fatal(err)
	}
	s := &settings{data: t.TempDir(), sandbox: "2012-11-09T12:34:56Z", logLevel: "error", publicURL: "http://example.com", signOn: signOnSettings{
		issuer: p.URL + "/", client: signontest.ClientID, secret: secretFlag{signontest.ClientSecret}, nameClaim: "preferred_username", groupsClaim: "family_name", teams: teams,
	}}
	withSettings(t, s, nil, func(s *inProcess) {
		s.must("PUT", "/dav/Admin/Teams/staff.json", `{}`)
		s.must("PUT", "/dav/Admin/Teams/others.json", `{}`)
		// begin sends a browser to the provider, and returns where it is sent and its cookie.
		begin := func() (to string, cookie *http.Cookie) {
			t.Helper()
			w := s.as("", http.MethodGet, "/login/oidc?next=/cases", "")
			to = w.Header().Get("Location")
			if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, p.URL+"/auth?") || !strings.Contains(to, "code_challenge_method=S256") || !strings.Contains(to, "nonce=") {
				t.Fatalf("to the provider: %d %q %s", w.Code, to, w.Body)
			}
			return to, w.Result().Cookies()[0]
		}
		logIn := func(name string) *httptest.ResponseRecorder {
			t.Helper()
			to, cookie := begin()
			back := atProvider(t, to, name)
			return s.as("", http.MethodGet, strings.TrimPrefix(back, "http://example.com"), "", "Cookie", cookie.String())
		}
		refused := func(what string, w *httptest.ResponseRecorder, status int, text string) {
			t.Helper()
			if w.Code != status || !strings.Contains(w.Body.String(), text) || strings.Contains(w.Header().Get("Set-Cookie"), "fd=") {
				t.Errorf("%s: %d, want %d and %q: %s", what, w.Code, status, text, w.Body)
			}
		}
		if page := s.as("", http.MethodGet, "/login", ""); !strings.Contains(page.Body.String(), `href="/login/oidc">Log in with 127.0.0.1`) {
			t.Errorf("the page of the log-in: %s", page.Body)
		}
		refused("nobody is made", logIn(user), 401, "no user here who is connected")
		s.settings.signOn.create = true
		if err := s.openPagesAgain(); err != nil {
			t.Fatal(err)
		}
		s.must("PUT", "/dav/Admin/Users/"+user+".json", `{}`)
		refused("a name in use", logIn(user), 401, "in use here by somebody")
		s.must("DELETE", "/dav/Admin/Users/"+user+".json", "")
		first := logIn(user)
		if first.Code != http.StatusSeeOther || first.Header().Get("Location") != "/cases" || !strings.Contains(strings.Join(first.Header().Values("Set-Cookie"), "\n"), "fd=") {
			t.Fatalf("the first log-in: %d %s", first.Code, first.Body)
		}
		form := s.must("GET", "/dav/Admin/Users/"+user+".json", "").Body.String()
		if !strings.Contains(form, `"origin": "oidc `+p.URL+`/ id1"`) || !strings.Contains(form, `"fullName": "Test User"`) || !strings.Contains(form, `"email": "test-user@zitadel.ch"`) {
			t.Errorf("the user that was made: %s", form)
		}
		if team := s.must("GET", "/dav/Admin/Teams/staff.json", "").Body.String(); !strings.Contains(team, user) {
			t.Errorf("the team of the group: %s", team)
		}
		// Under another name, in other teams, the same person is the same user.
		s.must("MOVE", "/dav/Admin/Users/"+user+".json", "", "Destination", "/dav/Admin/Users/tess.json")
		s.must("PUT", "/dav/Admin/Teams/others.json", `{"members": ["tess"]}`)
		if w := logIn(user); w.Code != http.StatusSeeOther {
			t.Errorf("after a new name: %d %s", w.Code, w.Body)
		}
		if team := s.must("GET", "/dav/Admin/Teams/others.json", "").Body.String(); strings.Contains(team, "tess") {
			t.Errorf("a team whose group they are not in: %s", team)
		}
		if w := s.as("", http.MethodPost, "/logout", "", "Cookie", cookieOf(first, "fd"), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden {
			t.Errorf("log-out by a page of others: %d %s", w.Code, w.Body)
		}
		if w := s.as("", http.MethodGet, "/cases", "", "Cookie", cookieOf(first, "fd")); w.Code != 200 {
			t.Errorf("after it: %d", w.Code)
		}
		out := s.as("", http.MethodPost, "/logout", "", "Cookie", cookieOf(first, "fd"), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
		if out.Code != 200 || !strings.Contains(out.Body.String(), "/end_session?client_id=flowdrive") {
			t.Errorf("log-out: %d %s", out.Code, out.Body)
		}
		s.must("PUT", "/dav/Admin/Users/tess.json", `{"disabled": true}`)
		refused("a disabled user", logIn(user), 401, "disabled")
		s.must("PUT", "/dav/Admin/Users/tess.json", `{"disabled": false}`)

		to, cookie := begin()
		for what, query := range map[string]string{"another state": "?code=x&state=x", "no state": "?code=x", "no question": ""} {
			refused(what, s.as("", http.MethodGet, "/login/oidc/callback"+query, "", "Cookie", cookie.String()), 401, "not begun in this browser")
		}
		back := strings.TrimPrefix(atProvider(t, to, user), "http://example.com")
		refused("another browser", s.as("", http.MethodGet, back, ""), 401, "not begun in this browser")
		if w := s.as("", http.MethodGet, back, "", "Cookie", cookie.String()); w.Code != http.StatusSeeOther {
			t.Errorf("the browser in which it has begun: %d %s", w.Code, w.Body)
		}
		refused("the same code again", s.as("", http.MethodGet, back, "", "Cookie", cookie.String()), 401, "did not take the code")
		to, cookie = begin()
		state, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		at := "/login/oidc/callback?state=" + state.Query().Get("state")
		refused("a code of nobody", s.as("", http.MethodGet, at+"&code=x", "", "Cookie", cookie.String()), 401, "did not take the code")
		refused("an answer of another provider", s.as("", http.MethodGet, at+"&code=x&iss=https%3A%2F%2Fevil.example.org", "", "Cookie", cookie.String()), 401, "not of the provider")
		// Who puts their own code into the log-in of somebody else does not log them in as themselves.
		theirs, _ := begin()
		stolen, err := url.Parse(atProvider(t, theirs, user))
		if err != nil {
			t.Fatal(err)
		}
		refused("the code of another log-in", s.as("", http.MethodGet, at+"&code="+stolen.Query().Get("code"), "", "Cookie", cookie.String()), 401, "did not take the code")
		for _, next := range []string{"https://evil.example.org/", "//evil.example.org/", `/\evil.example.org`, "/%2Fevil.example.org", "javascript:alert(1)"} {
			w := s.as("", http.MethodGet, "/login/oidc?next="+url.QueryEscape(next), "")
			back := strings.TrimPrefix(atProvider(t, w.Header().Get("Location"), user), "http://example.com")
			if w := s.as("", http.MethodGet, back, "", "Cookie", w.Result().Cookies()[0].String()); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/tasks" {
				t.Errorf("a log-in that is to lead to %s: %d %q", next, w.Code, w.Header().Get("Location"))
			}
		}

		p.Close()
		if err := s.openPagesAgain(); err != nil { // as after a restart
			t.Fatal(err)
		}
		refused("a provider that is away", s.as("", http.MethodGet, "/login/oidc", ""), 503, "does not answer")
	})
}

// cookieOf returns the cookie of that name as a browser sends it.
func cookieOf(w *httptest.ResponseRecorder, name string) string {
	for _, c := range w.Result().Cookies() {
		if c.Name == name {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

// openPagesAgain opens the provider as a start of the server with these settings does.
func (a *app) openPagesAgain() error {
	opened, err := a.openSignOn()
	if err == nil {
		*a.provider = *opened
	}
	return err
}

// TestSignOnSettings: each setting that cannot be has a sentence that says what to do, and
// none has the secret.
func TestSignOnSettings(t *testing.T) {
	t.Parallel()
	full := signOnSettings{issuer: "https://login.example.org", client: "flowdrive"}
	for name, test := range map[string]struct {
		change func(s *signOnSettings, public *string)
		want   string
	}{
		"all is well":          {func(*signOnSettings, *string) {}, ""},
		"nothing":              {func(s *signOnSettings, _ *string) { *s = signOnSettings{} }, ""},
		"no client":            {func(s *signOnSettings, _ *string) { s.client = "" }, "needs --oidc-client-id"},
		"no public address":    {func(_ *signOnSettings, public *string) { *public = "" }, "needs --public-url"},
		"plain HTTP":           {func(s *signOnSettings, _ *string) { s.issuer = "http://login.example.org" }, "must begin with https://"},
		"no address":           {func(s *signOnSettings, _ *string) { s.issuer = "login" }, "not a valid address"},
		"two secrets":          {func(s *signOnSettings, _ *string) { s.secret.text, s.secretFile = "hush", "/dev/null" }, "give one of them"},
		"a secret that is not": {func(s *signOnSettings, _ *string) { s.secretFile = "/nowhere" }, "/nowhere"},
		"no issuer":            {func(s *signOnSettings, _ *string) { s.issuer = "" }, "do nothing without --oidc-issuer"},
		"a wrong team": {func(s *signOnSettings, _ *string) {
			node, err := document.ParseYAML([]byte("{g: a team}"))
			if err == nil {
				err = s.teams.take(node, "")
			}
			if err != nil {
				panic(err)
			}
		}, "not a valid name for a team"},
	} {
		s, public := full, "https://flow.example.org"
		test.change(&s, &public)
		_, _, err := s.oidc(public)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) || err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	err := signon.NewOIDC(signon.OIDCConfig{Issuer: "http://127.0.0.1:1"}).Check(t.Context())
	if err == nil || !strings.Contains(err.Error(), "look at oidc-issuer") {
		t.Errorf("a provider that is away: %v", errors.Unwrap(err))
	}
}
