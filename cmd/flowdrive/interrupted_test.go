package main

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"testing"
)

// prompt is what commands write to, and tells when it has been written to.
type prompt struct {
	bytes.Buffer
	once chan struct{}
}

func (a *prompt) Write(p []byte) (int, error) {
	select {
	case a.once <- struct{}{}:
	default:
	}
	return a.Buffer.Write(p)
}

// interruptAtQuestion interrupts a command as soon as it has asked something, and wants it to
// end with that.
func interruptAtQuestion(t *testing.T, in io.Reader, args ...string) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	question := &prompt{once: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, args, in, io.Discard, question) }()
	select {
	case <-question.once:
		interrupt()
	case code := <-ended:
		t.Fatalf("it did not ask: %d, %s", code, question)
	}
	if code := <-ended; code != exitInterrupted {
		t.Errorf("it ended with %d; want %d", code, exitInterrupted)
	}
}

// TestQuestionIsInterrupted: a command that waits for an answer ends with the signal,
// before the answer and without one.
func TestQuestionIsInterrupted(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	withServer(t, func(s *inProcess) {
		server := httptest.NewServer(s.server.Handler())
		defer server.Close()
		in, answers := io.Pipe()
		defer func() { _ = answers.Close() }() // ends the read that nobody waits for
		interruptAtQuestion(t, in, "login", server.URL)
	})
}

// TestWatchIsInterrupted: watch ends with the signal as every command does.
func TestWatchIsInterrupted(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	withServer(t, func(s *inProcess) {
		server := httptest.NewServer(s.server.Handler())
		defer server.Close()
		t.Setenv(environmentPrefix+"URL", server.URL)
		t.Setenv(environmentPrefix+"USER", "admin")
		t.Setenv(environmentPrefix+"PASSWORD", s.passwords["admin"])
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		if code := run(ctx, []string{"watch"}, &bytes.Buffer{}, io.Discard, io.Discard); code != exitInterrupted {
			t.Errorf("it ended with %d; want %d", code, exitInterrupted)
		}
	})
}
