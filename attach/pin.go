package attach

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// pinName is the file in the folder of contents by which contents are pinned. Who
// pins them has a shared lock on it, who removes one an exclusive one. The
// kernel frees the lock of a process that dies, however it dies.
const pinName = "pin"

// Pin keeps each content of a folder from being removed, also by other processes,
// until release is called or this process ends. The folder need not be open
// here. If contents are just being removed, Pin waits until these have gone. It
// fails if there is no such folder, or if it cannot be written.
func Pin(path string) (release func() error, err error) {
	const op = "pin the contents"
	f, err := openPin(path)
	if err != nil {
		return nil, failure(op, err)
	}
	if err := flock(f, syscall.LOCK_SH); err != nil {
		return nil, failure(op, errors.Join(err, f.Close()))
	}
	return func() error { return failure("unpin the contents", unlock(f)) }, nil
}

// Unpinned runs f while nobody can pin the contents of the folder, and reports
// whether it did: it does not if they are pinned. It returns f's error.
func (f *Folder) Unpinned(do func() error) (ran bool, err error) {
	const op = "look whether the contents are pinned"
	pin, err := openPin(f.path)
	if err != nil {
		return false, failure(op, err)
	}
	if err := flock(pin, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, failure(op, pin.Close())
		}
		return false, failure(op, errors.Join(err, pin.Close()))
	}
	defer func() { err = errors.Join(err, failure(op, unlock(pin))) }()
	return true, do()
}

func openPin(path string) (*os.File, error) {
	return os.OpenFile(filepath.Join(path, pinName), os.O_RDWR|os.O_CREATE, 0o600)
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// unlock frees the lock before it closes the file: a process that is just being
// started has the file too, until it runs its own program.
func unlock(f *os.File) error {
	return errors.Join(flock(f, syscall.LOCK_UN), f.Close())
}

// Exists reports whether there is a folder of contents at the path that has, or
// had, contents, or says that they lie elsewhere.
func Exists(path string) (bool, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, e := range entries {
		if len(e.Name()) == 2 || e.Name() == locationName {
			return true, nil
		}
	}
	return false, failure("look for contents", err)
}
