// Package cable gives tests a way to a server that can be cut, and led elsewhere.
package cable

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Dial connects to the server at the other end.
type Dial func(ctx context.Context) (net.Conn, error)

// Cable listens on a port of this machine and passes what comes on to a server.
type Cable struct {
	Address string // host and port

	mu      sync.Mutex
	dial    Dial // nil: it leads nowhere
	turn    int  // how often it was led elsewhere
	conns   map[net.Conn]bool
	held    chan struct{} // nil: nothing is; closed when it goes on
	trips   int           // how often something was asked after an answer, or first
	swallow int           // so many answers are not passed on
	answer  []byte        // what they contain
}

// New returns a cable that lasts as long as the test.
func New(tb testing.TB, dial Dial) *Cable {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	c := &Cable{Address: l.Addr().String(), dial: dial, conns: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.pass(client) })
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		c.Lead(nil)
		all.Wait()
	})
	return c
}

// Lead has connections lead elsewhere from now on, and cuts those that there are. With nil
// they lead nowhere: each is closed at once.
func (c *Cable) Lead(dial Dial) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dial = dial
	c.turn++
	c.cut()
}

// Cut cuts the connections that there are.
func (c *Cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut()
}

func (c *Cable) cut() {
	for conn := range c.conns {
		_ = conn.Close() // it may be closed already
	}
}

// Hold has nothing go through, with no connection cut, until what it returns is called, as if
// the other end had fallen silent.
func (c *Cable) Hold() (goOn func()) {
	held := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = held
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.held = nil
		close(held)
	}
}

// wait waits as long as nothing goes through.
func (c *Cable) wait() {
	c.mu.Lock()
	held := c.held
	c.mu.Unlock()
	if held != nil {
		<-held
	}
}

// Swallow has the next n answers that contain a text cut their connections instead of being
// passed on: the server has done what it was asked, and who asked does not learn of it.
func (c *Cable) Swallow(n int, answer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.swallow, c.answer = n, []byte(answer)
}

// Swallowed reports whether all answers were swallowed that were to be.
func (c *Cable) Swallowed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.swallow == 0
}

// Trips returns how often a client has asked something since its last answer, however much it
// was: so often it has waited for the way there and back.
func (c *Cable) Trips() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trips
}

// add notes a connection that was made in a turn, if that is not over.
func (c *Cable) add(client, server net.Conn, turn int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn != turn {
		return false
	}
	c.conns[client], c.conns[server] = true, true
	return true
}

// counts returns what counts a trip with each question that is the first since an answer.
func (c *Cable) counts(asked *atomic.Bool) func([]byte) bool {
	return func([]byte) bool {
		if !asked.Swap(true) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.trips++
		}
		return false
	}
}

// takes reports whether an answer is one to swallow.
func (c *Cable) takes(part []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.swallow == 0 || !bytes.Contains(part, c.answer) {
		return false
	}
	c.swallow--
	return true
}

func (c *Cable) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	c.mu.Lock()
	dial, turn := c.dial, c.turn
	c.mu.Unlock()
	if dial == nil {
		return
	}
	server, err := dial(context.Background())
	if err != nil {
		return // it is as if this one were not there
	}
	defer func() { _ = server.Close() }()
	if !c.add(client, server, turn) {
		return
	}
	var both sync.WaitGroup
	var asked atomic.Bool
	both.Go(func() { c.copy(server, client, c.counts(&asked)) })
	both.Go(func() {
		c.copy(client, server, func(part []byte) bool {
			asked.Store(false)
			return c.takes(part)
		})
	})
	both.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, client)
	delete(c.conns, server)
}

// copy passes on what one end says, until either ends or a part is taken.
func (c *Cable) copy(to, from net.Conn, takes func(part []byte) bool) {
	defer func() { _ = errors.Join(to.Close(), from.Close()) }() // either may be closed already
	part := make([]byte, 64<<10)
	for {
		n, err := from.Read(part)
		c.wait()
		if n > 0 && takes(part[:n]) {
			return
		}
		if _, writeErr := to.Write(part[:n]); err != nil || writeErr != nil {
			return
		}
	}
}
