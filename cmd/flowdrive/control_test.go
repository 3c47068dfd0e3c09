package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestControlSocketIsItsOwners: nobody else may open the control socket, at no moment
// and under any umask, and what others create meanwhile keeps its mode.
func TestControlSocketIsItsOwners(t *testing.T) {
	data := t.TempDir()
	mask := syscall.Umask(0)
	listener, done, err := listenControl(t.Context(), data)
	syscall.Umask(mask)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(data, socketName))
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("the control socket has the mode %o; want 600", got)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
}
