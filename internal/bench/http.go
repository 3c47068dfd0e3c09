package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// connection is a client of HTTP/1.1 on one connection that stays open. It
// reads as little of an answer as possible, so that the load costs little
// compared to what is measured, and the same on both sides.
type connection struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	body int // bytes of the body of the answer read last
}

// dial opens so many connections.
func dial(ctx context.Context, addr string, n int) (_ []*connection, err error) {
	var out []*connection
	defer func() {
		if err != nil {
			err = errors.Join(err, hangUp(out))
		}
	}()
	for range n {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return out, err
		}
		out = append(out, &connection{conn: conn, in: bufio.NewReaderSize(conn, 16<<10)})
	}
	return out, nil
}

func hangUp(all []*connection) error {
	var err error
	for _, c := range all {
		err = errors.Join(err, c.conn.Close())
	}
	return err
}

// basicHeader is the Authorization of the caller: bench with the password
// of the house.
const basicHeader = "Basic YmVuY2g6ZmlndXJlcyBvZiB0aGUgd2hvbGUgaG91c2U="

// do sends a request and reads the answer to its end. Another status than the
// one wanted is an error that has the beginning of the body.
func (c *connection) do(method, path string, body []byte, want int) error {
	return c.ask(method, path, "", body, want)
}

// ask does the same with more header, lines that begin with their ends.
func (c *connection) ask(method, path, header string, body []byte, want int) error {
	b := append(c.out[:0], method...)
	b = append(b, ' ')
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/8\r\nAuthorization: "...)
	b = append(append(b, basicHeader...), header...)
	if body != nil {
		b = append(b, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
	}
	b = append(b, "\r\n\r\n"...)
	b = append(b, body...)
	c.out = b
	if err := c.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	if _, err := c.conn.Write(b); err != nil {
		return err
	}
	return c.answer(want)
}

// answer reads an answer that has a length, comes in chunks, or has no body.
func (c *connection) answer(want int) error {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if len(line) < len("HTTP/1.1 200") {
		return fmt.Errorf("no status line: %q", line)
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return fmt.Errorf("no status line: %q", line)
	}
	length, chunked := 0, false
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
	if status != want {
		text, _ := io.ReadAll(io.LimitReader(c.in, int64(min(length, 500))))
		return fmt.Errorf("status %d, not %d: %s", status, want, text)
	}
	if chunked {
		return c.chunks()
	}
	c.body = length
	_, err = c.in.Discard(length)
	return err
}

// chunks reads a body in chunks to its end (RFC 9112, section 7.1), with no
// trailer.
func (c *connection) chunks() error {
	for c.body = 0; ; {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseUint(string(bytes.TrimRight(line, "\r\n")), 16, 31)
		if err != nil {
			return err
		}
		c.body += int(size)
		if _, err := c.in.Discard(int(size) + len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}
