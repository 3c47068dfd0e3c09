package server

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"flowdrive/internal/link"
)

// TestPlainCookieOverTLS: a cookie without the prefix __Host- can be set by other hosts of the
// domain, and on plain HTTP by whoever is between. It logged a browser in over TLS too, so
// that it was led into somebody else's account.
func TestPlainCookieOverTLS(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, cookies string
		tls           bool
		public        link.Base
		want          string
	}{
		{"plain HTTP", "fd=planted", false, "", "planted"},
		{"a planted cookie", "fd=planted", true, "", ""},
		{"a planted cookie beside its own", "fd=planted; __Host-fd=own", true, "", "own"},
		{"a proxy has the TLS", "fd=planted; __Host-fd=own", false, "https://example.com", "own"},
		{"planted through a proxy that has the TLS", "fd=planted", false, "https://example.com", ""},
		{"plain HTTP beside such a proxy", "fd=planted", false, "https://flow.example.org", "planted"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/tasks", nil)
		r.Header.Set("Cookie", tt.cookies)
		if tt.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := SessionToken(tt.public, r); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
