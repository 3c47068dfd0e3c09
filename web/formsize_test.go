package web

import (
	"strings"
	"testing"
)

// TestFormsAreBounded: who has not logged in sends a small form at most, and what a
// session sends is weighed before it is read. Otherwise the forms of one address would
// take more than the memory of the server.
func TestFormsAreBounded(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for _, test := range []struct {
		name, user, path string
		size             int
		status           int
		weighed          bool
	}{
		{"a log-in", "", "/login", 1 << 10, 401, false},
		{"a large log-in", "", "/login", mostLogInForm, 413, false},
		{"a log-in of who has logged in", "ann", "/login", mostLogInForm, 401, true},
		{"a log-out has no fields", "", "/logout", mostForm, 303, false},
		{"a form without a session", "", "/account", mostForm, 401, false},
		{"a form", "ann", "/account", 1 << 10, 422, true},
		{"a large form", "ann", "/account", mostForm, 413, true},
	} {
		g.weighed.Store(0)
		got := g.browse(t, test.user).post(t, test.path, "do", "watch", "name", "ann", "password", "wrong", "filler", strings.Repeat("a", test.size))
		if got.status != test.status {
			t.Errorf("%s: got %d, want %d", test.name, got.status, test.status)
		}
		if weighed := g.weighed.Load(); (weighed > int64(test.size)) != test.weighed && weighed < 4*mostForm {
			t.Errorf("%s of %d bytes: %d are weighed", test.name, test.size, weighed)
		}
	}
}
