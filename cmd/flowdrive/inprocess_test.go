package main

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// inProcess is the whole server in this process, without a network: a
// sandbox in a folder of its own.
type inProcess struct {
	*testing.T
	*app
	passwords map[string]string
}

// withServer lets f use a server.
func withServer(t *testing.T, f func(s *inProcess)) {
	t.Helper()
	withSettings(t, &settings{data: t.TempDir(), sandbox: "2012-11-09T12:34:56Z", logLevel: "error"}, nil, func(s *inProcess) {
		for _, name := range []string{"sam", "ann"} {
			s.passwords[name] = "a password of " + name
			s.must(http.MethodPut, "/dav/Admin/Users/"+name+".json", `{"password": "`+s.passwords[name]+`"}`)
		}
		f(s)
	})
}

// withSettings lets f use a server with those settings and passwords. That of the
// administrator is added. With -short, a test that needs a server is skipped.
func withSettings(t *testing.T, settings *settings, passwords map[string]string, f func(s *inProcess)) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it runs a server")
	}
	a, err := openApp(t.Context(), settings, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if passwords == nil {
		passwords = make(map[string]string)
	}
	err = a.during(t.Context(), func() error {
		if passwords["admin"] == "" { // the server has made it by now
			passwords["admin"] = cmp.Or(a.password, os.Getenv("FLOWDRIVE_ADMIN_PASSWORD"))
		}
		f(&inProcess{T: t, app: a, passwords: passwords})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// as makes a request as that user, "" for nobody.
func (s *inProcess) as(user, method, path, body string, header ...string) *httptest.ResponseRecorder {
	s.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body)).WithContext(s.Context())
	r.Header.Set("User-Agent", "curl/8.5")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if user != "" {
		r.SetBasicAuth(user, s.passwords[user])
	}
	w := httptest.NewRecorder()
	if path == "/events" {
		s.server.Handler().ServeHTTP(hangUp(w, r))
		return w
	}
	s.server.Handler().ServeHTTP(w, r)
	return w
}

// must makes a request as administrator that has to succeed.
func (s *inProcess) must(method, path, body string, header ...string) *httptest.ResponseRecorder {
	s.Helper()
	w := s.as("admin", method, path, body, header...)
	if w.Code >= http.StatusMultipleChoices {
		s.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return w
}
