//go:build !linux

package notify

import (
	"os"
	"os/exec"
	"syscall"

	"flowdrive/internal/confine"
)

// group fails: nothing can be confined here.
func group(*exec.Cmd, string, confine.Family) error { return confine.Supported() }

func apart() *syscall.SysProcAttr { return nil }

func signalOf(*os.ProcessState) int64 { return 0 }
