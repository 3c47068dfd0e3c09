package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// terminal returns both ends of a terminal: that of a program, and what is typed into.
func terminal(t *testing.T) (tty, keys *os.File) {
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
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tty, master
}

// TestEraseAsks: on a terminal a user is not erased before the name is given again; who
// interrupts that question, or gives another name, has erased nobody.
func TestEraseAsks(t *testing.T) {
	data := t.TempDir()
	t.Setenv("FLOWDRIVE_ADMIN_PASSWORD", adminPassword)
	said := &bytes.Buffer{}
	must := func(code int, in io.Reader, args ...string) string {
		t.Helper()
		said.Reset()
		if got := run(t.Context(), append(args, "--data", data), in, said, said); got != code {
			t.Fatalf("%v: %d, %s", args, got, said)
		}
		return said.String()
	}
	must(0, nil, "init")
	must(0, strings.NewReader("a-good-password\n"), "user", "add", "eve")
	interrupted, _ := terminal(t)
	interruptAtQuestion(t, interrupted, "user", "erase", "eve", "--data", data)
	screen, keys := terminal(t)
	if _, err := keys.WriteString("eva\n"); err != nil {
		t.Fatal(err)
	}
	must(2, screen, "user", "erase", "eve")
	if list := must(0, nil, "user", "list", "-o", "name"); !strings.Contains(list, "eve") {
		t.Errorf("the users are %q", list)
	}
	if _, err := keys.WriteString("eve\n"); err != nil {
		t.Fatal(err)
	}
	must(0, screen, "user", "erase", "eve")
	if list := must(0, nil, "user", "list", "-o", "name"); strings.Contains(list, "eve") {
		t.Errorf("the users are %q", list)
	}
}
