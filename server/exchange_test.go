package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
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

func TestDeadlinesMoveWithTheBody(t *testing.T) {
	t.Parallel()
	x, c, clock := newExchange()
	b := newRequestBody(io.NopCloser(strings.NewReader("abc")), x)
	begun := clock.now()
	if want := begun.Add(stallTimeout); !c.read.Equal(want) || !c.write.IsZero() {
		t.Errorf("at first: read until %v, write until %v; want %v and whatever net/http set", c.read, c.write, want)
	}
	read := func() error { _, err := b.Read(make([]byte, 1)); return err }
	if err := read(); err != nil || !c.read.Equal(begun.Add(stallTimeout)) {
		t.Errorf("at once: read until %v, %v", c.read, err)
	}
	clock.advance(stallTimeout / 2)
	if err := read(); err != nil || !c.read.Equal(clock.now().Add(stallTimeout)) || !c.write.Equal(clock.now().Add(2*stallTimeout)) {
		t.Errorf("later: read until %v, write until %v, %v", c.read, c.write, err)
	}
	for range 2 {
		_ = read()
	}
	if !c.read.IsZero() {
		t.Errorf("after the end: read until %v; want for ever", c.read)
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
