package confine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// realTime is RLIMIT_RTTIME of setrlimit(2).
const realTime = 15

// KillFamily ends all processes of a family, those that have left its process group and
// session too, and returns when no process is left that could start another. Only
// processes of the same user are looked at.
func KillFamily(f Family) error { return killFamilies(f, f) }

// killFamilies ends all processes of the families from one to the other.
func killFamilies(from, to Family) error {
	killed := map[int]bool{}
	for {
		found, err := ofFamilies(from, to)
		if err != nil {
			return err
		}
		var faults []error
		another := false
		for _, pid := range found {
			if killed[pid] { // it is about to end, and starts nothing any more
				continue
			}
			another, killed[pid] = true, true
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				faults = append(faults, fmt.Errorf("end process %d: %w", pid, err))
			}
		}
		if err := errors.Join(faults...); err != nil || !another {
			return err
		}
	}
}

// ofFamilies returns the processes of the families from one to the other.
func ofFamilies(from, to Family) ([]int, error) {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []int
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue // not a process
		}
		var limit syscall.Rlimit
		_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), realTime, 0, uintptr(unsafe.Pointer(&limit)), 0, 0)
		if errno == 0 && limit.Max >= uint64(from) && limit.Max <= uint64(to) { // else it has ended, or is somebody else's
			found = append(found, pid)
		}
	}
	return found, nil
}
