package main

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReleaseStartPages: only what is of the program's file, cannot be written and was
// never written is unmapped, and the program goes on afterwards.
func TestReleaseStartPages(t *testing.T) {
	t.Parallel()
	smaps := strings.Join([]string{
		"00400000-00403000 r--p 00000000 fe:00 17                         /usr/bin/flow drive",
		"Size:                 12 kB", "Anonymous:             0 kB", "VmFlags: rd mr mw me",
		"00403000-01b71000 r-xp 00003000 fe:00 17                         /usr/bin/flow drive",
		"Size:              23992 kB", "Anonymous:             0 kB",
		"01b71000-035ba000 r--p 01771000 fe:00 17                         /usr/bin/flow drive",
		"Size:                 12 kB", "Anonymous:            12 kB", // relocated
		"035ba000-035bd000 rw-p 031bd000 fe:00 17                         /usr/bin/flow drive",
		"Anonymous:             0 kB",
		"7f0000000000-7f0000001000 r--p 00000000 fe:00 18                 /usr/lib/libc.so.6",
		"Anonymous:             0 kB",
		"7f0000002000-7f0000003000 r--p 00000000 00:00 0 ",
		"Anonymous:             0 kB",
	}, "\n")
	got, err := unchangedMappings(bufio.NewScanner(strings.NewReader(smaps)), "/usr/bin/flow drive")
	if err != nil {
		t.Fatal(err)
	}
	want := []mapping{{0x400000, 0x403000}, {0x403000, 0x1b71000}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mapping{})); diff != "" {
		t.Error(diff)
	}
	if _, err := unchangedMappings(bufio.NewScanner(strings.NewReader("x-y r--p\n")), "x"); err == nil {
		t.Error("a line that is not one of smaps was read")
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	own, err := unchangedMappings(bufio.NewScanner(file), self)
	if err != nil || len(own) == 0 {
		t.Errorf("of this program: %d mappings, %v", len(own), err)
	}
	if err := releaseStartPages(); err != nil {
		t.Error(err)
	}
}
