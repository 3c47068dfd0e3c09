package notify

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"flowdrive/internal/confine"
)

// group runs the command at path in a process group of its own. The processes of its
// family end with it, also those that have left the group, and it ends with the server.
// The error is errNotBecome if the process ended before it became the command.
func group(cmd *exec.Cmd, path string, family confine.Family) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return errors.Join(killGroup(cmd), confine.KillFamily(family)) }
	// The kernel takes the thread that started the process for its parent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	became, unknown := confine.Became(cmd.Process.Pid, path)
	err := cmd.Wait()
	if unknown == nil && !became {
		err = errNotBecome
	}
	// The group keeps its number until all its processes have ended.
	return errors.Join(err, killGroup(cmd), confine.KillFamily(family))
}

// apart keeps a process from what is sent to the process group of this one.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) error {
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// signalOf returns the number of the signal that ended a process, 0 for none.
func signalOf(state *os.ProcessState) int64 {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int64(status.Signal())
	}
	return 0
}
