package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// auditor writes down what it learns.
type auditor struct {
	mu   sync.Mutex
	rows []string
}

func (a *auditor) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows = append(a.rows, fmt.Sprintf(format, args...))
}

func (a *auditor) LogInRefused(user identity.ID, address, detail string) {
	a.note("log-in %d from %s: %s", user, address, detail)
}

func (a *auditor) RequestRefused(by identity.Principal, address, target string, kind errs.Kind, detail string) {
	a.note("%s by %s from %s: %s: %s", target, by.Name, address, kind, detail)
}

func TestAudit(t *testing.T) {
	t.Parallel()
	var a auditor
	drive := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := errs.Kind(r.Header.Get("X-Fail"))
		if kind != "" {
			WriteError(w, r, &errs.Error{Kind: kind, Detail: "No.", Err: fmt.Errorf("secret cause")})
		}
	})
	x := newRig(t, func(c *Config) { c.Audit, c.Drive = &a, drive })
	for _, test := range []struct {
		name, path, authorization string
		fail                      errs.Kind
		status                    int
		want                      string // "" for no row
	}{
		{"no credentials", "/dav/", "", "", 401, ""},
		{"no credentials that can be read", "/dav/", "Digest x", "", 401, ""},
		{"a token that is none", "/dav/", "Bearer x", "", 401, "log-in 0 from 192.0.2.1: no such app password"},
		{"a wrong password", "/dav/", basic("SAM", "wrong"), "", 401, "log-in 3 from 192.0.2.1: wrong password"},
		{"nobody: the name may be a password", "/dav/", basic("hunter2", "x"), "", 401, "log-in 0 from 192.0.2.1: no such user"},
		{"a disabled user", "/dav/", basic("bob", "secret"), "", 401, "log-in 5 from 192.0.2.1: the user is disabled"},
		{"a right one", "/dav/", basic("sam", "secret"), "", 200, ""},
		{"no right", "/dav/a%20b?password=x", basic("sam", "secret"), errs.NotAllowed, 403, "GET /dav/a%20b by sam from 192.0.2.1: not-allowed: No."},
		{"not one's context", "/dav/x", basic("sam", "secret"), errs.ContextNotAvailable, 403, "GET /dav/x by sam from 192.0.2.1: context-not-available: No."},
		{"a role", "/dav/x", basic("sam", "secret"), errs.RoleNotAssignable, 403, "GET /dav/x by sam from 192.0.2.1: role-not-assignable: No."},
		{"four eyes", "/dav/x", basic("sam", "secret"), errs.FourEyes, 403, "GET /dav/x by sam from 192.0.2.1: four-eyes: No."},
		{"what nobody may", "/dav/x", basic("sam", "secret"), errs.NotMovable, 403, ""},
		{"absent", "/dav/x", basic("sam", "secret"), errs.NotFound, 404, ""},
	} {
		a.rows = nil
		r := httptest.NewRequest("GET", test.path, nil)
		r.Header.Set("Authorization", test.authorization)
		r.Header.Set("X-Fail", string(test.fail))
		if got := x.do(r).Code; got != test.status {
			t.Errorf("%s: %d; want %d", test.name, got, test.status)
		}
		want := []string{test.want}
		if test.want == "" {
			want = nil
		}
		if diff := cmp.Diff(want, a.rows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	for range freeFailures + 2 {
		r := httptest.NewRequest("GET", "/dav/", nil)
		r.Header.Set("Authorization", basic("ann", "wrong"))
		x.do(r)
	}
	if !slices.Contains(a.rows, "log-in 4 from 192.0.2.1: too many failures before") {
		t.Errorf("no row about a log-in that was not even tried: %q", a.rows)
	}
}

func TestCrossSiteRequestsAreAudited(t *testing.T) {
	t.Parallel()
	var a auditor
	x := newRig(t, func(c *Config) { c.Audit = &a })
	r := httptest.NewRequest("PUT", "/dav/x", nil)
	r.Header.Set("Authorization", basic("sam", "secret"))
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	x.do(r)
	want := []string{"PUT /dav/x by sam from 192.0.2.1: not-allowed: A page of another site may not change anything here."}
	if diff := cmp.Diff(want, a.rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
