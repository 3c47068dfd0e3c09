package jqworker

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// limit bounds what this process can take from here on, beside what it has.
// At the limit of the processor's time the kernel ends it; at that of memory,
// which counts what is private and writable, the runtime gets no more and ends
// itself.
func limit(seconds, bytes uint64) error {
	has, err := dataSize()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		resource int
		most     uint64
	}{
		{syscall.RLIMIT_CPU, seconds}, {syscall.RLIMIT_DATA, has + bytes}, {syscall.RLIMIT_FSIZE, 0}, {syscall.RLIMIT_CORE, 0},
	} {
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return err
		}
	}
	debug.SetMemoryLimit(int64(bytes / 2))
	debug.SetTraceback("none") // nobody reads it
	return nil
}

// dataSize returns how much private and writable memory the process has.
func dataSize() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(status), "\nVmData:")
	if !found {
		return 0, errors.New("the kernel does not say how much memory a process has")
	}
	var kibibytes uint64
	if _, err := fmt.Sscanf(rest, "%d kB", &kibibytes); err != nil {
		return 0, err
	}
	return kibibytes << 10, nil
}
