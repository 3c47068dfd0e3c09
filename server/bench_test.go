package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h["Content-Type"] = []string{"text/plain"}
	h["Content-Length"] = []string{"5"}
	_, _ = io.WriteString(w, "hello")
})

// BenchmarkHello compares a GET with Basic credentials through everything
// that stands before the drive, access log to nowhere included, with the same
// handler in a bare net/http server.
func BenchmarkHello(b *testing.B) {
	x := newRig(b, func(c *Config) {
		c.Now = time.Now
		c.Log = zerolog.New(io.Discard)
		c.Drive = hello
	})
	servers := []struct {
		name  string
		start func() *http.Server
	}{
		{"bare", func() *http.Server { return &http.Server{Handler: hello, ReadHeaderTimeout: headTimeout} }},
		{"chain", func() *http.Server {
			return &http.Server{Handler: x.Handler(), ReadHeaderTimeout: headTimeout, WriteTimeout: stallTimeout, IdleTimeout: idleTimeout}
		}},
	}
	for _, s := range servers {
		b.Run(s.name, func(b *testing.B) {
			server := s.start()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- server.Serve(l) }()
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) { ask(b, l.Addr().String(), pb) })
			_ = server.Close()
			if err := <-done; !errors.Is(err, http.ErrServerClosed) {
				b.Error(err)
			}
		})
	}
}

// ask makes requests on one connection, at little cost of its own.
func ask(b *testing.B, addr string, pb *testing.PB) {
	b.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		b.Error(err)
		return
	}
	defer c.Close()
	request := fmt.Appendf(nil, "GET /dav/Workflow/Cases/17.json HTTP/1.1\r\nHost: x\r\nUser-Agent: bench\r\nAuthorization: %s\r\n\r\n", basic("sam", "secret"))
	r := bufio.NewReader(c)
	for pb.Next() {
		if _, err := c.Write(request); err != nil {
			b.Error(err)
			return
		}
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				b.Error(err)
				return
			}
			if len(line) == 2 {
				break
			}
		}
		if _, err := r.Discard(5); err != nil {
			b.Error(err)
			return
		}
	}
}

// BenchmarkChain is the chain alone, without a connection.
func BenchmarkChain(b *testing.B) {
	x := newRig(b, func(c *Config) {
		c.Now = time.Now
		c.Log = zerolog.New(io.Discard)
		c.Drive = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	})
	r := request("GET", "/dav/Workflow/Cases/17.json", "")
	r.Body = http.NoBody
	w := httptest.NewRecorder()
	h := x.Handler()
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}
