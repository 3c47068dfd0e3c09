package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// from is a connection that comes from an address.
type from struct {
	net.Conn
	addr string
}

func (f from) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.addr)) }

func (p *pipes) dialFrom(addr string) net.Conn {
	client, server := net.Pipe()
	p.conns <- from{server, addr}
	return client
}

// isClosed reports whether the other side has closed the connection.
func isClosed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	timeout, ok := err.(net.Error) //nolint:errorlint // of net.Pipe
	return err != nil && (!ok || !timeout.Timeout())
}

// crowd runs a server with room for so many connections. Requests to /dav/hang stay
// under way until the end.
func crowd(t *testing.T, most, each int, f func(l *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		x := newRig(t, func(c *Config) {
			c.Now, c.Limits = time.Now, Limits{Connections: most, FromOneAddress: each}
			c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
			c.Drive = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/dav/hang" {
					<-release
				}
				_, _ = fmt.Fprint(w, "whole")
			})
		})
		l := newPipes()
		stop := x.running(t, l)
		f(l)
		close(release)
		synctest.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if len(x.connections.open) != 0 || len(x.connections.count) != 0 || x.connections.spares != 0 {
			t.Errorf("places are left: %+v", x.connections)
		}
	})
}

func get(t *testing.T, c net.Conn, path string) (status int) {
	t.Helper()
	send(t, c, "GET "+path+" HTTP/1.1", "")
	status, _ = receive(t, c)
	return status
}

// TestIdleConnectionsGiveWay: who only holds connections open keeps nobody out, not
// even from the same address.
func TestIdleConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	const mine, other = "192.0.2.1:1", "192.0.2.2:1"
	crowd(t, 100, 3, func(l *pipes) {
		first, second, third := l.dialFrom(mine), l.dialFrom(mine), l.dialFrom(mine)
		elsewhere := l.dialFrom(other)
		if status := get(t, first, "/dav/x"); status != 200 { // it is now idle for the shortest time
			t.Errorf("the first: %d", status)
		}
		fourth := l.dialFrom(mine)
		synctest.Wait()
		if status := get(t, fourth, "/dav/x"); status != 200 {
			t.Errorf("one more: %d", status)
		}
		if !isClosed(second) || isClosed(first) || isClosed(third) || isClosed(elsewhere) {
			t.Error("another one than that which was idle for longest has given way")
		}
		closeAll(first, third, fourth, elsewhere)
	})
	crowd(t, 2, 2, func(l *pipes) {
		a, b := l.dialFrom(mine), l.dialFrom(other)
		c := l.dialFrom("[2001:db8::1]:1")
		synctest.Wait()
		if status := get(t, c, "/dav/x"); status != 200 || !isClosed(a) || isClosed(b) {
			t.Errorf("beyond the bound of all: %d", status)
		}
		closeAll(b, c)
	})
}

func closeAll(conns ...net.Conn) {
	for _, c := range conns {
		_ = c.Close()
	}
	synctest.Wait()
}

// TestProbesAreAnswered: when all connections have requests, further ones learn
// that the server is up, and nothing else.
func TestProbesAreAnswered(t *testing.T) {
	t.Parallel()
	for _, most := range []struct{ all, each int }{{2, 2}, {100, 2}} {
		crowd(t, most.all, most.each, func(l *pipes) {
			const addr = "[2001:db8::1]:1"
			busy := []net.Conn{l.dialFrom(addr), l.dialFrom("[2001:db8::2]:1")} // one network
			for _, c := range busy {
				send(t, c, "GET /dav/hang HTTP/1.1", "")
			}
			synctest.Wait()
			for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/dav/x": 503, "/metrics": 503} {
				c := l.dialFrom(addr)
				if status := get(t, c, path); status != want {
					t.Errorf("%s: %d, want %d", path, status, want)
				}
				synctest.Wait()
				if !isClosed(c) {
					t.Errorf("%s: the spare connection stays open", path)
				}
			}
			var silent []net.Conn
			for range spareConnections {
				silent = append(silent, l.dialFrom(addr))
			}
			synctest.Wait()
			c := l.dialFrom(addr)
			if status := get(t, c, "/healthz"); status != 200 || !isClosed(silent[0]) {
				t.Errorf("beside spare connections that say nothing: %d", status)
			}
			if proxied := l.dialFrom("10.1.2.3:4"); most.all > 2 {
				if status := get(t, proxied, "/dav/x"); status != 200 {
					t.Errorf("over a trusted proxy: %d", status)
				}
				closeAll(proxied)
			}
			closeAll(append(append(silent, c), busy...)...)
		})
	}
}

// TestRefusalsDoNotWaitForBodies: a body that does not come keeps nobody from an
// answer that does not need it, and ends with the connection.
func TestRefusalsDoNotWaitForBodies(t *testing.T) {
	t.Parallel()
	crowd(t, 10, 10, func(l *pipes) {
		c := l.dialFrom("192.0.2.1:1")
		begun := time.Now()
		if _, err := fmt.Fprint(c, "PUT /dav/x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nsome"); err != nil {
			t.Fatal(err)
		}
		status, _ := receive(t, c)
		if took := time.Since(begun); status != 401 || took > refusedTimeout {
			t.Errorf("%d after %v", status, took)
		}
		<-time.After(time.Second)
		if !isClosed(c) {
			t.Error("the connection stays open")
		}
		whole := l.dialFrom("192.0.2.1:1")
		for _, body := range []string{"Content-Length: 4\r\n\r\nsome", "Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n0\r\n\r\n", "Content-Length: 4\r\n\r\nsome"} {
			if _, err := fmt.Fprint(whole, "PUT /dav/x HTTP/1.1\r\nHost: x\r\n"+body); err != nil {
				t.Fatal(err)
			}
			if status, _ := receive(t, whole); status != 401 {
				t.Errorf("with a whole body: %d", status)
			}
		}
		closeAll(whole)
	})
}

// TestRefusalsAreReadAfterTheBody: a client that sends the whole of a large body before it
// reads, as wget does, gets the answer. A body that stays away ends with the connection.
func TestRefusalsAreReadAfterTheBody(t *testing.T) {
	t.Parallel()
	const size = 8 << 20
	crowd(t, 10, 10, func(l *pipes) {
		chunk := fmt.Sprintf("%x\r\n%s\r\n", size/2, strings.Repeat("x", size/2))
		known := fmt.Sprintf("Content-Length: %d\r\n\r\n", size)
		for name, sent := range map[string]string{
			"whole": known + strings.Repeat("x", size), "a part": known + strings.Repeat("x", size/2),
			"in chunks": "Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk + "0\r\n\r\n", "a chunk": "Transfer-Encoding: chunked\r\n\r\n" + chunk,
		} {
			c := l.dialFrom("192.0.2.1:1")
			failed := make(chan error, 1)
			go func() { // the pipe has no room for an answer
				_, err := io.WriteString(c, "PUT /dav/x HTTP/1.1\r\nHost: x\r\n"+sent)
				failed <- err
			}()
			if status, _ := receive(t, c); status != 401 {
				t.Errorf("%s: %d", name, status)
			}
			if err := <-failed; err != nil {
				t.Errorf("%s: the body could not be sent: %v", name, err)
			}
			<-time.After(2 * refusedTimeout)
			if !isClosed(c) {
				t.Errorf("%s: the connection stays open", name)
			}
		}
	})
}
