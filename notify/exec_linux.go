package notify

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

// group runs a command in a process group of its own. The processes that it
// starts end with it, and it ends with the server.
func group(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return killGroup(cmd) }
	// The kernel takes the thread that started the process for its parent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if cmd.Process != nil {
		err = errors.Join(err, killGroup(cmd)) // the group keeps its number until all its processes have ended
	}
	return err
}

func killGroup(cmd *exec.Cmd) error {
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// neverStarts reports whether a process with these arguments will not be
// started later either: they are too long, or hold what none can.
func neverStarts(err error) bool {
	return errors.Is(err, syscall.E2BIG) || errors.Is(err, syscall.EINVAL)
}
