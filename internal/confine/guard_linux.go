package confine

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"unsafe"
)

// guard waits until the server, which has started this process, has ended, and ends all
// processes of its clan then. The kernel ends only what the server itself has started, not
// what that has started in turn.
func guard(clan Clan, server int) error {
	// What is to stop the server may be sent to all of its processes: this one is there until
	// the server has stopped.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	end, err := openProcess(server)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("watch process %d: %w", server, err)
	}
	if err == nil && os.Getppid() == server { // else it has ended, and its number may be another's
		if err := awaitEnd(end); err != nil {
			return fmt.Errorf("wait for process %d: %w", server, err)
		}
	}
	return killFamilies(clan.Family(0), clan.Family(sizeOfClan-1))
}

// openProcess is pidfd_open(2), which tells a process from later ones of its number.
func openProcess(pid int) (int, error) {
	const pidfdOpen = 434 // on all architectures
	fd, _, errno := syscall.Syscall(pidfdOpen, uintptr(pid), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// awaitEnd waits until the process has ended, and what it has started been told so.
func awaitEnd(process int) error {
	fds := [1]struct {
		fd              int32
		events, revents int16
	}{{fd: int32(process), events: 1}} // POLLIN
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), 1, 0, 0, 0, 0)
		if errno == 0 || errno != syscall.EINTR {
			return errnoOrNil(errno)
		}
	}
}

func errnoOrNil(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
