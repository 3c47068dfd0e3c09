package main

import (
	"crypto/x509"
	"math/big"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/server"
)

// TestCertificateOfFilesIsWatched: administrators are told of a certificate that soon
// expires, has expired, or was renewed and cannot be used, and that it is mended.
func TestCertificateOfFilesIsWatched(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	folder, step := t.TempDir(), begin
	write := func(ends time.Time) (certFile, keyFile string) {
		certFile, keyFile = writeCertificate(t, folder, &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: begin, NotAfter: ends})
		step = step.Add(time.Second) // however coarse the times of the file system are
		for _, path := range []string{certFile, keyFile} {
			if err := os.Chtimes(path, step, step); err != nil {
				t.Fatal(err)
			}
		}
		return certFile, keyFile
	}
	certFile, keyFile := write(begin.AddDate(0, 3, 0))
	certificate, err := server.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	a := &app{certificate: certificate, log: zerolog.Nop()}
	const soon, over = "it expires on 2027-02-01; renew it", "it has expired on 2027-02-01; renew it"
	for _, test := range []struct {
		days int
		want string
	}{{0, ""}, {77, ""}, {79, soon}, {91, soon}, {92, over}, {400, over}} {
		if got := a.lookAtCertificate(begin.AddDate(0, 0, test.days)); got != test.want {
			t.Errorf("day %d: %q, want %q", test.days, got, test.want)
		}
	}
	if err := os.WriteFile(keyFile, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	late := begin.AddDate(0, 0, 80)
	unusable := "it was renewed and cannot be used, the one before is served: the certificate " + certFile + " with the key " + keyFile +
		": tls: failed to find any PEM data in key input; " + soon
	if got := a.lookAtCertificate(late); got != unusable {
		t.Errorf("half renewed: %q, want %q", got, unusable)
	}
	write(begin.AddDate(0, 6, 0))
	if got := a.lookAtCertificate(late); got != "" {
		t.Errorf("renewed: %q", got)
	}
	write(begin.AddDate(0, 0, 5)) // one that lives for days: when a fifth of them is left
	for days, want := range map[int]string{3: "", 4: "", 5: "it has expired on 2026-11-06; renew it"} {
		if got := a.lookAtCertificate(begin.AddDate(0, 0, days)); got != want {
			t.Errorf("day %d of five: %q, want %q", days, got, want)
		}
	}
	if got := a.lookAtCertificate(begin.Add(4*24*time.Hour + time.Minute)); got != "it expires on 2026-11-06; renew it" {
		t.Errorf("in the last day of five: %q", got)
	}
}
