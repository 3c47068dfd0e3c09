package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// terminal returns the end of a terminal that a program has.
func terminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() }) // it ends the read that nobody waits for
	var locked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tty
}

// TestLogOutIsInterrupted: who interrupts the question of logout is still logged in.
func TestLogOutIsInterrupted(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	withServer(t, func(s *inProcess) {
		server := httptest.NewServer(s.server.Handler())
		defer server.Close()
		said := &bytes.Buffer{}
		answers := strings.NewReader("admin\n" + s.passwords["admin"] + "\n")
		if code := run(t.Context(), []string{"login", server.URL}, answers, io.Discard, said); code != 0 {
			t.Fatalf("login: %d, %s", code, said)
		}
		kept := filepath.Join(home, ".config", "flowdrive", "profiles.json")
		before, err := os.ReadFile(kept)
		if err != nil {
			t.Fatal(err)
		}
		interruptAtQuestion(t, terminal(t), "logout")
		if after, err := os.ReadFile(kept); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the log-in that was kept has changed: %v", err)
		}
	})
}
