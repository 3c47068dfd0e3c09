package main

import (
	"crypto/tls"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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

// TestReloadCertificatesUnderLoad: while clients keep and open connections, settings and
// certificates are read again, good ones and wrong ones in turn. No request fails, each wrong one
// is refused, and the last good certificate is served.
func TestReloadCertificatesUnderLoad(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	config := filepath.Join(folder, "config.yaml")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good = "rate-per-user: off\n"
	write(config, good)
	cert, key := certificateFiles(t, folder, 1)
	p := startServe(t, childProcess(t, "flowdrive", "serve", "--config", config, "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--tls-cert", cert, "--tls-key", key))
	trusting := func() *http.Transport {
		return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it has signed itself
	}
	keeps, opens := *p, *p
	keeps.client = &http.Client{Timeout: patience, Transport: trusting()}
	dials := trusting()
	dials.DisableKeepAlives = true
	opens.client = &http.Client{Timeout: patience, Transport: dials}

	ended := make(chan struct{})
	var requests, errors atomic.Int64
	var group sync.WaitGroup
	for _, client := range []*program{&keeps, &keeps, &opens, &opens} {
		group.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				requests.Add(1)
				if a, err := client.do(t.Context(), http.MethodGet, "/dav/Workflow/.ls", ""); err != nil || a.status != http.StatusOK {
					errors.Add(1)
					t.Errorf("a request: %v, %v", a, err)
				}
			}
		})
	}
	var done, refused int
	hangUp := func() {
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Error(err)
		}
		eventually(t, func() string {
			log := p.complaints.String()
			if again, wrong := strings.Count(log, "read its settings and certificate again\""), strings.Count(log, "all stays as it was\""); again != done || wrong != refused {
				return fmt.Sprintf("%d were read and %d refused, want %d and %d", again, wrong, done, refused)
			}
			return ""
		})
	}
	const rounds = 6
	for round := range rounds {
		done++
		certificateFiles(t, folder, int64(round+2))
		hangUp()
		refused++
		write(config, good+"addr: [\n")
		hangUp()
		refused++
		write(config, good)
		write(key, "half")
		hangUp()
	}
	close(ended)
	group.Wait()
	t.Logf("%d requests, %d errors; %d reloads, %d refused", requests.Load(), errors.Load(), done, refused)

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := opens.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if serial := resp.TLS.PeerCertificates[0].SerialNumber; serial.Cmp(big.NewInt(rounds+1)) != 0 {
		t.Errorf("it serves certificate %v, want the last good one, %d", serial, rounds+1)
	}
}
