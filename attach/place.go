package attach

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
)

// Place is where contents lie, as it is read beside the server that stores them there.
type Place interface {
	// Open opens a content. One that is not there is errs.NotFound.
	Open(sum [sha256.Size]byte) (io.ReadSeekCloser, error)

	// Size returns how many bytes a content has there. One that is not there is
	// errs.NotFound.
	Size(sum [sha256.Size]byte) (int64, error)

	// Walk calls f for everything that lies there, in any order, and returns its error.
	Walk(ctx context.Context, f func(Found) error) error

	// Delete removes what Walk has found. Nobody may be about to store the same.
	Delete(found Found) error

	// Pin keeps each content from being removed until release is called or the
	// process ends.
	Pin() (release func() error, err error)

	// Name names a content there, for people.
	Name(sum [sha256.Size]byte) string
}

// Keeper is a place of contents for the server that stores them.
type Keeper interface {
	contents.Files
	Place
}

// Found is something that lies where contents lie.
type Found struct {
	Name string // as Place.Name says it, if it is a content
	Sum  [sha256.Size]byte
	Own  bool // it has the name of a content, that of Sum
}

var _ Keeper = (*Folder)(nil)

// SumOf returns the SHA-256 of a content by its name (see Name), and whether it is one.
func SumOf(name string) (sum [sha256.Size]byte, ok bool) {
	text, err := hex.DecodeString(filepath.Base(name))
	if err != nil || len(text) != len(sum) {
		return sum, false
	}
	sum = [sha256.Size]byte(text)
	return sum, Name(sum) == name
}

// Size implements Place.
func (f *Folder) Size(sum [sha256.Size]byte) (int64, error) {
	info, err := os.Stat(f.name(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, missing(err)
	}
	if err != nil {
		return 0, failure("look at a content", err)
	}
	return info.Size(), nil
}

func missing(err error) error {
	return &errs.Error{Kind: errs.NotFound, Detail: "There is no such content.", Err: err}
}

// Walk implements Place. It passes over what belongs to the folder itself: what is being
// written, and the files "pin" and "location".
func (f *Folder) Walk(ctx context.Context, do func(Found) error) error {
	err := filepath.WalkDir(f.path, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return failure("look for contents", err)
		}
		below, err := filepath.Rel(f.path, path)
		if err != nil || e.IsDir() || below == pinName || below == locationName || strings.HasPrefix(below, spoolName+string(filepath.Separator)) {
			return err
		}
		sum, own := SumOf(below)
		if err := do(Found{Name: filepath.Join(filepath.Base(f.path), below), Sum: sum, Own: own}); err != nil {
			return err
		}
		return ctx.Err()
	})
	return err
}

// Delete implements Place.
func (f *Folder) Delete(found Found) error {
	return failure("remove a file", os.Remove(filepath.Join(filepath.Dir(f.path), found.Name)))
}

// Pin implements Place. Without a folder there is nothing to pin.
func (f *Folder) Pin() (release func() error, err error) {
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	return Pin(f.path)
}

// Name implements Place: the path of the file, from the folder on.
func (f *Folder) Name(sum [sha256.Size]byte) string {
	return filepath.Join(filepath.Base(f.path), Name(sum))
}
