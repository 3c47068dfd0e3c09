package identity_test

import (
	"testing"

	"flowdrive/internal/identity"
)

func TestParseScope(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]identity.Scope{
		"all": "all", "read": "read", "Documents/core": "/dav/Documents/core", "/dav/Documents/core/": "/dav/Documents/core",
		"Workflow/Schedule": "/dav/Workflow/Schedule", "/attachfs": "/attachfs", "/dav/Documents": "/dav/Documents",
	} {
		if got, ok := identity.ParseScope(given); !ok || got != want {
			t.Errorf("ParseScope(%q) is %q, %t, want %q", given, got, ok, want)
		}
	}
	for _, given := range []string{"", "write", "/", "/dav", "Account", "/dav/Admin/Users", "Documents/../Account", "/dav/Documentsx", "..", "/events"} {
		if got, ok := identity.ParseScope(given); ok {
			t.Errorf("ParseScope(%q) is %q, want none", given, got)
		}
	}
}

func TestScopeAllows(t *testing.T) {
	t.Parallel()
	const folder = identity.Scope("/dav/Documents/core")
	for _, test := range []struct {
		scope          identity.Scope
		method, at, to string
		allowed        bool
	}{
		{"", "DELETE", "/dav/Workflow/Cases/1.json", "", true},
		{"all", "PUT", "/dav/Documents/x", "", true},
		{"read", "GET", "/dav/Workflow/Cases/1.json", "", true},
		{"read", "PROPFIND", "/dav/", "", true},
		{"read", "PUT", "/dav/Documents/x", "", false},
		{"read", "LOCK", "/dav/Documents/x", "", false},
		{"read", "POST", "/dav/Workflow/Cases/", "", false},
		{folder, "PUT", "/dav/Documents/core/a/b.txt", "", true},
		{folder, "PROPFIND", "/dav/Documents/core", "", true},
		{folder, "PROPFIND", "/dav/Documents/core/", "", true},
		{folder, "OPTIONS", "/dav/", "", true},
		{folder, "GET", "/dav/Documents/corex/a", "", false},
		{folder, "GET", "/dav/Documents/", "", false},
		{folder, "GET", "/dav/Documents/core/../ann/a", "", false},
		{folder, "GET", "/events", "", false},
		{folder, "MOVE", "/dav/Documents/core/a", "/dav/Documents/core/b", true},
		{folder, "MOVE", "/dav/Documents/core/a", "/dav/Documents/ann/b", false},
		{folder, "COPY", "/dav/Documents/ann/a", "/dav/Documents/core/b", false},
	} {
		if got := test.scope.Allows(test.method, test.at, test.to); got != test.allowed {
			t.Errorf("%q allows %s %s %s: %t, want %t", test.scope, test.method, test.at, test.to, got, test.allowed)
		}
	}
}
