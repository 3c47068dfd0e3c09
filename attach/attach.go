// Package attach keeps contents as files named by their SHA-256, below one
// folder: attachments, documents and large messages. Equal content is stored
// once. It does not know what refers to a content nor when it may go; the
// database does.
package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
)

var _ contents.Files = (*Folder)(nil)

// Folder is a folder of contents: "ab/cd/abcd…", "spool" for what has no name
// yet, and "pin" (see Pin). It may be used from any goroutine; one process has it open.
type Folder struct {
	path  string
	ready sync.Map // of sub-folders whose names are durable
}

// spoolName is the sub-folder of contents that are being written.
const spoolName = "spool"

// At returns the folder at the path, which need not exist, to be read beside the
// process that has it open.
func At(path string) *Folder { return &Folder{path: path} }

// Path returns the path of the folder.
func (f *Folder) Path() string { return f.path }

// Open opens the folder. It creates the folder if it does not exist, and
// removes what a process that was killed has left half-written. It fails if the
// folder cannot be created or read.
func Open(path string) (*Folder, error) {
	const op = "open the folder of contents"
	f := At(path)
	spool := filepath.Join(path, spoolName)
	if err := os.RemoveAll(spool); err != nil {
		return nil, failure(op, err)
	}
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return nil, failure(op, err)
	}
	return f, failure(op, errors.Join(syncFolder(path), syncFolder(filepath.Dir(path))))
}

// Spool reads r to its end, at most limit bytes, into a file that is durable
// but has no name yet. It holds no more of it in memory than a buffer. More
// bytes are errs.TooLarge, an error of r is returned as it is; either way
// nothing stays behind.
func (f *Folder) Spool(r io.Reader, limit int64) (contents.Spooled, error) {
	const op = "write a content"
	file, err := os.CreateTemp(filepath.Join(f.path, spoolName), "")
	if err != nil {
		return nil, failure(op, err)
	}
	s := &spooled{folder: f, path: file.Name()}
	s.sum, s.size, err = fill(file, r, limit)
	if err == nil {
		err = failure(op, file.Sync())
	}
	if closeErr := file.Close(); err == nil {
		err = failure(op, closeErr)
	}
	if err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// spooled is a content without a name.
type spooled struct {
	folder *Folder
	path   string
	sum    [sha256.Size]byte
	size   int64
}

// Sum returns the content's SHA-256.
func (s *spooled) Sum() [sha256.Size]byte { return s.sum }

// Size returns how many bytes the content has.
func (s *spooled) Size() int64 { return s.size }

// Keep gives the content its name, durably. If there is a file of that name it
// has the same content, and is replaced. Its readers can go on.
func (s *spooled) Keep() error {
	const op = "keep a content"
	name := s.folder.name(s.sum)
	dir := filepath.Dir(name)
	if err := s.folder.makeFolder(dir); err != nil {
		return failure(op, err)
	}
	if err := os.Rename(s.path, name); err != nil {
		return failure(op, err)
	}
	return failure(op, syncFolder(dir))
}

// Discard removes the content, unless it was kept.
func (s *spooled) Discard() {
	// What cannot be removed now is removed when the folder is opened again.
	_ = os.Remove(s.path)
}

// Open opens a content for reading. One that is not there is errs.NotFound.
func (f *Folder) Open(sum [sha256.Size]byte) (io.ReadSeekCloser, error) {
	file, err := os.Open(f.name(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(err)
	}
	if err != nil {
		return nil, failure("open a content", err)
	}
	return file, nil
}

// Remove removes a content, durably; one that is not there is as good. The
// caller knows that nothing refers to it and that nothing is about to. It fails
// if the file cannot be removed.
func (f *Folder) Remove(sum [sha256.Size]byte) error {
	name := f.name(sum)
	err := os.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = syncFolder(filepath.Dir(name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failure("remove a content", err)
}

// name returns the path of a content.
func (f *Folder) name(sum [sha256.Size]byte) string { return filepath.Join(f.path, Name(sum)) }

// Name returns the path of a content below its folder, "ab/cd/abcd…". Two levels
// of folders keep each one small: 10 million contents make 150 files in each of
// 65,536.
func Name(sum [sha256.Size]byte) string {
	text := hex.EncodeToString(sum[:])
	return filepath.Join(text[0:2], text[2:4], text)
}

// makeFolder makes a folder of the second level, and the one above it. Their
// names are durable before anything is named in them. That one exists does
// not say so much: another goroutine may have made it a moment ago.
func (f *Folder) makeFolder(dir string) error {
	if _, ready := f.ready.Load(dir); ready {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := errors.Join(syncFolder(filepath.Dir(dir)), syncFolder(f.path)); err != nil {
		return err
	}
	f.ready.Store(dir, true)
	return nil
}

func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// failure translates an error of the file system.
func failure(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return &errs.Error{Kind: errs.Full, Detail: "The server's disk is full. Nothing was stored; try again once there is room.", Err: errs.Wrap(op, err)}
	}
	return &errs.Error{Kind: errs.Unavailable, Detail: "The server's disk does not answer as it should. Nothing was stored; try again.", Err: errs.Wrap(op, err)}
}
