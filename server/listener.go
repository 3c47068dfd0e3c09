package server

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
)

// spareConnections are accepted beyond all bounds, for probes: whoever watches the
// server must learn that it is up although it is full.
const spareConnections = 64

// connections bounds how many connections are open, in all and from one address.
// When there is no room, a new one takes the place of the one that has been
// without a request for longest, so that whoever only holds connections open keeps
// nobody out. If all have requests, the new one is spare.
type connections struct {
	proxies proxies // have as many as they want

	moment atomic.Int64 // counts changes of state

	mu     sync.Mutex
	most   int    // in all
	each   int    // from one address
	over   uint64 // how many found no room
	open   map[*place]struct{}
	count  map[netip.Addr]int // of those that are not spare
	spares int
}

// place is what is known of an open connection.
type place struct {
	of     *connections
	conn   net.Conn
	from   netip.Addr // not valid if connections from there are not counted
	spare  bool       // probes are answered, and nothing else
	idleAt atomic.Int64
	leave  func()
}

// busy is the moment at which a connection with a request has become idle.
const busy = 0

func newConnections(proxies proxies) *connections {
	c := &connections{proxies: proxies, open: map[*place]struct{}{}, count: map[netip.Addr]int{}}
	c.moment.Store(busy)
	return c
}

// bound lets so many connections be open, in all and from one address.
func (c *connections) bound(most, each int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most, c.each = most, each
}

// figures returns how many connections are open, and how many have found no room.
func (c *connections) figures() (open int, over uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open), c.over
}

// enter gives a connection a place, and closes the one that had it. It returns nil
// if there is none: then even the spare connections are all at work.
func (c *connections) enter(conn net.Conn) *place {
	p := &place{of: c, conn: conn}
	if addr := addrOf(conn.RemoteAddr().String()); addr.IsValid() && !c.proxies.trust(addr) {
		p.from = networkOf(addr)
	}
	p.idleAt.Store(c.moment.Add(1))
	p.leave = sync.OnceFunc(func() { c.left(p) })
	c.mu.Lock()
	displaced, ok := c.admit(p)
	if ok {
		c.hold(p)
	}
	c.mu.Unlock()
	if displaced != nil {
		_ = displaced.conn.Close()
		displaced.leave()
	}
	if !ok {
		return nil
	}
	return p
}

// admit decides whether p may be open, as a spare one if need be, and whose place
// it takes. The mutex must be held.
func (c *connections) admit(p *place) (displaced *place, ok bool) {
	same := func(other *place) bool { return !other.spare && other.from == p.from }
	counted := func(other *place) bool { return !other.spare }
	switch {
	case p.from.IsValid() && c.count[p.from] >= c.each:
		displaced = c.longestIdle(same)
	case len(c.open)-c.spares >= c.most:
		displaced = c.longestIdle(counted)
	default:
		return nil, true
	}
	c.over++
	if displaced != nil {
		return displaced, true
	}
	if p.spare = true; c.spares < spareConnections {
		return nil, true
	}
	displaced = c.longestIdle(func(other *place) bool { return other.spare })
	return displaced, displaced != nil
}

func (c *connections) longestIdle(among func(*place) bool) (found *place) {
	var since int64
	for p := range c.open {
		if at := p.idleAt.Load(); at != busy && among(p) && (found == nil || at < since) {
			found, since = p, at
		}
	}
	return found
}

func (c *connections) hold(p *place) {
	c.open[p] = struct{}{}
	if p.spare {
		c.spares++
	} else if p.from.IsValid() {
		c.count[p.from]++
	}
}

func (c *connections) left(p *place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.open[p]; !open {
		return
	}
	delete(c.open, p)
	switch {
	case p.spare:
		c.spares--
	case p.from.IsValid():
		if c.count[p.from]--; c.count[p.from] == 0 {
			delete(c.count, p.from)
		}
	}
}

// stateChanged is for http.Server.ConnState.
func (c *connections) stateChanged(conn net.Conn, state http.ConnState) {
	p := placeOf(conn)
	if p == nil {
		return
	}
	switch state {
	case http.StateActive:
		p.idleAt.Store(busy)
	case http.StateIdle:
		p.idleAt.Store(c.moment.Add(1))
	case http.StateNew, http.StateHijacked, http.StateClosed:
	}
}

// placeOf returns the place of a connection that a boundedListener has accepted,
// or nil.
func placeOf(conn net.Conn) *place {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	switch c := conn.(type) {
	case *boundedTCP:
		return c.place
	case *boundedConn:
		return c.place
	}
	return nil
}

// isSpare reports whether the request came over a spare connection.
func isSpare(r *http.Request) bool {
	conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
	if conn == nil {
		return false
	}
	p := placeOf(conn)
	return p != nil && p.spare
}

// boundedListener accepts as connections bounds it. Unlike netutil.LimitListener's,
// its connections are still TCP connections, which net/http copies files to without
// reading them.
type boundedListener struct {
	net.Listener
	connections *connections
}

// Accept implements net.Listener. What there is no room for is closed at once.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p := l.connections.enter(c)
		if p == nil {
			_ = c.Close()
			continue
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			return &boundedTCP{TCPConn: tcp, place: p}, nil
		}
		return &boundedConn{Conn: c, place: p}, nil
	}
}

type boundedTCP struct {
	*net.TCPConn
	statusLine
	place *place
}

// Write implements net.Conn.
func (c *boundedTCP) Write(p []byte) (int, error) { return c.statusLine.write(c.TCPConn, p) }

// Close implements net.Conn.
func (c *boundedTCP) Close() error {
	err := c.TCPConn.Close()
	c.place.leave()
	return err
}

type boundedConn struct {
	net.Conn
	statusLine
	place *place
}

// Write implements net.Conn.
func (c *boundedConn) Write(p []byte) (int, error) { return c.statusLine.write(c.Conn, p) }

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.place.leave()
	return err
}
