package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"flowdrive/engine/contents"
	"flowdrive/store/sqlite"
)

// restoringName is the database while it is being restored. Until it has its own
// name, a server refuses the folder.
const restoringName = databaseName + ".restoring"

// dataLockName is the file by which a server locks its data folder.
const dataLockName = "lock"

// Restoration says how a backup is restored.
type Restoration struct {
	// Into is called with the path of the folder of contents, which does not exist yet, and the
	// contents are stored in what it returns. What that has got stays there if something fails. nil: the
	// contents are files of the data folder.
	Into func(folder string) (contents.Files, error)

	// Prepare changes the database that was restored, before a server takes the folder for a
	// good one; nil: nothing is changed.
	Prepare func(ctx context.Context, database string) error

	Progress func(Progress)
}

// Restore makes the data folder of a backup: the folder must not exist or be
// empty. Each file is compared with the manifest while it is copied. Errors say
// what is wrong in words for people; what was made by then is removed.
func Restore(ctx context.Context, src, data string, how Restoration) (_ *Manifest, err error) {
	newest, err := sqlite.NewestSchema()
	if err != nil {
		return nil, err
	}
	m, err := ReadManifest(src)
	if err != nil {
		return nil, err
	}
	if m.Schema > newest {
		return nil, fmt.Errorf("the backup has schema version %d, this program knows %d: it was made by a newer program (%s), use that one", m.Schema, newest, m.Version)
	}
	if err := outsideBackups(src, data); err != nil {
		return nil, err
	}
	made, err := emptyFolder(data)
	if err != nil {
		return nil, err
	}
	unlock, err := claimFolder(data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	r := &restorer{src: src, data: data, manifest: m, progress: how.Progress, folders: map[string]bool{}}
	if err := r.restore(ctx, how); err != nil {
		return nil, errors.Join(r.explain(err), r.undo(made))
	}
	return m, nil
}

// outsideBackups refuses a data folder in a backup, or with the name of one beside it: it
// may be removed with the backup that it is in, or as one that was not finished.
func outsideBackups(src, data string) error {
	from, err := realPath(src)
	if err != nil {
		return fmt.Errorf("find the backup: %w", err)
	}
	to, err := realPath(data)
	if err != nil {
		return fmt.Errorf("find the data folder: %w", err)
	}
	path, err := filepath.Rel(filepath.Dir(from), to)
	if err != nil {
		return fmt.Errorf("find the data folder: %w", err)
	}
	if first, _, _ := strings.Cut(path, string(filepath.Separator)); isFolderName(first) {
		return fmt.Errorf("%s is where the backup %s is or would be, and old backups are removed; give a folder elsewhere", data, first)
	}
	return nil
}

// claimFolder locks an empty data folder, as a server does: of two that restore into
// it at the same time one is refused, and so is a server that is started meanwhile.
func claimFolder(data string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(data, dataLockName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("the folder %s is in use by another flowdrive", data)
	}
	if err != nil {
		return nil, fmt.Errorf("write to the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the data folder: %w", err), f.Close())
	}
	return func() error { return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close()) }, nil
}

// emptyFolder makes the folder, or refuses one that has something in it.
func emptyFolder(data string) (made bool, err error) {
	entries, err := os.ReadDir(data)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(data, 0o700); err != nil {
			return false, fmt.Errorf("make the data folder: %w", err)
		}
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look into the data folder: %w", err)
	}
	if len(entries) > 0 {
		return false, fmt.Errorf("the folder %s is not empty (it has %s); a backup is restored into a new folder, so that nothing is overwritten", data, entries[0].Name())
	}
	return false, nil
}

// restorer restores one backup.
type restorer struct {
	src, data string
	into      contents.Files // nil: the data folder
	manifest  *Manifest
	progress  func(Progress)
	folders   map[string]bool
	done      int64
}

// restore restores the contents, and then the database: a folder without it is not
// taken for a good one.
func (r *restorer) restore(ctx context.Context, how Restoration) (err error) {
	if how.Into != nil {
		if r.into, err = how.Into(filepath.Join(r.data, contentsName)); err != nil {
			return err
		}
	}
	var database File
	for _, f := range r.manifest.Files {
		if f.Path == databaseName {
			database = f
			continue
		}
		if err := r.content(ctx, f); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(r.data, contentsName), 0o700); err != nil {
		return err
	}
	for path := range r.folders {
		if err := syncFolder(path); err != nil {
			return err
		}
	}
	restoring := filepath.Join(r.data, restoringName)
	if err := r.copy(ctx, database, restoring); err != nil {
		return err
	}
	if how.Prepare != nil {
		if err := how.Prepare(ctx, restoring); err != nil {
			return err
		}
	}
	if err := errors.Join(syncFolder(filepath.Join(r.data, contentsName)), syncFolder(r.data)); err != nil {
		return err
	}
	if err := os.Rename(restoring, filepath.Join(r.data, databaseName)); err != nil {
		return err
	}
	return errors.Join(syncFolder(r.data), syncFolder(filepath.Dir(r.data)))
}

// content brings a content to where contents lie.
func (r *restorer) content(ctx context.Context, f File) (err error) {
	if r.into == nil {
		return r.copy(ctx, f, filepath.Join(r.data, filepath.FromSlash(f.Path)))
	}
	path := filepath.Join(r.src, filepath.FromSlash(f.Path))
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	s, err := r.into.Spool(&reading{ctx.Err, in}, math.MaxInt64)
	if err != nil {
		return err
	}
	if sum := s.Sum(); hex.EncodeToString(sum[:]) != f.SHA256 {
		s.Discard()
		return r.damaged(path, sum, s.Size(), f)
	}
	if err := s.Keep(); err != nil {
		s.Discard()
		return err
	}
	r.show(s.Size())
	return nil
}

// damaged says that a file of the backup is not what the manifest says.
func (*restorer) damaged(path string, sum [32]byte, size int64, f File) error {
	return fmt.Errorf("the backup is damaged: %s has %d bytes with the SHA-256 %x, the manifest says %d bytes and %s", path, size, sum, f.Size, f.SHA256)
}

func (r *restorer) show(size int64) {
	r.done += size
	r.progress(Progress{r.done, r.manifest.Bytes})
}

// copy copies a file and compares it with what the manifest says.
func (r *restorer) copy(ctx context.Context, f File, to string) error {
	folder := filepath.Dir(to)
	if !r.folders[folder] {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		for at := folder; at != r.data && !r.folders[at]; at = filepath.Dir(at) {
			r.folders[at] = true
		}
	}
	from := filepath.Join(r.src, filepath.FromSlash(f.Path))
	sum, size, err := copyFile(ctx, from, to)
	if err != nil {
		return err
	}
	if hex.EncodeToString(sum[:]) != f.SHA256 {
		return r.damaged(from, sum, size, f)
	}
	r.show(size)
	return nil
}

func (r *restorer) explain(err error) error {
	switch {
	case isFull(err):
		return fmt.Errorf("there is not enough room in %s for the backup; nothing was restored (%w)", r.data, err)
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; nothing was restored")
	}
	return fmt.Errorf("nothing was restored: %w", err)
}

// undo removes what was made, and the folder if it did not exist before.
func (r *restorer) undo(made bool) error {
	if made {
		return os.RemoveAll(r.data)
	}
	var all []error
	for _, name := range []string{contentsName, restoringName, restoringName + "-wal", restoringName + "-shm", databaseName, dataLockName} {
		all = append(all, os.RemoveAll(filepath.Join(r.data, name)))
	}
	return errors.Join(all...)
}
