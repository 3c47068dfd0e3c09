package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// The files of a data folder.
const (
	databaseName = "flowdrive.db"
	lockName     = "lock"
	socketName   = "control.sock"
	contentsName = "contents"
	commandsName = "commands"
	storiesName  = "stories"
)

// errLocked says that another process has the data folder open.
var errLocked = errors.New("the data folder is in use by another flowdrive")

// lockFolder locks the data folder for this process, and creates it if it does
// not exist. Two servers on one SQLite database would lose work. It fails if
// another process has the lock.
func lockFolder(path string) (unlock func() error, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	return lock(path, os.O_RDWR|os.O_CREATE)
}

// lockExisting is lockFolder for a data folder that is there: it creates nothing.
func lockExisting(path string) (unlock func() error, err error) { return lock(path, os.O_RDWR) }

func lock(path string, how int) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(path, lockName), how, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	// The file may be deleted while it is locked. The folder itself cannot, as long as
	// there is something in it.
	folder, err := os.Open(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the data folder: %w", err), f.Close())
	}
	for _, what := range []*os.File{f, folder} {
		if err := syscall.Flock(int(what.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %s", errLocked, path), f.Close(), folder.Close())
		}
	}
	return func() error {
		// Closing is not enough: a process that is just being started has the
		// files too, until it runs its own program.
		return errors.Join(
			syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close(),
			syscall.Flock(int(folder.Fd()), syscall.LOCK_UN), folder.Close())
	}, nil
}
