package server

import (
	"net"
	"sync"
)

// limitListener bounds how many connections are open: further ones wait to
// be accepted. Unlike netutil.LimitListener's, its connections are still
// TCP connections, which net/http copies files to without reading them.
type limitListener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	close  func()
}

func newLimitListener(l net.Listener, most int) *limitListener {
	closed := make(chan struct{})
	return &limitListener{
		Listener: l,
		slots:    make(chan struct{}, most),
		closed:   closed,
		close:    sync.OnceFunc(func() { close(closed) }),
	}
}

// Accept implements net.Listener.
func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	release := sync.OnceFunc(func() { <-l.slots })
	c, err := l.Listener.Accept()
	if err != nil {
		release()
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		return &limitedTCP{TCPConn: tcp, release: release}, nil
	}
	return &limitedConn{Conn: c, release: release}, nil
}

// Close implements net.Listener.
func (l *limitListener) Close() error {
	err := l.Listener.Close()
	l.close()
	return err
}

type limitedTCP struct {
	*net.TCPConn
	statusLine
	release func()
}

// Write implements net.Conn.
func (c *limitedTCP) Write(p []byte) (int, error) { return c.statusLine.write(c.TCPConn, p) }

// Close implements net.Conn.
func (c *limitedTCP) Close() error {
	err := c.TCPConn.Close()
	c.release()
	return err
}

type limitedConn struct {
	net.Conn
	statusLine
	release func()
}

// Write implements net.Conn.
func (c *limitedConn) Write(p []byte) (int, error) { return c.statusLine.write(c.Conn, p) }

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
