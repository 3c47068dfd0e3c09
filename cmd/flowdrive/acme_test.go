package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log" //nolint:depguard // Pebble takes one
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"flowdrive/server"
)

// authority is Pebble, the test server of Let's Encrypt: it speaks ACME, and asks those who
// want a certificate on port.
type authority struct {
	server *httptest.Server
	file   string         // of the certificate of its own address
	roots  *x509.CertPool // of the certificates that it gives
}

// startAuthority listens at once. It answers from serve on, when port is known.
func startAuthority(t *testing.T) (a *authority, serve func(port string)) {
	t.Helper()
	for name, value := range map[string]string{"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "20", "PEBBLE_AUTHZREUSE": "0"} {
		t.Setenv(name, value)
	}
	a = &authority{server: httptest.NewUnstartedServer(nil), file: filepath.Join(t.TempDir(), "ca.pem")}
	t.Cleanup(func() { _ = a.server.Listener.Close() })
	serve = func(port string) {
		number, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		logger, store := log.New(io.Discard, "", 0), db.NewMemoryStore()
		authority := ca.New(logger, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {}})
		front := wfe.New(logger, store, va.New(logger, 1, number, true, nameServer(t), store), authority, nil, true, false, 1, 1)
		if err := store.AddBlockedDomain("blocked.example"); err != nil {
			t.Fatal(err)
		}
		a.server.Config.Handler = front.Handler()
		a.server.Start()
		t.Cleanup(a.server.Close)
		a.roots = x509.NewCertPool()
		a.roots.AppendCertsFromPEM(authority.GetRootCert(0).PEM())
	}
	// httptest starts TLS only together with answering.
	own := httptest.NewTLSServer(nil)
	pair := own.TLS.Certificates[0]
	own.Close()
	if err := os.WriteFile(a.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	a.server.Listener = tls.NewListener(a.server.Listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	return a, serve
}

func (a *authority) directory() string {
	return "https://" + a.server.Listener.Addr().String() + wfe.DirectoryPath
}

// nameServer starts a server of names that knows each as 127.0.0.1, and returns its address.
func nameServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		if question := q.Question[0]; question.Qtype == dns.TypeA {
			answer.Answer = append(answer.Answer, &dns.A{Hdr: dns.RR_Header{Name: question.Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(127, 0, 0, 1)})
		}
		_ = w.WriteMsg(answer) // the client asks again
	})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.ActivateAndServe() // it ends with the listener
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

// TestCertificateByACME: a server gets its certificate from an authority by itself, serves
// HTTPS with it, and has it after a restart, although the authority is away.
func TestCertificateByACME(t *testing.T) { //nolint:paralleltest // Pebble reads variables of the environment
	authority, serve := startAuthority(t)
	data := t.TempDir()
	start := func() *program {
		return startServe(t, childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", data,
			"--acme-domain", "Flow.Example", "--acme-directory", authority.directory(), "--acme-ca", authority.file, "--acme-mail", "admin@flow.example"))
	}
	get := func(p *program, name string) (major int, header http.Header, err error) {
		address := strings.TrimPrefix(strings.TrimPrefix(p.base, "https://"), "http://")
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: authority.roots, ServerName: name, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", address)
			},
		}
		defer transport.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://flow.example/healthz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: transport}).Do(req)
		if err != nil {
			return 0, nil, err
		}
		return resp.ProtoMajor, resp.Header, resp.Body.Close()
	}
	answers := func(p *program) {
		t.Helper()
		var major int
		var header http.Header
		eventually(t, func() string {
			var err error
			if major, header, err = get(p, "flow.example"); err != nil {
				return err.Error()
			}
			return ""
		})
		if major != 2 || header.Get("Strict-Transport-Security") != "max-age=31536000" {
			t.Errorf("by HTTP/%d, with %v", major, header)
		}
	}
	stop := func(p *program) {
		t.Helper()
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
	p := start()
	_, port, err := net.SplitHostPort(p.base[strings.LastIndex(p.base, "/")+1:])
	if err != nil {
		t.Fatal(err)
	}
	serve(port)
	answers(p)
	if _, _, err := get(p, "other.example"); err == nil || !strings.Contains(err.Error(), "flow.example") {
		t.Errorf("another name: %v; want the certificate of the first", err)
	}
	for path, mode := range map[string]os.FileMode{"acme": 0o700, "acme/flow.example": 0o600} {
		if info, err := os.Stat(filepath.Join(data, path)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want %o", path, info, err, mode)
		}
	}
	d := &doctor{settings: &settings{data: data, acme: acmeSettings{domains: []string{"flow.example"}}}, now: time.Now()}
	if text, err := d.certificate(t.Context()); err != nil || !strings.HasPrefix(text, "good until ") {
		t.Errorf("doctor: %q, %v", text, err)
	}
	stop(p)
	authority.server.Close()
	p = start()
	answers(p)
	stop(p)
}

// TestACMERefused: an authority that gives no certificate, cannot reach the server or is
// not there is told in one sentence, which says what to do; and no connection is answered.
func TestACMERefused(t *testing.T) { //nolint:paralleltest // Pebble reads variables of the environment
	authority, serve := startAuthority(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, nobody, err := net.SplitHostPort(closed.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	serve(nobody)
	roots, err := (&acmeSettings{ca: authority.file}).roots()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		domain, directory string
		roots             *x509.CertPool
		want              string
	}{
		{"flow.example", authority.directory(), roots, "port 443 of flow.example must lead to this server"},
		{"blocked.example", authority.directory(), roots, "blocked.example"},
		{"flow.example", authority.directory(), nil, "--acme-ca"},
		{"flow.example", "https://127.0.0.1:" + nobody + "/dir", roots, "connection refused"},
	} {
		told := make(chan string, 1)
		var said bytes.Buffer
		a := server.NewACME(server.ACMEConfig{
			Domains: []string{test.domain}, Directory: test.directory, Roots: test.roots, Folder: t.TempDir(), Now: time.Now, Log: zerolog.New(&said),
			Note: func(wrong string) { told <- wrong },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		got := <-told
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := fmt.Sprintf("there is no certificate for %s from %s: ", test.domain, test.directory)
		if !strings.HasPrefix(got, want) || !strings.Contains(got, test.want) || strings.Contains(got, "\n") || !strings.Contains(said.String(), want) {
			t.Errorf("%s at %s: told %q, logged %s; want %q", test.domain, test.directory, got, &said, test.want)
		}
		if _, err := a.TLSConfig().GetCertificate(&tls.ClientHelloInfo{ServerName: test.domain}); err == nil || !strings.Contains(err.Error(), "no certificate for "+test.domain) {
			t.Errorf("%s: a connection gets %v", test.domain, err)
		}
	}
}

// TestACMESettings: each setting that cannot be is named, with what to give.
func TestACMESettings(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		flags, want string
	}{
		{"--acme-domain=flow.example.org --addr=0.0.0.0:443", ""},
		{"--acme-domain=Bücher.example --acme-mail=a@example.org --acme-directory=https://ca.example/dir", ""},
		{"--acme-mail=a@example.org", "without --acme-domain"},
		{"--acme-domain=flow", "with its domain"},
		{"--acme-domain=192.0.2.1", "with its domain"},
		{"--acme-domain=https://flow.example.org/", "with its domain"},
		{"--acme-domain=*.example.org", "list the names"},
		{"--acme-domain=a.example --tls-cert=a --tls-key=b", "do not go together"},
		{"--acme-domain=a.example --db=postgres://h/d", "several nodes"},
		{"--acme-domain=a.example --acme-directory=http://ca.example/dir", "https address"},
		{"--acme-domain=a.example --acme-mail=nobody", "mail address"},
		{"--acme-domain=a.example --acme-ca=" + empty, "no certificate in PEM"},
		{"--acme-domain=a.example --acme-ca=" + empty + ".not", "no such file"},
	} {
		s, flags := &settings{}, pflag.NewFlagSet("serve", pflag.ContinueOnError)
		s.register(flags)
		if err := flags.Parse(strings.Fields(test.flags)); err != nil {
			t.Fatal(err)
		}
		err := s.validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", test.flags, err, test.want)
		}
	}
}
