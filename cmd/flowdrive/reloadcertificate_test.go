package main

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestReloadRefusesCertificate: settings that name files which are not a certificate and its key
// are refused when they are read again, and not only by the restart after which they count.
func TestReloadRefusesCertificate(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	a := &app{log: zerolog.New(&out), told: newServerWatch(zerolog.Nop())}
	a.reread = func() (*settings, []string, error) {
		return &settings{tlsCert: "/nowhere/cert.pem", tlsKey: "/nowhere/key.pem"}, []string{"tls-key"}, nil
	}
	if status := a.reload(); !strings.Contains(status, "Reload failed") || !strings.Contains(status, "/nowhere/cert.pem") {
		t.Errorf("the status: %q", status)
	}
	if !strings.Contains(out.String(), "--tls-cert: the certificate /nowhere/cert.pem") {
		t.Errorf("the log: %s", out.String())
	}
}
