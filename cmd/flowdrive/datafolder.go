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
	f, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		err = errors.Join(fmt.Errorf("%w: %s", errLocked, path), f.Close())
		return nil, err
	}
	return func() error {
		// Closing is not enough: a process that is just being started has the
		// file too, until it runs its own program.
		return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
	}, nil
}
