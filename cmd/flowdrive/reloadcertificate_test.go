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

// TestKeyOfAnotherCertificate: a key that does not fit is told with which one does.
func TestKeyOfAnotherCertificate(t *testing.T) {
	t.Parallel()
	cert, _ := certificateFiles(t, t.TempDir(), 1)
	_, key := certificateFiles(t, t.TempDir(), 2)
	err := (&settings{tlsCert: cert, tlsKey: key}).certificateErr()
	if err == nil || !strings.HasSuffix(err.Error(), "does not match public key; give the key of the first certificate in that file, which is to be that of the server, before those of its authorities") {
		t.Errorf("the error is %v", err)
	}
}
