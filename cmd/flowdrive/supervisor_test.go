package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSystemdIsTold: a server that systemd has started says when it is ready, that it
// lives, when it reads its settings again, and when it stops.
func TestSystemdIsTold(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	address := filepath.Join(folder, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	if err := socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	// next returns the next message that is not a sign of life.
	next := func() string {
		t.Helper()
		buffer := make([]byte, 1<<10)
		for {
			n, err := socket.Read(buffer)
			if err != nil {
				t.Fatal(err)
			}
			if state := string(buffer[:n]); state != "WATCHDOG=1" {
				return state
			}
		}
	}
	config := filepath.Join(folder, "flowdrive.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("log-level: error\n")
	cmd := childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(folder, "data"), "--config", config)
	cmd.Env = []string{"NOTIFY_SOCKET=" + address, "WATCHDOG_USEC=200000"}
	p := startServe(t, cmd)
	send := func(signal syscall.Signal) {
		t.Helper()
		if err := p.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	if state := next(); state != "READY=1" {
		t.Fatalf("at the start: %q", state)
	}
	write("log-level: warn\nquota: 5GiB\n")
	send(syscall.SIGHUP)
	if state := next(); !strings.HasPrefix(state, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Fatalf("after SIGHUP: %q", state)
	}
	if state := next(); state != "READY=1\nSTATUS=Restart for: quota" {
		t.Fatalf("when it has reloaded: %q", state)
	}
	write("log-level: loud\nquota: many\n")
	send(syscall.SIGHUP)
	next()
	if state := next(); !strings.HasPrefix(state, "READY=1\nSTATUS=Reload failed, all stays as it was: ") || !strings.Contains(state, "quota: ") {
		t.Fatalf("when it could not reload: %q", state)
	}
	write("log-level: warn\n")
	send(syscall.SIGHUP)
	next()
	if state := next(); state != "READY=1\nSTATUS=" {
		t.Fatalf("when all is well again: %q", state)
	}
	for alive := 0; alive < 2; alive++ { // systemd waits for them
		buffer := make([]byte, 1<<10)
		if n, err := socket.Read(buffer); err != nil || string(buffer[:n]) != "WATCHDOG=1" {
			t.Fatalf("a sign of life: %q, %v", buffer[:n], err)
		}
	}
	send(syscall.SIGTERM)
	if state := next(); state != "STOPPING=1" {
		t.Fatalf("after SIGTERM: %q", state)
	}
	go func() { // a server whose signs of life nobody reads would wait
		buffer := make([]byte, 1<<10)
		for {
			if _, err := socket.Read(buffer); err != nil {
				return
			}
		}
	}()
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	log := p.complaints.String()
	for _, want := range []string{`"after_a_restart":["quota"]`, `counts after a restart only: quota"`, `flowdrive.yaml:2:8: quota: `, `all stays as it was`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not have %q:\n%s", want, log)
		}
	}
}
