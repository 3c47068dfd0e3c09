package confine

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// guard waits until the server, which has started this process, has ended, and ends all
// processes of its clan then. The kernel ends only what the server itself has started, not
// what that has started in turn.
func guard(clan Clan, server int) error {
	// What is to stop the server may be sent to all of its processes: this one is there until
	// the server has stopped.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	end, err := unix.PidfdOpen(server, 0) // which tells the process from later ones of its number
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

// awaitEnd waits until the process has ended.
func awaitEnd(process int) error {
	fds := []unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
