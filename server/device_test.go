package server

import (
	"context"
	"net/http"
	"net/netip"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestAppPasswords: a device's password works beside the user's own, costs no
// hash, is told apart, and ends at once.
func TestAppPasswords(t *testing.T) {
	t.Parallel()
	g := newGuard()
	g.accounts.set("sam", func(u *account) { u.app = "fd-phone" })
	try := func(what, name, password string, from netip.Addr, kind errs.Kind, device bool, hashes int64) {
		t.Helper()
		before := g.hashes.Load()
		p, err := g.Authenticate(basic(name, password), from)
		if errs.KindOf(err) != kind || p.Device != device {
			t.Errorf("%s: device %v, %v; want %v, kind %q", what, p.Device, err, device, kind)
		}
		if n := g.hashes.Load() - before; n != hashes {
			t.Errorf("%s: %d hashes; want %d", what, n, hashes)
		}
	}
	try("an app password", "Sam", "fd-phone", home, "", true, 0)
	try("the user's own", "sam", "secret", home, "", false, 1)
	try("another's app password", "ann", "fd-phone", home, errs.LogIn, false, 1)
	try("a wrong one", "sam", "fd-tablet", abroad, errs.LogIn, false, 1)

	for range freeFailures + 3 {
		_, _ = g.logIn("sam", "wrong", abroad)
	}
	try("the user's own while it must wait", "sam", "secret", abroad, errs.TooMany, false, 0)
	try("a device's while the user must wait", "sam", "fd-phone", abroad, "", true, 0)
	try("the user's own after the device's", "sam", "secret", abroad, errs.TooMany, false, 0)

	g.accounts.set("sam", func(u *account) { u.factor = true })
	try("the user's own with a second factor", "sam", "secret", home, errs.LogIn, false, 0)
	try("a device's with one", "sam", "fd-phone", home, "", true, 0)
	g.accounts.set("sam", func(u *account) { u.disabled = true })
	try("of a disabled user", "sam", "fd-phone", home, errs.LogIn, false, 1)
	g.accounts.set("sam", func(u *account) { u.disabled, u.app = false, "" })
	try("revoked", "sam", "fd-phone", home, errs.LogIn, false, 1)
}

// TestAppPasswordAsBearer: an app password alone logs its user in, as programs send
// tokens, and ends at once. The user's own password does not.
func TestAppPasswordAsBearer(t *testing.T) {
	t.Parallel()
	g := newGuard()
	g.accounts.set("sam", func(u *account) { u.app = "fd-phone" })
	for _, authorization := range []string{"Bearer fd-phone", "bearer  fd-phone "} {
		p, err := g.Authenticate(authorization, home)
		if err != nil || p.Name != "sam" || !p.Device {
			t.Errorf("%q: %v, device %v, %v", authorization, p.Name, p.Device, err)
		}
	}
	for _, authorization := range []string{"Bearer", "Bearer ", "Bearer secret", "Bearer fd-tablet", "Bearer sam:fd-phone"} {
		if _, err := g.Authenticate(authorization, home); errs.KindOf(err) != errs.LogIn {
			t.Errorf("%q: %v", authorization, err)
		}
	}
	holds := g.Watch("Bearer fd-phone")
	if !holds() {
		t.Error("a log-in does not hold right after it began")
	}
	g.accounts.set("sam", func(u *account) { u.disabled = true })
	if holds() {
		t.Error("a log-in holds although its user is disabled")
	}
	if g.hashes.Load() != 0 {
		t.Errorf("%d passwords were hashed for tokens", g.hashes.Load())
	}
}

// TestConfirm: asking for a password once more is no way around the wait.
func TestConfirm(t *testing.T) {
	t.Parallel()
	g := newGuard()
	ctx := context.WithValue(t.Context(), exchangeKey{}, &exchange{client: home})
	g.accounts.set("sam", func(u *account) { u.app = "fd-phone" })
	for _, test := range []struct {
		what, name, password string
		want                 errs.Kind
	}{
		{"right", "sam", "secret", ""},
		{"an app password is none of the user's own", "sam", "fd-phone", errs.LogIn},
		{"nothing", "sam", "", errs.LogIn},
		{"what no client can send", "sam", "secret\x00", errs.LogIn},
		{"nobody", "eve", "secret", errs.LogIn},
		{"disabled", "bob", "secret", errs.LogIn},
	} {
		if got := errs.KindOf(g.Confirm(ctx, test.name, test.password)); got != test.want {
			t.Errorf("%s: kind %q; want %q", test.what, got, test.want)
		}
	}
	for range freeFailures + 1 {
		_ = g.Confirm(ctx, "ann", "wrong")
	}
	if _, kind := g.logIn("ann", "pässword:with colon", home); kind != errs.TooMany {
		t.Errorf("a log-in after %d wrong passwords: kind %q; want %q", freeFailures+1, kind, errs.TooMany)
	}
	if kind := errs.KindOf(g.Confirm(ctx, "ann", "pässword:with colon")); kind != errs.TooMany {
		t.Errorf("the right password after %d wrong ones: kind %q; want %q", freeFailures+1, kind, errs.TooMany)
	}
	if err := g.Confirm(t.Context(), "ann", "pässword:with colon"); err != nil {
		t.Errorf("over no network: %v", err)
	}
}

// TestAppPasswordScopes: what an app password is not for is refused, whatever its user
// may do.
func TestAppPasswordScopes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		scope        identity.Scope
		method, path string
		destination  string
		refused      bool
	}{
		{"all", "PUT", "/dav/Documents/x", "", false},
		{"read", "PROPFIND", "/dav/", "", false},
		{"read", "DELETE", "/dav/Documents/x", "", true},
		{"/dav/Documents/core", "PUT", "/dav/Documents/core/x", "", false},
		{"/dav/Documents/core", "GET", "/dav/Documents/core/%2e%2e/ann/x", "", true},
		{"/dav/Documents/core", "GET", "/dav/Documents/core%2f..%2fann/x", "", true},
		{"/dav/Documents/core", "COPY", "/dav/Documents/core/x", "http://example.org/dav/Documents/ann/x", true},
		{"/dav/Documents/core", "COPY", "/dav/Documents/core/x", "/dav/Documents/core/../ann/x", true},
		{"/dav/Documents/core", "COPY", "/dav/Documents/core/x", "http://example.org/dav/Documents/core/y", false},
		{"/dav/Documents/core", "COPY", "/dav/Documents/core/x", "::", true},
		{"/dav/Documents/core", "GET", "/dav/Documents/core/x", "::", false}, // only COPY and MOVE have a destination
		{"/dav/Documents/core", "PUT", "/dav/Documents/core/x", "/dav/Documents/ann/x", false},
		{"/dav/Documents/core", "GET", "/events", "", true},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, "http://example.org"+test.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if test.destination != "" {
			r.Header.Set("Destination", test.destination)
		}
		if err := checkScope(test.scope, r); (err != nil) != test.refused {
			t.Errorf("%q: %s %s to %q: %v", test.scope, test.method, test.path, test.destination, err)
		}
	}
}
