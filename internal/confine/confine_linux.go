package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"
)

// Supported says why nothing can be confined on this system, nil where it can.
func Supported() error { return nil }

// Self bounds what this process can take from here on, beside the memory that
// it has. At the limit of the processor's time the kernel ends it; at that of
// memory, which counts what is private and writable, the runtime gets no more
// and ends itself.
func Self(l Limits) error {
	has, err := dataSize()
	if err != nil {
		return err
	}
	own := l
	own.Memory += has
	if err := own.set(); err != nil {
		return err
	}
	debug.SetMemoryLimit(int64(l.Memory / 2))
	debug.SetTraceback("none") // nobody reads it
	return nil
}

// become replaces this process by a program that is held to the limits, and
// ends with the process that started it. Its memory is new, so that the limits
// count all that it has.
func become(l Limits, path string, argv, env []string) error {
	if err := l.setOthers(); err != nil {
		return err
	}
	// Below, this process may have more memory than it may, and ends if its
	// runtime asks for any. So it is given what it needs for the little that
	// is left to do, and has no reason to begin a thread.
	const reserve = 4 << 20
	runtime.KeepAlive(make([]byte, reserve))
	runtime.GC()
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	// That a process ends with the one that started it (Pdeathsig) holds for
	// the thread alone that was started, which need not be this one.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0); errno != 0 {
		return fmt.Errorf("end with the process that started this one: %w", errno)
	}
	if err := l.setMemory(); err != nil {
		return err
	}
	return fmt.Errorf("start %s: %w", path, syscall.Exec(path, argv, env))
}

// set makes these the limits of this process and of what it becomes.
func (l Limits) set() error {
	if err := l.setOthers(); err != nil {
		return err
	}
	return l.setMemory()
}

func (l Limits) setOthers() error {
	limits := []struct {
		resource int
		most     uint64
	}{{syscall.RLIMIT_CPU, l.Processor}, {syscall.RLIMIT_CORE, 0}, {syscall.RLIMIT_FSIZE, 0}}
	for _, limit := range limits {
		if limit.resource == syscall.RLIMIT_FSIZE && !l.ReadOnly {
			continue
		}
		if err := syscall.Setrlimit(limit.resource, &syscall.Rlimit{Cur: limit.most, Max: limit.most}); err != nil {
			return fmt.Errorf("limit the process: %w", err)
		}
	}
	return nil
}

// setMemory tells the kernel without telling the scheduler, which might begin
// a thread meanwhile.
func (l Limits) setMemory() error {
	limit := syscall.Rlimit{Cur: l.Memory, Max: l.Memory}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, syscall.RLIMIT_DATA, uintptr(unsafe.Pointer(&limit)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("limit the memory of the process: %w", errno)
	}
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
		return 0, errors.New("the kernel does not report the memory of a process")
	}
	var kibibytes uint64
	if _, err := fmt.Sscanf(rest, "%d kB", &kibibytes); err != nil {
		return 0, err
	}
	return kibibytes << 10, nil
}
