package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// olderSuffix is what the copy of a database has behind its name that is made before
// its schema is changed.
const olderSuffix = ".before-migration"

// CopyOlder copies a database whose schema is older than this program's to a file beside
// it, durably, and returns the path of the copy: a new program may have to be taken
// back. It replaces the copy of an earlier time. It does nothing and returns "" if the
// schema is not older, or if there is no database. If there is one without a schema, it
// returns ErrEmpty.
func CopyOlder(ctx context.Context, path string) (to string, err error) {
	const op = "copy the database before its schema is changed"
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return "", nil
	}
	newest, err := NewestSchema()
	if err != nil {
		return "", err
	}
	source, err := OpenSource(ctx, path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if source.Schema() == newest {
		return "", nil
	}
	to = path + olderSuffix
	unfinished := to + ".unfinished"
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", failure(op, err)
	}
	if err := source.Copy(ctx, unfinished, func(int64, int64) {}); err != nil {
		return "", errors.Join(err, os.Remove(unfinished))
	}
	return to, failure(op, os.Rename(unfinished, to))
}
