package server

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestPlainCookieOverTLS: a cookie without the prefix __Host- can be set by other hosts of the
// domain, and on plain HTTP by whoever is between. It logged a browser in over TLS too, so
// that it was led into somebody else's account.
func TestPlainCookieOverTLS(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, cookies string
		tls           bool
		want          string
	}{
		{"plain HTTP", "fd=planted", false, "planted"},
		{"a planted cookie", "fd=planted", true, ""},
		{"a planted cookie beside its own", "fd=planted; __Host-fd=own", true, "own"},
		{"a proxy has the TLS", "fd=planted; __Host-fd=own", false, "own"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/tasks", nil)
		r.Header.Set("Cookie", tt.cookies)
		if tt.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := SessionToken(r); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
