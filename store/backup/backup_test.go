package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/attach"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/sqlite"
)

// installation is a data folder with a database and contents.
type installation struct {
	t      *testing.T
	data   string
	db     *sqlite.DB
	blobs  *attach.Folder
	author identity.ID
}

func noon() time.Time { return time.Date(2026, 11, 9, 12, 0, 0, 0, time.UTC) }

// newInstallation makes a data folder with a user. The database runs until the end
// of the test.
func newInstallation(t *testing.T) *installation {
	t.Helper()
	i := openInstallation(t, filepath.Join(t.TempDir(), "data"))
	p := store.Party{Party: identity.Party{ID: identity.ID(i.db.NextID()), Name: "ann", Kind: identity.User}, Created: noon(), Modified: noon()}
	i.update(func(tx store.Tx) error { return tx.Write().Parties().Put(&p) })
	i.author = p.ID
	return i
}

func openInstallation(t *testing.T, data string) *installation {
	t.Helper()
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(data, databaseName), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- db.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, db.Close()); err != nil {
			t.Error(err)
		}
	})
	blobs, err := attach.Open(filepath.Join(data, contentsName))
	if err != nil {
		t.Fatal(err)
	}
	return &installation{t: t, data: data, db: db, blobs: blobs}
}

func (i *installation) update(f func(store.Tx) error) {
	i.t.Helper()
	if err := i.db.Update(i.t.Context(), f); err != nil {
		i.t.Fatal(err)
	}
}

// attach stores a content and something that refers to it.
func (i *installation) attach(text string) [32]byte {
	i.t.Helper()
	s, err := i.blobs.Spool(strings.NewReader(text), 1<<30)
	if err == nil {
		err = s.Keep()
	}
	if err != nil {
		i.t.Fatal(err)
	}
	i.update(func(tx store.Tx) error {
		if err := tx.Write().Blobs().Note(s.Sum()); err != nil {
			return err
		}
		return tx.Write().Attachments().Insert(&store.Attachment{
			UUID: store.NewUUID(), ContextID: i.author, AuthorID: i.author, Name: "x", MediaType: "text/plain",
			Size: int64(len(text)), SHA256: s.Sum(), Created: noon(),
		})
	})
	return s.Sum()
}

func (i *installation) path(sum [32]byte) string {
	return filepath.Join(i.data, contentsName, attach.Name(sum))
}

// clocked returns a clock that goes on by a day at each reading.
func clocked() func() time.Time {
	now := noon()
	return func() time.Time {
		now = now.AddDate(0, 0, 1)
		return now
	}
}

func (i *installation) config(to string) Config {
	return Config{Data: i.data, To: to, Version: "1.2.3", Host: "here", Now: clocked()}
}

func mustMake(t *testing.T, c Config) *Result {
	t.Helper()
	r, err := Make(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tree returns the regular files below a folder with their bytes.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		out[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func restore(t *testing.T, src, data string) error {
	t.Helper()
	_, err := Restore(t.Context(), src, data, Restoration{Progress: func(Progress) {}})
	return err
}

// TestPrepareRestored: what is restored is changed before there is a database that a server opens,
// and nothing is restored if that fails.
func TestPrepareRestored(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	r := mustMake(t, i.config(filepath.Join(t.TempDir(), "backups")))
	broken := errors.New("it cannot be changed")
	for _, failure := range []error{nil, broken} {
		data := t.TempDir()
		how := Restoration{Progress: func(Progress) {}, Prepare: func(ctx context.Context, path string) error {
			if _, err := os.Stat(filepath.Join(data, databaseName)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a server finds a database: %v", err)
			}
			db, err := sqlite.Open(ctx, path, sqlite.Options{})
			if err != nil {
				return err
			}
			writing, stop := context.WithCancel(ctx)
			ended := make(chan error, 1)
			go func() { ended <- db.Run(writing) }()
			err = db.Update(ctx, func(tx store.Tx) error { return tx.Write().Settings().Put("prepared", "yes") })
			stop()
			return errors.Join(err, <-ended, db.Close(), failure)
		}}
		if _, err := Restore(t.Context(), r.Path, data, how); !errors.Is(err, failure) {
			t.Errorf("got %v, want %v", err, failure)
		}
		if left, err := os.ReadDir(data); failure != nil && (err != nil || len(left) > 0) {
			t.Errorf("there is %v, %v", left, err)
		}
		if failure != nil {
			continue
		}
		again := openInstallation(t, data)
		if err := again.db.View(t.Context(), func(r store.Reader) error {
			prepared, err := r.Settings().Get("prepared")
			if prepared != "yes" {
				t.Errorf("it says %q", prepared)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestBackupAndRestore: what is backed up while the database is open is restored byte
// for byte, and the manifest has the SHA-256 of each file.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	one, two := i.attach("one"), i.attach(strings.Repeat("two", 100000))
	to := filepath.Join(t.TempDir(), "backups", "here")
	r := mustMake(t, i.config(to))
	if want := filepath.Join(to, "20261110T120000Z"); r.Path != want {
		t.Errorf("it is in %s, want %s", r.Path, want)
	}
	m, err := ReadManifest(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Manifest, m); diff != "" {
		t.Errorf("the manifest (-made +read):\n%s", diff)
	}
	files := tree(t, r.Path)
	if len(files) != len(m.Files)+1 || len(m.Files) != 3 {
		t.Errorf("there are %d files, %d in the manifest", len(files), len(m.Files))
	}
	for _, f := range m.Files {
		if got := fmt.Sprintf("%x", store.DigestOf([]byte(files[f.Path]))); got != f.SHA256 || int64(len(files[f.Path])) != f.Size {
			t.Errorf("%s: %d bytes with %s", f.Path, len(files[f.Path]), got)
		}
	}
	if m.Counts.Users != 1 || m.Schema < 1 || m.Version != "1.2.3" || len(m.Missing) != 0 {
		t.Errorf("the manifest has %+v", m)
	}
	data := filepath.Join(t.TempDir(), "restored")
	if err := restore(t, r.Path, data); err != nil {
		t.Fatal(err)
	}
	restored := tree(t, data)
	delete(restored, dataLockName)
	delete(files, manifestName)
	if diff := cmp.Diff(files, restored); diff != "" {
		t.Errorf("restored (-backup +data folder):\n%s", diff)
	}
	again := openInstallation(t, data)
	for _, sum := range [][32]byte{one, two} {
		if _, err := again.blobs.Open(sum); err != nil {
			t.Error(err)
		}
	}
}

// TestLinked: what an earlier backup has is linked, what has come since is copied, and
// --keep removes what need not stay without touching what is linked.
func TestLinked(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	one := i.attach("one")
	c := i.config(t.TempDir())
	first := mustMake(t, c)
	two := i.attach("two")
	c.Keep = Keep{Days: 1}
	second := mustMake(t, c)
	if first.Linked != 0 || second.Linked != 1 {
		t.Errorf("linked: %d, then %d", first.Linked, second.Linked)
	}
	if diff := cmp.Diff([]string{first.Path}, second.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(first.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the first one is still there: %v", err)
	}
	files := tree(t, second.Path)
	if files[contentPath(one)] != "one" || files[contentPath(two)] != "two" {
		t.Errorf("the second one has %d files", len(files))
	}
}

// TestDamagedContents: contents that are damaged, cut short or gone are named in the
// manifest, and everything else is in the backup.
func TestDamagedContents(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	good, flipped, cut, gone, saved := i.attach("good"), i.attach("flipped"), i.attach("cut"), i.attach("gone"), i.attach("saved")
	err := errors.Join(os.WriteFile(i.path(flipped), []byte("Flipped"), 0o600), os.Truncate(i.path(cut), 1), os.Remove(i.path(gone)))
	if err != nil {
		t.Fatal(err)
	}
	r := mustMake(t, i.config(t.TempDir()))
	missing := map[string]bool{}
	for _, m := range r.Missing {
		missing[m.SHA256] = true
	}
	for sum, want := range map[[32]byte]bool{good: false, saved: false, flipped: true, cut: true, gone: true} {
		if missing[fmt.Sprintf("%x", sum)] != want {
			t.Errorf("%x is missing: %t", sum, !want)
		}
		if _, there := tree(t, r.Path)[contentPath(sum)]; there == want {
			t.Errorf("%x is in the backup: %t", sum, there)
		}
	}
	if err := restore(t, r.Path, filepath.Join(t.TempDir(), "restored")); err != nil {
		t.Errorf("what there is was not restored: %v", err)
	}
}

// TestDamagedDatabase: of a damaged database no backup is made, and the sound one that
// there is stays. It says so wherever the damage is: pages that opening reads, or a
// copy.
func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	for n := range 300 {
		i.attach(fmt.Sprintf("content %d", n))
	}
	whole := mustMake(t, i.config(t.TempDir())).Path
	for name, place := range map[string]float64{"begin": 0, "quarter": 0.25, "half": 0.5, "end": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := i.config(t.TempDir())
			c.Data = filepath.Join(t.TempDir(), "data")
			if err := restore(t, whole, c.Data); err != nil {
				t.Fatal(err)
			}
			sound := mustMake(t, c)
			damage(t, filepath.Join(c.Data, databaseName), place)
			c.Keep = Keep{Days: 1}
			if _, err := Make(t.Context(), c); err == nil || !strings.Contains(err.Error(), "the database is damaged") {
				t.Errorf("a backup of a damaged database: %v", err)
			}
			if _, err := ReadManifest(sound.Path); err != nil {
				t.Errorf("the sound backup: %v", err)
			}
		})
	}
}

// damage overwrites three pages of the file, after its first: 0 is the next ones, 1
// the last.
func damage(t *testing.T, path string, place float64) {
	t.Helper()
	const page = 4096
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	first := page * (1 + int64(place*float64(info.Size()/page-4)))
	_, err = f.WriteAt(bytes.Repeat([]byte{0xA5}, 3*page), first)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestRestoreAmongBackups: what is restored into a backup, or with the name of one, would
// be removed like one. Beside a backup there is room: it may have been copied to where
// the data folder shall be.
func TestRestoreAmongBackups(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	r := mustMake(t, i.config(t.TempDir()))
	for _, data := range []string{filepath.Join(r.Path, "live"), r.Path + "-2", filepath.Join(r.Path+"-2", "live")} {
		if err := restore(t, r.Path, data); err == nil || !strings.Contains(err.Error(), "old backups are removed") {
			t.Errorf("%s: %v", data, err)
		}
	}
	if err := restore(t, r.Path, filepath.Join(filepath.Dir(r.Path), "live")); err != nil {
		t.Errorf("beside the backup: %v", err)
	}
}

// TestBackupRefuses: each thing that cannot be is said in words, and leaves nothing that
// looks like a backup.
func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(i.data, linked); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ data, to, want string }{
		{i.data, i.data, "is in the data folder"},
		{i.data, filepath.Join(i.data, "backups"), "is in the data folder"},
		{i.data, filepath.Join(linked, "backups"), "is in the data folder"},
		{linked, filepath.Join(i.data, "backups", "daily"), "is in the data folder"},
		{t.TempDir(), t.TempDir(), "there is nothing to back up"},
		{i.data, file, "the folder of backups"},
		{i.data, filepath.Join(file, "below"), "the folder of backups"},
	} {
		c := i.config(test.to)
		c.Data = test.data
		if _, err := Make(t.Context(), c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s into %s: got %v, want %q", test.data, test.to, err, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(i.data, "backups")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made in the data folder: %v", err)
	}
}

// TestTwoBackupsAtOnce: of two into the same folder one is refused; two into different
// folders are made.
func TestTwoBackupsAtOnce(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.attach("one")
	to, other := t.TempDir(), t.TempDir()
	c, once := i.config(to), sync.Once{}
	c.Progress = func(Progress) {
		once.Do(func() {
			if _, err := Make(t.Context(), i.config(to)); !errors.Is(err, ErrBusy) {
				t.Errorf("a second backup into the same folder: %v", err)
			}
			mustMake(t, i.config(other))
		})
	}
	mustMake(t, c)
}

// TestInterrupted: a backup that ends before its time leaves nothing, and one that was
// killed leaves what is not a backup, is not restored, and goes with the next one.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.attach("one")
	to := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	c := i.config(to)
	c.Progress = func(Progress) { cancel() }
	if _, err := Make(ctx, c); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got %v", err)
	}
	if all, err := filepath.Glob(filepath.Join(to, "2*")); err != nil || len(all) != 0 {
		t.Errorf("it left %q, %v", all, err)
	}
	// As kill -9 leaves it.
	killed, err := makeBackupFolder(to, noon())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed, databaseName), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := restore(t, killed, filepath.Join(t.TempDir(), "restored")); err == nil || !strings.Contains(err.Error(), "was not finished") {
		t.Errorf("got %v", err)
	}
	r := mustMake(t, i.config(to))
	if diff := cmp.Diff([]string{killed}, r.Abandoned); diff != "" {
		t.Errorf("abandoned (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(killed); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestRestoreRefuses: what is not a backup, is damaged, or was made by a newer program
// is not restored, nothing is left of the attempt, and no file is overwritten.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	sum := i.attach("one")
	to := t.TempDir()
	edit := func(from, to string) func(path string) error {
		return func(path string) error {
			name := filepath.Join(path, manifestName)
			text, err := os.ReadFile(name)
			if !bytes.Contains(text, []byte(from)) {
				t.Errorf("the manifest has no %s", from)
			}
			return errors.Join(err, os.WriteFile(name, bytes.Replace(text, []byte(from), []byte(to), 1), 0o600))
		}
	}
	for _, test := range []struct {
		what, want string
		damage     func(path string) error
	}{
		{"a content of other bytes", "the backup is damaged", func(path string) error {
			return os.WriteFile(filepath.Join(path, contentPath(sum)), []byte("two"), 0o600)
		}},
		{"a content that is gone", "nothing was restored", func(path string) error { return os.Remove(filepath.Join(path, contentPath(sum))) }},
		{"a database cut short", "the backup is damaged", func(path string) error { return os.Truncate(filepath.Join(path, databaseName), 4096) }},
		{"no manifest", "it has no manifest.json", func(path string) error { return os.Remove(filepath.Join(path, manifestName)) }},
		{"half a manifest", "is damaged", func(path string) error { return os.Truncate(filepath.Join(path, manifestName), 100) }},
		{"another manifest", "is not the manifest of a backup of Flowdrive", edit(`"flowdrive"`, `"other"`)},
		{"a newer format", "newer program", edit(`"format": 1`, `"format": 2`)},
		{"a newer schema", "newer program", edit(`"schema": `, `"schema": 9`)},
		{"a path outside", "is not the path of a file of a backup", edit(`"path":"contents/`, `"path":"../contents/`)},
		{"no database", "there is no database in it", edit(`{"path":"flowdrive.db"`, `{"path":"`+contentPath(store.DigestOf([]byte("x")))+`"`)},
	} {
		r := mustMake(t, i.config(to))
		if test.what == "no database" {
			m := *r.Manifest
			m.Files = m.Files[1:]
			rewrite(t, r.Path, &m)
		} else if err := test.damage(r.Path); err != nil {
			t.Fatal(err)
		}
		for _, data := range []string{filepath.Join(t.TempDir(), "new"), t.TempDir()} {
			_, statErr := os.Stat(data)
			err := restore(t, r.Path, data)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", test.what, err, test.want)
			}
			if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) != errors.Is(statErr, fs.ErrNotExist) {
				t.Errorf("%s: the folder before: %v, after: %v", test.what, statErr, err)
			}
			if left, _ := os.ReadDir(data); len(left) != 0 {
				t.Errorf("%s: %d files are left", test.what, len(left))
			}
		}
		if err := os.RemoveAll(r.Path); err != nil {
			t.Fatal(err)
		}
	}
	r := mustMake(t, i.config(to))
	if err := restore(t, r.Path, i.data); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a folder that is not empty: %v", err)
	}
	if err := restore(t, to, filepath.Join(t.TempDir(), "new")); err == nil || !strings.Contains(err.Error(), r.Path) {
		t.Errorf("a folder of backups: %v", err)
	}
	if err := restore(t, filepath.Join(to, "none"), filepath.Join(t.TempDir(), "new")); err == nil || !strings.Contains(err.Error(), "there is no folder") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func rewrite(t *testing.T, path string, m *Manifest) {
	t.Helper()
	f, err := os.Create(filepath.Join(path, manifestName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := m.write(f); err != nil {
		t.Fatal(err)
	}
}

// TestManifestIsJSON: the manifest is one document, also without files.
func TestManifestIsJSON(t *testing.T) {
	t.Parallel()
	for n := range 3 {
		m := &Manifest{Format: 1, Program: manifestProgram, Missing: []Missing{}, Files: []File{}}
		for range n {
			m.Files = append(m.Files, File{Path: "x\"y", SHA256: "00"})
		}
		folder := t.TempDir()
		rewrite(t, folder, m)
		text, err := os.ReadFile(filepath.Join(folder, manifestName))
		if err != nil {
			t.Fatal(err)
		}
		var got Manifest
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(m, &got); diff != "" {
			t.Errorf("%d files (-written +read):\n%s", n, diff)
		}
	}
}

// TestBackupOnAFullDisk: a backup for which there is no room says so, and leaves
// nothing.
func TestBackupOnAFullDisk(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	to := t.TempDir()
	if err := syscall.Mount("none", to, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(to, 0); err != nil {
			t.Error(err)
		}
	})
	i := newInstallation(t)
	for _, content := range []bool{true, false} {
		size := 4 << 20
		if content {
			i.attach(strings.Repeat("x", size))
		} else {
			i.update(func(tx store.Tx) error { return tx.Write().Settings().Put("large", strings.Repeat("x", size)) })
		}
		_, err := Make(t.Context(), i.config(to))
		if err == nil || !strings.Contains(err.Error(), "there is not enough room in "+to) {
			t.Errorf("got %v", err)
		}
		if left, err := filepath.Glob(filepath.Join(to, "2*")); err != nil || len(left) != 0 {
			t.Errorf("it left %q, %v", left, err)
		}
	}
}
