package server

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections in memory, for bubbles of virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// send writes a request of sam's; the body is whatever the head promises.
func send(t *testing.T, c net.Conn, head, body string) {
	t.Helper()
	if _, err := fmt.Fprintf(c, "%s\r\nHost: x\r\nAuthorization: %s\r\n\r\n%s", head, basic("sam", "secret"), body); err != nil {
		t.Error(err)
	}
}

// receive reads an answer.
func receive(t *testing.T, c net.Conn) (status int, body string) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// running runs the rig's server in the bubble; stop ends it and returns what
// Run did.
func (x *rig) running(t *testing.T, l net.Listener) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx, l) }()
	return func() error { cancel(); return <-done }
}

func TestRunStopsGracefully(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		x := newRig(t, func(c *Config) {
			c.Now = time.Now
			c.Drive = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { <-finish; _, _ = fmt.Fprint(w, "whole") })
		})
		l := newPipes()
		stop := x.running(t, l)
		busy, idle := l.dial(), l.dial()
		send(t, busy, "GET /dav/ HTTP/1.1", "")
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- stop() }()
		synctest.Wait()
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener accepts still: %v", err)
		}
		if !x.draining.Load() {
			t.Error("the server is not draining")
		}
		begun := time.Now()
		go func() {
			<-time.After(10 * time.Second)
			close(finish)
		}()
		if status, body := receive(t, busy); status != 200 || body != "whole" {
			t.Errorf("the request in flight got %d %q", status, body)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 11*time.Second {
			t.Errorf("stopping took %v", took)
		}
		if _, err := idle.Read(make([]byte, 1)); err == nil {
			t.Error("the idle connection is open still")
		}
	})
}

func TestRunCutsOffWhatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newRig(t, func(c *Config) {
			c.Now = time.Now
			c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		})
		l := newPipes()
		stop := x.running(t, l)
		c := l.dial()
		send(t, c, "GET /dav/ HTTP/1.1", "")
		synctest.Wait()
		begun := time.Now()
		if err := stop(); !errors.Is(err, ErrRequestsCut) || errors.Is(err, ErrRequestsLeft) {
			t.Errorf("Run = %v; want that a request was cut off", err)
		}
		if took := time.Since(begun); took < 15*time.Second || took > 17*time.Second {
			t.Errorf("stopping took %v; want 15 s", took)
		}
		if log := x.log.String(); !strings.Contains(log, `"method":"GET","path":"/dav/"`) || !strings.Contains(log, "cutting off") {
			t.Errorf("the log does not say what was cut off: %s", log)
		}
		if n := x.requests.count(); n != 0 {
			t.Errorf("%v requests are left", n)
		}
	})
}

// A request that does not end, whatever it is told, keeps nobody from stopping
// the server.
func TestRunLeavesWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		x := newRig(t, func(c *Config) {
			c.Now = time.Now
			c.Drive = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })
		})
		l := newPipes()
		stop := x.running(t, l)
		for range 2 {
			send(t, l.dial(), "GET /dav/ HTTP/1.1", "")
		}
		synctest.Wait()
		begun := time.Now()
		err := stop()
		if !errors.Is(err, ErrRequestsLeft) || !strings.Contains(err.Error(), "2 requests") {
			t.Errorf("Run = %v; want that 2 requests are left", err)
		}
		if took := time.Since(begun); took != 15*time.Second+cutTimeout {
			t.Errorf("stopping took %v; want 15 s and %v", took, cutTimeout)
		}
		if log := x.log.String(); !strings.Contains(log, `"level":"error","requests":2`) {
			t.Errorf("log: %s", log)
		}
		close(release)
	})
}

func TestRunGivesUpOnStalledBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newRig(t, func(c *Config) {
			c.Now = time.Now
			c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, err := io.ReadAll(r.Body)
				if err != nil {
					WriteError(w, r, fmt.Errorf("storing: %w", err))
					return
				}
				<-time.After(3 * stallTimeout) // thinking takes longer than sending may
				if r.Context().Err() != nil {
					t.Error("the request was given up while it was thought about")
				}
				_, _ = fmt.Fprintf(w, "%d bytes", len(b))
			})
		})
		l := newPipes()
		stop := x.running(t, l)

		slow := l.dial() // a little all the time is enough
		const parts, size = 10, 30 * slowestBody
		send(t, slow, fmt.Sprintf("PUT /dav/a HTTP/1.1\r\nContent-Length: %d", parts*size), "")
		for range parts {
			<-time.After(30 * time.Second)
			_, _ = fmt.Fprint(slow, strings.Repeat("x", size))
		}
		if status, body := receive(t, slow); status != 200 || body != fmt.Sprint(parts*size, " bytes") {
			t.Errorf("slow: %d %s", status, body)
		}

		givenUp := func(what string, c net.Conn, begun time.Time) {
			t.Helper()
			status, body := receive(t, c)
			took := time.Since(begun)
			if status != 408 || !strings.Contains(body, "did not arrive in time") || took < stallTimeout || took > stallTimeout+time.Second {
				t.Errorf("%s: %d %s after %v; want 408 after %v", what, status, body, took, stallTimeout)
			}
		}
		dripping := l.dial() // next to nothing is not
		begun := time.Now()
		send(t, dripping, "PUT /dav/a HTTP/1.1\r\nContent-Length: 10", "")
		for range 3 {
			<-time.After(stallTimeout / 4)
			_, _ = fmt.Fprint(dripping, "x")
		}
		givenUp("dripping", dripping, begun)

		stalled := l.dial()
		begun = time.Now()
		send(t, stalled, "PUT /dav/a HTTP/1.1\r\nContent-Length: 10", "xxx")
		givenUp("stalled", stalled, begun)

		unread := l.dial() // nobody here wants it, but net/http reads before it answers
		begun = time.Now()
		_, _ = fmt.Fprint(unread, "PUT /dav/a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nxxx")
		if status, _ := receive(t, unread); status != 401 || time.Since(begun) > stallTimeout {
			t.Errorf("unread: %d after %v", status, time.Since(begun))
		}

		short := l.dial()
		send(t, short, "PUT /dav/a HTTP/1.1\r\nContent-Length: 10\r\nConnection: close", "xxx")
		synctest.Wait()
		slow.Close()
		dripping.Close()
		stalled.Close()
		unread.Close()
		short.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if log := x.log.String(); strings.Contains(log, `"level":"error"`) {
			t.Errorf("a client's fault is ours: %s", log)
		}
	})
}

func TestRunGivesUpOnStalledReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const size = 4 << 20
		x := newRig(t, func(c *Config) {
			c.Now = time.Now
			c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(w, io.LimitReader(zeros{}, size))
			})
		})
		l := newPipes()
		stop := x.running(t, l)
		begun := time.Now()

		slow := l.dial()
		send(t, slow, "GET /dav/ HTTP/1.0", "")
		r := bufio.NewReader(slow)
		got := 0
		for {
			n, err := r.Discard(200 << 10)
			if got += n; err != nil {
				break
			}
			<-time.After(stallTimeout / 4)
		}
		if got < size || time.Since(begun) < 4*stallTimeout {
			t.Errorf("a slow reader got %d bytes in %v; want %d", got, time.Since(begun), size)
		}

		stalled := l.dial()
		send(t, stalled, "GET /dav/ HTTP/1.0", "")
		<-time.After(3 * stallTimeout)
		if n := x.requests.count(); n != 0 {
			t.Errorf("%v requests wait for who does not read", n)
		}
		slow.Close()
		stalled.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestRunGivesUpOnSlowHeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newRig(t, func(c *Config) { c.Now = time.Now })
		l := newPipes()
		stop := x.running(t, l)
		c := l.dial()
		_, _ = fmt.Fprint(c, "GET /dav/ HTTP/1.1\r\nX: ")
		begun := time.Now()
		_, _ = io.Copy(io.Discard, c)
		if took := time.Since(begun); took != headTimeout {
			t.Errorf("given up after %v; want %v", took, headTimeout)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestRunReportsAFailingListener(t *testing.T) {
	t.Parallel()
	x := newRig(t, nil)
	good, bad := newPipes(), newPipes()
	bad.Close()
	if err := x.Run(t.Context(), good, bad); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Run = %v; want the listener's error", err)
	}
}

// Passwords travel in the clear only where somebody has said so.
func TestRunRefusesPlainHTTPOnTheNetwork(t *testing.T) {
	t.Parallel()
	tests := []struct {
		addr   string
		change func(*Config)
		ok     bool
	}{
		{"127.0.0.1:0", nil, true},
		{"0.0.0.0:0", nil, false},
		{"0.0.0.0:0", func(c *Config) { c.InsecureHTTP = true }, true},
		{"0.0.0.0:0", func(c *Config) { c.TLS = &tls.Config{MinVersion: tls.VersionTLS12} }, true},
	}
	for _, test := range tests {
		x := newRig(t, test.change)
		l, err := net.Listen("tcp", test.addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkListener(l, x.config.TLS, x.config.InsecureHTTP); (err == nil) != test.ok {
			t.Errorf("%s: %v; want ok %t", test.addr, err, test.ok)
		}
		if test.ok {
			l.Close()
			continue
		}
		if err := x.Run(t.Context(), l); err == nil {
			t.Errorf("Run served on %s", test.addr)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is open still: %v", err)
		}
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := LoadCertificate(certFile, keyFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("LoadCertificate of nothing: %v", err)
	}
	writeCertificate(t, certFile, keyFile, "first")
	certificate, err := LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	x := newRig(t, func(c *Config) { c.TLS = certificate.TLSConfig() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := x.running(t, l)
	get := func(proto string) string {
		t.Helper()
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: proto == "HTTP/2.0"} //nolint:gosec // the certificate is made here
		defer transport.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+l.Addr().String()+"/dav/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("sam", "secret")
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body := text(t, resp); body != "sam /dav/" || resp.Proto != proto {
			t.Errorf("%s: %q over %s", proto, body, resp.Proto)
		}
		return resp.TLS.PeerCertificates[0].Subject.CommonName
	}
	if name := get("HTTP/1.1"); name != "first" {
		t.Errorf("the certificate is %q; want first", name)
	}
	writeCertificate(t, certFile, keyFile, "second")
	if err := certificate.Reload(); err != nil {
		t.Fatal(err)
	}
	if name := get("HTTP/2.0"); name != "second" {
		t.Errorf("the certificate is %q; want second", name)
	}
	if err := os.WriteFile(certFile, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := certificate.Reload(); err == nil {
		t.Error("Reload took rubbish")
	}
	if name := get("HTTP/2.0"); name != "second" {
		t.Errorf("after rubbish the certificate is %q; want second", name)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestReceivingWindows: a client that speaks HTTP/2 is told at once how much of a body it may
// send before that is read, as much as fits the memory.
func TestReceivingWindows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, certFile, keyFile, "windows")
	certificate, err := LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		memory *Memory
		want   uint32
	}{{nil, mostWindow}, {NewMemory(16 << 20), leastWindow}, {NewMemory(80 << 20), 2560 << 10}, {NewMemory(1 << 30), mostWindow}} {
		x := newRig(t, func(c *Config) { c.TLS, c.Memory = certificate.TLSConfig(), test.memory })
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		stop := x.running(t, l)
		stream, connection := windowsOf(t, l.Addr().String())
		if stream != test.want || connection != test.want {
			t.Errorf("%d for a stream, %d for a connection; want %d", stream, connection, test.want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}

// windowsOf returns the windows that the server opens for a stream and for a connection, as
// it says in its first frames (RFC 9113, sections 4.1, 6.5 and 6.9).
func windowsOf(t *testing.T, addr string) (stream, connection uint32) {
	t.Helper()
	const settings, windowUpdate, initialWindow, before = 4, 8, 4, 65535
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}} //nolint:gosec // the certificate is made here
	conn, err := dialer.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		t.Fatal(err)
	}
	for stream == 0 || connection == 0 {
		var head [9]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			t.Fatal(err)
		}
		payload := make([]byte, binary.BigEndian.Uint32(head[:4])>>8)
		if _, err := io.ReadFull(conn, payload); err != nil {
			t.Fatal(err)
		}
		switch of := binary.BigEndian.Uint32(head[5:]); {
		case head[3] == windowUpdate && of == 0:
			connection = before + binary.BigEndian.Uint32(payload)
		case head[3] == settings:
			for ; len(payload) > 0; payload = payload[6:] {
				if binary.BigEndian.Uint16(payload) == initialWindow {
					stream = binary.BigEndian.Uint32(payload[2:])
				}
			}
		}
	}
	return stream, connection
}

func writeCertificate(t *testing.T, certFile, keyFile, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A file goes to a TCP connection in as many bytes as it has, whole or in
// part, through every layer.
func TestFilesAreSent(t *testing.T) {
	t.Parallel()
	content := make([]byte, 1<<20+17)
	for i := range content {
		content[i] = byte(i / 251)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	x := newRig(t, func(c *Config) {
		c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := x.running(t, l)
	transport := &http.Transport{}
	for _, test := range []struct {
		span string
		want []byte
	}{{"", content}, {"bytes=300000-900000", content[300000:900001]}, {"bytes=-5", content[len(content)-5:]}} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+l.Addr().String()+"/dav/f", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("sam", "secret")
		if test.span != "" {
			req.Header.Set("Range", test.span)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, resp); got != string(test.want) {
			t.Errorf("%q: %d bytes; want %d, or others", test.span, len(got), len(test.want))
		}
		resp.Body.Close()
	}
	transport.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if log := x.log.String(); !strings.Contains(log, fmt.Sprintf(`"bytes":%d`, len(content))) {
		t.Errorf("log: %s", log)
	}
}
