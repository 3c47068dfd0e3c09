package main

import (
	"errors"
	"os"
	"syscall"
)

// dropCached has the kernel read the file from the disk when it is used next, as after a
// boot, unless another process has mapped it. What has just been written is in its cache
// in pieces of 2 MiB, which newer kernels map as a whole.
func dropCached(name string) (err error) {
	const dontNeed = 4 // POSIX_FADV_DONTNEED of posix_fadvise(2)
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Sync(); err != nil {
		return err
	}
	if _, _, fault := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); fault != 0 {
		return os.NewSyscallError("fadvise", fault)
	}
	return nil
}
