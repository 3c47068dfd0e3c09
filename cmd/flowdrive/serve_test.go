package main

import (
	"net"
	"testing"
)

// TestAddressInUse: who starts a second server is told which address is taken, and what to do.
func TestAddressInUse(t *testing.T) {
	t.Parallel()
	var listen net.ListenConfig
	first, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}()
	at := first.Addr().String()
	second, err := listen.Listen(t.Context(), "tcp", at)
	if err == nil {
		t.Fatalf("a second listener at %s, %v", at, second.Close())
	}
	want := "listen on " + at + ": bind: address already in use; choose another with --addr"
	if got := cannotListen(err).Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
