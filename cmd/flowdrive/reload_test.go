package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/server"
)

// certificateFiles writes a certificate with that serial number and its key.
func certificateFiles(t *testing.T, folder string, serial int64) (certFile, keyFile string) {
	t.Helper()
	return writeCertificate(t, folder, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "flowdrive"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
	})
}

// writeCertificate signs a certificate with a key of its own, and writes both.
func writeCertificate(t *testing.T, folder string, template *x509.Certificate) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// TestReload: after a signal a renewed certificate is served; one that cannot be
// used changes nothing, and the log says so.
func TestReload(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	certFile, keyFile := certificateFiles(t, folder, 1)
	certificate, err := server.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	a := &app{log: zerolog.New(&log), certificate: certificate, told: newServerWatch(zerolog.Nop())}
	serial := func() int64 {
		pair, err := certificate.TLSConfig().GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.Int64()
	}
	reload := func() {
		signals := make(chan os.Signal, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			a.reloadOn(ctx, signals)
		}()
		signals <- syscall.SIGHUP
		signals <- syscall.SIGHUP // is taken when the first was done
		cancel()
		<-ended
	}
	certificateFiles(t, folder, 2)
	if reload(); serial() != 2 {
		t.Errorf("serves certificate %d after it was renewed; log: %s", serial(), &log)
	}
	if err := os.WriteFile(keyFile, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	if reload(); serial() != 2 || !strings.Contains(log.String(), "could not read the certificate again") {
		t.Errorf("serves certificate %d after a bad renewal; log: %s", serial(), &log)
	}
	a.certificate = nil
	log.Reset()
	if reload(); !strings.Contains(log.String(), `"certificate":false`) {
		t.Errorf("without a certificate: %s", &log)
	}
}

// TestRenewedCertificateIsNoticed: a renewed certificate is taken without a signal, and
// one that cannot be used is not.
func TestRenewedCertificateIsNoticed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	certFile, keyFile := certificateFiles(t, folder, 1)
	certificate, err := server.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	step := time.Unix(1<<30, 0)
	renew := func(change func()) (bool, error) {
		change()
		step = step.Add(time.Second) // however coarse the times of the file system are
		for _, path := range []string{certFile, keyFile} {
			if err := os.Chtimes(path, step, step); err != nil {
				t.Fatal(err)
			}
		}
		return certificate.ReloadIfChanged()
	}
	if changed, err := renew(func() { certificateFiles(t, folder, 2) }); !changed || err != nil {
		t.Errorf("renewed: %v, %v", changed, err)
	}
	if changed, err := certificate.ReloadIfChanged(); changed || err != nil {
		t.Errorf("not renewed: %v, %v", changed, err)
	}
	half := func() {
		if err := os.WriteFile(keyFile, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if changed, err := renew(half); changed || err == nil {
		t.Errorf("half renewed: %v, %v", changed, err)
	}
	if changed, err := renew(func() { certificateFiles(t, folder, 3) }); !changed || err != nil {
		t.Errorf("wholly renewed: %v, %v", changed, err)
	}
}

// TestReloadUnderLoad: settings are read again while requests are answered, and none of
// these fails. The limits and allow lists count from then on.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	data, config := t.TempDir(), filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		if err := os.WriteFile(config, []byte("log-level: warn\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	p := startServe(t, childProcess(t, "flowdrive", "serve", "--config", config, "--addr", "127.0.0.1:0", "--data", data))
	hangUp := func() {
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Error(err)
		}
	}
	const clients, each = 4, 60
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			for i := range each {
				if client == 0 && i%6 == 0 {
					hangUp()
				}
				if a, err := p.do(t.Context(), http.MethodGet, "/dav/Workflow/.ls", ""); err != nil || a.status != http.StatusOK {
					t.Errorf("request %d of %d: %v, %v", i, client, a, err)
				}
			}
		})
	}
	group.Wait()

	if a := p.must2(t, http.MethodGet, "/readyz"); !strings.Contains(string(a.body), "outbox: ok") {
		t.Errorf("/readyz: %v", a)
	}
	write("rate-per-user: 1/s,2\n")
	hangUp()
	eventually(t, func() string {
		if a, err := p.do(t.Context(), http.MethodGet, "/dav/Workflow/.ls", ""); err != nil || a.status != http.StatusTooManyRequests {
			return fmt.Sprint(a, err)
		}
		return ""
	})
	write("rate-per-user: off\n")
	hangUp()
	eventually(t, func() string {
		for range 5 {
			if a, err := p.do(t.Context(), http.MethodGet, "/dav/Workflow/.ls", ""); err != nil || a.status != http.StatusOK {
				return fmt.Sprint(a, err)
			}
		}
		return ""
	})
}
