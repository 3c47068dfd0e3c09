package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
)

// connection is a ResponseWriter that notes its deadlines.
type connection struct {
	*httptest.ResponseRecorder
	read, write time.Time
}

func (c *connection) SetReadDeadline(t time.Time) error  { c.read = t; return nil }
func (c *connection) SetWriteDeadline(t time.Time) error { c.write = t; return nil }

func newExchange() (*exchange, *connection, *testClock) {
	c, clock := &connection{ResponseRecorder: httptest.NewRecorder()}, newTestClock()
	return &exchange{ResponseWriter: c, started: clock.now(), written: clock.now(), now: clock.now}, c, clock
}

// sender sends so many bytes every so often, until the connection's deadline.
type sender struct {
	clock *testClock
	c     *connection
	every time.Duration
	bytes int
	left  int
}

func (s *sender) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	if next := s.clock.now().Add(s.every); next.After(s.c.read) {
		s.clock.advance(s.c.read.Sub(s.clock.now()))
		return 0, os.ErrDeadlineExceeded
	}
	s.clock.advance(s.every)
	n := min(s.bytes, s.left, len(p))
	s.left -= n
	return n, nil
}

func (s *sender) Close() error { return nil }

// TestSlowBodies: a body that comes at less than slowestBody is given up, and so
// is one that takes longer than bodyTimeout.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for _, tt := range []struct {
		name     string
		every    time.Duration
		bytes    int
		size     int
		thinking time.Duration // of the server, after each part
		want     time.Duration // when the body is given up; 0: it comes whole
	}{
		{"at once", 0, 1 << 10, 1 << 20, 0, 0},
		{"nothing", 2 * time.Minute, 1, 10, 0, stallTimeout},
		{"a byte a minute", 59 * second, 1, 10, 0, stallTimeout + second/slowestBody},
		{"ten bytes in time", 5 * second, 1, 10, 0, 0},
		{"half of the slowest rate", second, slowestBody / 2, 1 << 20, 0, 2 * stallTimeout},
		{"the slowest rate", second, slowestBody, 1 << 20, 0, 0},
		{"large parts, seldom", stallTimeout, 64 * slowestBody, 1 << 20, 0, 0},
		{"a slow server", second, slowestBody, 1 << 18, 2 * stallTimeout, 0},
		{"a day", stallTimeout, 100 * slowestBody, 1 << 30, 0, bodyTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x, c, clock := newExchange()
			b := newRequestBody(&sender{clock, c, tt.every, tt.bytes, tt.size}, x)
			begun, got := clock.now(), 0
			part := make([]byte, 1<<20)
			var err error
			for err == nil {
				var n int
				n, err = b.Read(part)
				got += n
				clock.advance(tt.thinking)
			}
			if tt.want == 0 {
				if err != io.EOF || got != tt.size || !c.read.IsZero() { //nolint:errorlint // a reader's end
					t.Errorf("%d of %d bytes after %v, %v; then the deadline is %v", got, tt.size, clock.now().Sub(begun), err, c.read)
				}
				return
			}
			fault := bodyFault(err)
			if fault == nil || fault.Kind != errs.TooSlow {
				t.Fatalf("%d bytes after %v: %v; want %s", got, clock.now().Sub(begun), err, errs.TooSlow)
			}
			if took := clock.now().Sub(begun); took < tt.want-second || took > tt.want {
				t.Errorf("given up after %v; want %v", took, tt.want)
			}
		})
	}
}

// TestDeadlinesMoveWithTheBody: while a body comes the answer is not late.
func TestDeadlinesMoveWithTheBody(t *testing.T) {
	t.Parallel()
	x, c, clock := newExchange()
	b := newRequestBody(&sender{clock, c, stallTimeout / 2, 1 << 20, 3 << 20}, x)
	begun := clock.now()
	if want := begun.Add(stallTimeout); !c.read.Equal(want) || !c.write.IsZero() {
		t.Errorf("at first: read until %v, write until %v; want %v and whatever net/http set", c.read, c.write, want)
	}
	for i := range 3 {
		at := clock.now()
		if n, err := b.Read(make([]byte, 1<<20)); n != 1<<20 || err != nil {
			t.Errorf("part %d: %d bytes, %v", i, n, err)
		}
		if i > 0 && (!c.read.Equal(at.Add(stallTimeout)) || !c.write.Equal(at.Add(2*stallTimeout))) {
			t.Errorf("part %d: read until %v, write until %v", i, c.read, c.write)
		}
	}
}

func TestDeadlineMovesWithTheAnswer(t *testing.T) {
	t.Parallel()
	x, c, clock := newExchange()
	_, _ = x.Write([]byte("a"))
	if !c.write.IsZero() {
		t.Errorf("at once: write until %v", c.write)
	}
	clock.advance(stallTimeout / 2)
	_, _ = x.Write([]byte("b"))
	if !c.write.Equal(clock.now().Add(stallTimeout)) {
		t.Errorf("later: write until %v", c.write)
	}
	if x.status != 200 || x.bytes != 2 {
		t.Errorf("status %d, %d bytes", x.status, x.bytes)
	}
}

func TestReadFrom(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789"), 60_000)
	broken := errors.New("disk on fire")
	tests := []struct {
		name string
		src  io.Reader
		want int
		err  error
	}{
		{"whole", bytes.NewReader(content), len(content), nil},
		{"empty", strings.NewReader(""), 0, nil},
		{"a part", io.LimitReader(bytes.NewReader(content), 300_000), 300_000, nil},
		{"more than there is", io.LimitReader(bytes.NewReader(content), 1<<40), len(content), nil},
		{"nothing of it", io.LimitReader(bytes.NewReader(content), 0), 0, nil},
		{"broken off", io.MultiReader(bytes.NewReader(content), failing{broken}), len(content), broken},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			x, c, _ := newExchange()
			n, err := x.ReadFrom(test.src)
			if n != int64(test.want) || !errors.Is(err, test.err) || x.bytes != n {
				t.Errorf("ReadFrom = %d, %v, counted %d; want %d, %v", n, err, x.bytes, test.want, test.err)
			}
			if !bytes.Equal(c.Body.Bytes(), content[:test.want]) {
				t.Error("other bytes arrived")
			}
			if limited, ok := test.src.(*io.LimitedReader); ok && test.name == "a part" && limited.N != 0 {
				t.Errorf("the limit is %d afterwards; want 0", limited.N)
			}
		})
	}
}

// socket is a connection that counts what goes to it past the buffer of the header.
type socket struct {
	*connection
	direct int
}

func (s *socket) ReadFrom(src io.Reader) (int64, error) {
	s.direct++
	return io.Copy(s.connection, src)
}

// TestReadFromMemory: only a file goes past the buffer of the header.
func TestReadFromMemory(t *testing.T) {
	t.Parallel()
	file, err := os.Open("exchange_test.go")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	for _, test := range []struct {
		name string
		src  io.Reader
		want int
	}{
		{"memory", strings.NewReader("package server"), 0},
		{"a part of memory", io.LimitReader(strings.NewReader("package server"), 14), 0},
		{"a part of a file", io.LimitReader(file, 14), 1},
	} {
		x, c, _ := newExchange()
		s := &socket{connection: c}
		x.ResponseWriter = s
		if n, err := x.ReadFrom(test.src); n != 14 || err != nil || c.Body.String() != "package server" {
			t.Errorf("%s: %d bytes, %v, %q", test.name, n, err, c.Body)
		}
		if s.direct != test.want {
			t.Errorf("%s went past the buffer %d times; want %d", test.name, s.direct, test.want)
		}
	}
}

func TestInformationalAnswers(t *testing.T) {
	t.Parallel()
	x, c, _ := newExchange()
	x.WriteHeader(http.StatusEarlyHints)
	if x.status != 0 {
		t.Errorf("after 103 the status is %d", x.status)
	}
	x.WriteHeader(http.StatusNoContent)
	x.Flush()
	if x.status != http.StatusNoContent || !c.Flushed {
		t.Errorf("status %d, flushed %t", x.status, c.Flushed)
	}
	y, _, _ := newExchange()
	if y.Flush(); y.status != http.StatusOK {
		t.Errorf("after Flush the status is %d; want 200", y.status)
	}
}
