// Package backup makes backups of a data folder while a server writes it, thins
// them, and restores them (docs/contract/storage.md#5-backups). A backup is a
// folder with the database and the contents as they were at one instant, and a
// manifest with the SHA-256 of each file.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"flowdrive/attach"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/sqlite"
)

// Config says what is backed up, and how.
type Config struct {
	Data    string           // the data folder
	Place   attach.Place     // where its contents lie; nil: in the data folder
	To      string           // the folder of backups; it is made if it does not exist
	Version string           // of this program
	Host    string           // the name of this machine
	Keep    Keep             // which backups stay
	Now     func() time.Time // the machine's time

	// Progress is called often.
	Progress func(Progress)
}

// Progress is how far a backup or its restoration is.
type Progress struct {
	Done, All int64 // bytes, and of the database alone until the contents are known
}

// Result is what was made.
type Result struct {
	*Manifest
	Path      string   // the folder of the backup
	Linked    int      // contents that an earlier backup had
	Removed   []string // backups that need not stay any more, by Keep
	Abandoned []string // what earlier backups that were killed had left, and which was removed
}

// ErrBusy says that another backup into the same folder is being made.
var ErrBusy = errors.New("another backup into this folder is being made")

// Make makes a backup in a new folder below To, named by the instant. Errors say
// what is wrong in words for people; what was made by then is removed. If contents
// were damaged, the backup is made without them and the manifest lists them.
func Make(ctx context.Context, c Config) (_ *Result, err error) {
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	if err := c.checkPlaces(); err != nil {
		return nil, err
	}
	unlock, err := lockBackups(c.To)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	r := new(Result)
	if r.Abandoned, err = clearUnfinished(c.To); err != nil {
		return nil, err
	}
	if err := c.make(ctx, r); err != nil {
		return nil, err
	}
	r.Removed, err = thin(c.To, made{r.Path, r.Manifest}, c.Keep)
	if err != nil {
		return r, fmt.Errorf("the backup %s was made, but: %w", r.Path, err)
	}
	return r, nil
}

// checkPlaces refuses a data folder without a database, and a folder of backups
// within the data folder. It makes the folder of backups.
func (c *Config) checkPlaces() error {
	if err := hasDatabase(c.Data); err != nil {
		return err
	}
	data, _, err := places(c.Data, c.To)
	if err != nil {
		return err
	}
	c.Data = data
	if err := os.MkdirAll(c.To, 0o700); err != nil {
		return fmt.Errorf("make the folder of backups: %w", err)
	}
	return nil
}

// places returns where the data folder and the folder of backups really are. It refuses a
// folder of backups within the data folder.
func places(dataFolder, backups string) (data, to string, err error) {
	if data, err = realPath(dataFolder); err != nil {
		return "", "", fmt.Errorf("find the data folder: %w", err)
	}
	if to, err = realPath(backups); err != nil {
		return "", "", fmt.Errorf("find the folder of backups %s: %w", backups, err)
	}
	if to == data || strings.HasPrefix(to, data+string(filepath.Separator)) {
		return "", "", fmt.Errorf("%s is in the data folder %s; what happens to that would happen to the backup, so give a folder elsewhere", backups, dataFolder)
	}
	return data, to, nil
}

// CheckTo says why no backup of a data folder can be made in a folder, as far as that is
// known without making anything.
func CheckTo(dataFolder, backups string) error {
	_, to, err := places(dataFolder, backups)
	if err != nil {
		return err
	}
	const writeAndEnter = 0x2 | 0x1 // of access(2)
	for at := to; ; at = filepath.Dir(at) {
		is, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at:
			continue // Make makes it, if it may in the folder above
		case err != nil:
			return fmt.Errorf("look for the folder of backups: %w", err)
		case !is.IsDir():
			return fmt.Errorf("%s is not a folder, so that no backup can be made in %s; give a folder", at, backups)
		}
		if err := syscall.Access(at, writeAndEnter); err != nil {
			return fmt.Errorf("nothing can be written to %s (%w), so that no backup can be made in %s; let the user of the server write there, or give another folder", at, err, backups)
		}
		return nil
	}
}

// hasDatabase refuses a data folder without a database.
func hasDatabase(data string) error {
	_, err := os.Stat(filepath.Join(data, databaseName))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no database in %s, so there is nothing to back up; give the data folder with --data (a PostgreSQL database, of --db, is backed up by its own means, such as pg_dump)", data)
	}
	if err != nil {
		return fmt.Errorf("look for the database: %w", err)
	}
	return nil
}

// realPath returns the path without symbolic links. What does not exist yet is
// left as it is.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	found, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		above, err := realPath(filepath.Dir(path))
		return filepath.Join(above, filepath.Base(path)), err
	}
	return found, err
}

// SameFolder reports whether two paths lead to the same folder, however they are spelled. Neither
// needs to be there.
func SameFolder(a, b string) bool {
	if a == b {
		return true
	}
	realA, errA := realPath(a)
	realB, errB := realPath(b)
	return errA == nil && errB == nil && realA == realB
}

// lockBackups keeps others from making a backup in the folder. A crash frees it.
func lockBackups(folder string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write to the folder of backups: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = fmt.Errorf("%w: %s", ErrBusy, folder)
		}
		return nil, errors.Join(err, f.Close())
	}
	return func() error { return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close()) }, nil
}

// make makes the backup. If that fails, it removes what it has made.
func (c *Config) make(ctx context.Context, r *Result) (err error) {
	earlier, err := list(c.To)
	if err != nil {
		return fmt.Errorf("list the backups in %s: %w", c.To, err)
	}
	// Pinned before the snapshot: what that refers to stays.
	if c.Place == nil {
		c.Place = attach.At(filepath.Join(c.Data, contentsName))
	}
	unpin, err := c.Place.Pin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unpin()) }()
	source, err := sqlite.OpenSource(ctx, filepath.Join(c.Data, databaseName))
	if err != nil {
		return ofDamaged(err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	r.Manifest = &Manifest{
		Format: manifestFormat, Program: manifestProgram, Version: c.Version, Instant: clock.Trim(c.Now()), Host: c.Host, Data: c.Data,
		Schema: source.Schema(), Missing: []Missing{},
	}
	if r.Counts, err = source.Counts(); err != nil {
		return ofDamaged(err)
	}
	if r.Path, err = makeBackupFolder(c.To, r.Instant); err != nil {
		return c.explain(err)
	}
	b := &builder{Config: c, source: source, result: r, earlier: earlier}
	if err := b.build(ctx); err != nil {
		return errors.Join(c.explain(err), removeUnfinished(r.Path))
	}
	return nil
}

// explain says whose disk is full, and which database is damaged.
func (c *Config) explain(err error) error {
	switch {
	case isFull(err):
		return fmt.Errorf("there is not enough room in %s for the backup; it was not made (%w)", c.To, err)
	case sqlite.IsDamaged(err):
		return ofDamaged(err)
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; the backup was not made, and nothing of it is left")
	}
	return fmt.Errorf("the backup was not made: %w", err)
}

// ofDamaged says of an error that the database is damaged, if that is why. What else
// went wrong is returned as it is.
func ofDamaged(err error) error {
	if !sqlite.IsDamaged(err) {
		return err
	}
	return fmt.Errorf("the database is damaged, and no backup of it was made: %s; the backups that there are stay", sqlite.Cause(err))
}

// isFull reports whether an error is of a disk that is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errs.Is(err, errs.Full)
}

// makeBackupFolder makes the folder of a backup, marked as unfinished.
func makeBackupFolder(to string, instant time.Time) (path string, err error) {
	name := instant.UTC().Format(instantLayout)
	path = filepath.Join(to, name)
	for n := 2; ; n++ {
		err := os.Mkdir(path, 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		path = filepath.Join(to, fmt.Sprintf("%s-%d", name, n))
	}
	mark, err := os.OpenFile(filepath.Join(path, unfinishedName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = mark.Close()
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}

// builder makes one backup.
type builder struct {
	*Config
	source  *sqlite.Source
	result  *Result
	earlier []made
	folders map[string]bool // that have been made
	written int64
	all     int64
}

// build copies the database, then the contents that it refers to, and writes the
// manifest when all is durable.
func (b *builder) build(ctx context.Context) error {
	b.folders = map[string]bool{}
	path := filepath.Join(b.result.Path, databaseName)
	err := b.source.Copy(ctx, path, func(done, all int64) {
		b.written, b.all = done, all
		b.Progress(Progress{done, all})
	})
	if err != nil {
		return err
	}
	if err := sound(path); err != nil {
		return err
	}
	sum, size, err := sumOf(ctx, path)
	if err != nil {
		return err
	}
	b.add(databaseName, sum, size)
	b.written, b.all = size, size
	if err := b.sizes(ctx); err != nil {
		return err
	}
	if err := b.source.Contents(func(d store.Digest) error { return b.copyContent(ctx, d) }); err != nil {
		return err
	}
	return b.finish()
}

// sound refuses a database whose structure is damaged: with a backup of it, an earlier
// good one might be removed.
func sound(path string) error {
	switch found, err := sqlite.QuickCheck(path); {
	case err != nil:
		return err
	case found != "":
		return fmt.Errorf("the database is damaged, and no backup of it was made: %s; the backups that there are stay", found)
	}
	return nil
}

func (b *builder) add(path string, sum [32]byte, size int64) {
	b.result.Files = append(b.result.Files, File{Path: path, Size: size, SHA256: hex.EncodeToString(sum[:])})
	b.result.Bytes += size
}

// sizes finds how large the whole is. A content that is not there has no size.
func (b *builder) sizes(ctx context.Context) error {
	return b.source.Contents(func(d store.Digest) error {
		size, err := b.Place.Size(d)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
		b.all += size
		return ctx.Err()
	})
}

// copyContent brings a content into the backup. One that is damaged is noted, and
// so is one of which only an earlier backup has a good copy.
func (b *builder) copyContent(ctx context.Context, sum [32]byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	to := filepath.Join(b.result.Path, contentsName, attach.Name(sum))
	if err := b.makeFolder(filepath.Dir(to)); err != nil {
		return err
	}
	size, err := b.Place.Size(sum)
	if err == nil && b.link(sum, to, size) {
		b.done(sum, size)
		return nil
	}
	reason := "it is not there"
	if err == nil {
		reason, err = b.fetch(ctx, sum, to)
	}
	switch {
	case errs.Is(err, errs.NotFound):
	case err != nil:
		return err
	case reason == "":
		return nil
	}
	b.result.Missing = append(b.result.Missing, Missing{SHA256: hex.EncodeToString(sum[:]), Reason: reason})
	return nil
}

// fetch copies a content from where it lies, and returns what is wrong with it.
func (b *builder) fetch(ctx context.Context, sum [32]byte, to string) (reason string, err error) {
	from, err := b.Place.Open(sum)
	if err != nil {
		return "it is not there", err
	}
	got, size, err := copyTo(ctx, from, to)
	if err != nil {
		return "", err
	}
	if got == sum {
		b.done(sum, size)
		return "", nil
	}
	return fmt.Sprintf("its bytes have the SHA-256 %x", got), os.Remove(to)
}

func (b *builder) done(sum [32]byte, size int64) {
	b.add(contentPath(sum), sum, size)
	b.written += size
	b.Progress(Progress{b.written, b.all})
}

// link links a content from the newest earlier backup that has it, and reports
// whether it could. It is a matter of room and time only: if it cannot, the
// content is copied.
func (b *builder) link(sum [32]byte, to string, size int64) bool {
	for i := len(b.earlier) - 1; i >= 0; i-- {
		from := filepath.Join(b.earlier[i].path, contentsName, attach.Name(sum))
		if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() || info.Size() != size {
			continue
		}
		if os.Link(from, to) == nil {
			b.result.Linked++
			return true
		}
	}
	return false
}

// makeFolder makes a folder of contents, and notes it and those above it to be
// synced.
func (b *builder) makeFolder(path string) error {
	if b.folders[path] {
		return nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for ; path != b.result.Path && !b.folders[path]; path = filepath.Dir(path) {
		b.folders[path] = true
	}
	return nil
}

// finish makes everything durable, and then the folder a backup.
func (b *builder) finish() error {
	for path := range b.folders {
		if err := syncFolder(path); err != nil {
			return err
		}
	}
	mark := filepath.Join(b.result.Path, unfinishedName)
	f, err := os.OpenFile(mark, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(b.result.write(f), f.Sync(), f.Close(), syncFolder(b.result.Path)); err != nil {
		return err
	}
	if err := os.Rename(mark, filepath.Join(b.result.Path, manifestName)); err != nil {
		return err
	}
	return errors.Join(syncFolder(b.result.Path), syncFolder(b.To))
}

// copyFile copies a file durably, and returns the SHA-256 and the length of what
// it has copied.
func copyFile(ctx context.Context, from, to string) (sum [32]byte, size int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return sum, 0, err
	}
	return copyTo(ctx, in, to)
}

// copyTo copies what it reads into a new file, durably, and closes what it has read.
func copyTo(ctx context.Context, in io.ReadCloser, to string) (sum [32]byte, size int64, err error) {
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return sum, 0, err
	}
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(out, h), &reading{ctx.Err, in})
	if err == nil {
		err = out.Sync()
	}
	return digest(h), size, errors.Join(err, out.Close())
}

// sumOf returns the SHA-256 and the length of a file.
func sumOf(ctx context.Context, path string) (sum [32]byte, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	size, err = io.Copy(h, &reading{ctx.Err, f})
	return digest(h), size, err
}

func digest(h hash.Hash) (sum [32]byte) {
	h.Sum(sum[:0])
	return sum
}

// reading reads until it is to stop.
type reading struct {
	stop func() error
	r    io.Reader
}

func (r *reading) Read(p []byte) (int, error) {
	if err := r.stop(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
