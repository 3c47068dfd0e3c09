package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"
)

// Supported says why processes cannot be limited on this system, or returns nil
// if they can.
func Supported() error { return nil }

// Self limits what this process can take from now on, in addition to the memory
// that it has. At the limit of processor time the kernel ends it. At the limit
// of memory, which counts private writable memory, the runtime gets no more and
// ends the process.
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
	debug.SetTraceback("none") // there is no reader
	return nil
}

// become replaces this process by a program that is held to the limits, and
// ends with the process that started it. Its memory is new, so that the limits
// count all that it has.
func become(l Limits, path string, argv, env []string) error {
	if err := mark(); err != nil {
		return err
	}
	if err := l.setOthers(); err != nil {
		return err
	}
	// What the kernel is told is made before the limit of memory is set, because
	// this process may have more than that already, and its runtime ends it if
	// it gets no more.
	program, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	arguments, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return err
	}
	variables, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return err
	}
	// Without memory nothing can be said, so a program that is not there is found before.
	const executable = 1 // X_OK
	if err := syscall.Access(path, executable); err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	const reserve = 4 << 20 // for what is said if the program cannot be started all the same
	runtime.MemProfileRate = 0
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
	// Not syscall.Exec, which takes memory.
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(program)),
		uintptr(unsafe.Pointer(&arguments[0])), uintptr(unsafe.Pointer(&variables[0])))
	runtime.KeepAlive(variables)
	return fmt.Errorf("start %s: %w", path, errno)
}

// marker is the name that a process has until it becomes a program. The kernel
// names it for the program in the same call that starts that one, so the two cannot
// be taken for each other whenever the process ends.
const marker = "flowdrive:start" // as long as a name may be

// mark names this process as one that has not become a program yet.
func mark() error {
	if err := os.WriteFile("/proc/self/comm", []byte(marker), 0); err != nil {
		return fmt.Errorf("name the process: %w", err)
	}
	return nil
}

// Became waits until a process that was to become the program at path has ended, and
// reports whether it had become it. If not, what the process wrote and how it ended
// says nothing of that program. The caller must be its parent, and still wait for it.
func Became(pid int, path string) (bool, error) {
	const (
		ofProcess = 1 // P_PID
		keep      = 0x01000000
	)
	for {
		var info [128]byte // siginfo_t, which is not looked at
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, ofProcess, uintptr(pid), uintptr(unsafe.Pointer(&info[0])), syscall.WEXITED|keep, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return false, fmt.Errorf("wait for process %d: %w", pid, errno)
		}
		break
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return false, fmt.Errorf("read the name of process %d: %w", pid, err)
	}
	is := strings.TrimSuffix(string(name), "\n")
	// Before it could mark itself it has the name of Program.
	return is != marker && (is != filepath.Base(Program) || filepath.Base(path) == filepath.Base(Program)), nil
}

// set applies the limits to this process and to the program that it becomes.
func (l Limits) set() error {
	if err := l.setOthers(); err != nil {
		return err
	}
	return l.setMemory()
}

func (l Limits) setOthers() error {
	if l.Family != 0 {
		if err := syscall.Setrlimit(realTime, &syscall.Rlimit{Cur: uint64(l.Family), Max: uint64(l.Family)}); err != nil {
			return fmt.Errorf("tell the process from others: %w", err)
		}
	}
	limits := []struct {
		resource int
		most     uint64
	}{{syscall.RLIMIT_CPU, l.Processor}, {syscall.RLIMIT_CORE, 0}, {syscall.RLIMIT_FSIZE, l.File}}
	for _, limit := range limits {
		if limit.resource == syscall.RLIMIT_FSIZE && l.File == 0 && !l.ReadOnly {
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
