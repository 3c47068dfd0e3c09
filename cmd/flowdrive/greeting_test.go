package main

import (
	"net"
	"testing"
)

// TestReachable: the start tells addresses that a client on this machine can open, of a
// server in a container and of one on all addresses too.
func TestReachable(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"[::]:8080":       "localhost:8080",
		"0.0.0.0:8080":    "localhost:8080",
		"127.0.0.1:8080":  "127.0.0.1:8080",
		"[::1]:8443":      "[::1]:8443",
		"192.0.2.7:80":    "192.0.2.7:80",
		"[2001:db8::1]:9": "[2001:db8::1]:9",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(tcp); got != want {
			t.Errorf("of %s: %s, want %s", addr, got, want)
		}
	}
}
