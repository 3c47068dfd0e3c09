package attach

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
)

func open(t *testing.T) *Folder {
	t.Helper()
	f, err := Open(filepath.Join(t.TempDir(), "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func spool(t *testing.T, f *Folder, text string) contents.Spooled {
	t.Helper()
	s, err := f.Spool(strings.NewReader(text), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keep(t *testing.T, f *Folder, text string) [32]byte {
	t.Helper()
	s := spool(t, f, text)
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	return s.Sum()
}

func content(t *testing.T, f *Folder, sum [32]byte) string {
	t.Helper()
	file, err := f.Open(sum)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// files returns the names of all files below the folder.
func files(t *testing.T, f *Folder) (names []string) {
	t.Helper()
	err := filepath.WalkDir(f.path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(f.path, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestKeptContentIsThereUnderItsHash(t *testing.T) {
	t.Parallel()
	f := open(t)
	for _, text := range []string{"", "abc", strings.Repeat("a line\n", 100_000)} {
		s := spool(t, f, text)
		if got, want := s.Sum(), sha256.Sum256([]byte(text)); got != want {
			t.Errorf("sum %x, want %x", got, want)
		}
		if got := s.Size(); got != int64(len(text)) {
			t.Errorf("size %d, want %d", got, len(text))
		}
		if _, err := f.Open(s.Sum()); !errs.Is(err, errs.NotFound) {
			t.Errorf("before it is kept: %v", err)
		}
		if err := s.Keep(); err != nil {
			t.Fatal(err)
		}
		s.Discard() // too late
		if got := content(t, f, s.Sum()); got != text {
			t.Errorf("content of %d bytes, want %d", len(got), len(text))
		}
	}
	const abc = "ba/78/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-4, SHA-256 of "abc"
	if _, err := os.Stat(filepath.Join(f.path, abc)); err != nil {
		t.Error(err)
	}
}

func TestContentBeyondTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	f := open(t)
	if s, err := f.Spool(strings.NewReader("12345"), 5); err != nil {
		t.Errorf("as many bytes as allowed: %v", err)
	} else {
		s.Discard()
	}
	for _, r := range []io.Reader{
		strings.NewReader("123456"),
		iotest.OneByteReader(strings.NewReader("123456")),
		iotest.DataErrReader(strings.NewReader("123456")),
	} {
		if _, err := f.Spool(r, 5); !errs.Is(err, errs.TooLarge) {
			t.Errorf("a byte too many: %v", err)
		}
	}
	if got := files(t, f); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestBrokenOffLeavesNothing(t *testing.T) {
	t.Parallel()
	f := open(t)
	for _, want := range []error{io.ErrUnexpectedEOF, errors.New("the line is dead")} {
		_, err := f.Spool(io.MultiReader(strings.NewReader("the beginning"), iotest.ErrReader(want)), 1<<20)
		if err != want { //nolint:errorlint // it is returned as it is
			t.Errorf("error %v, want %v", err, want)
		}
	}
	spool(t, f, "never kept").Discard()
	if got := files(t, f); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestOpenRemovesWhatIsHalfWritten(t *testing.T) {
	t.Parallel()
	f := open(t)
	sum := keep(t, f, "kept")
	spool(t, f, "the process dies before it is kept")
	again, err := Open(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if got := files(t, again); len(got) != 1 || content(t, again, sum) != "kept" {
		t.Errorf("files after a crash: %v", got)
	}
}

func TestEqualContentIsStoredOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	sum := keep(t, f, "the same")
	file, err := f.Open(sum)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := f.Spool(strings.NewReader("the same"), 100)
			if err == nil {
				err = s.Keep()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := files(t, f); len(got) != 1 {
		t.Errorf("files: %v", got)
	}
	if data, err := io.ReadAll(file); string(data) != "the same" || err != nil {
		t.Errorf("who has it open reads %q, %v", data, err)
	}
	if _, err := file.Seek(4, io.SeekStart); err != nil {
		t.Error(err)
	}
	if data, err := io.ReadAll(file); string(data) != "same" || err != nil {
		t.Errorf("after seeking %q, %v", data, err)
	}
}

func TestRemovedContentIsGone(t *testing.T) {
	t.Parallel()
	f := open(t)
	sum, other := keep(t, f, "a"), keep(t, f, "b")
	for range 2 { // the second time it is gone already
		if err := f.Remove(sum); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.Open(sum); !errs.Is(err, errs.NotFound) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed content: %v", err)
	}
	if got := content(t, f, other); got != "b" {
		t.Errorf("another one is %q", got)
	}
	if got := content(t, f, keep(t, f, "a")); got != "a" {
		t.Errorf("kept again it is %q", got)
	}
}

func TestDiskDoesNotAnswer(t *testing.T) {
	t.Parallel()
	f := open(t)
	s := spool(t, f, "no place for it")
	if err := os.RemoveAll(f.path); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Spool(strings.NewReader("x"), 10); !errs.Is(err, errs.Unavailable) {
		t.Errorf("spool: %v", err)
	}
	if err := s.Keep(); !errs.Is(err, errs.Unavailable) {
		t.Errorf("keep: %v", err)
	}
	if err := os.RemoveAll(f.path); err != nil { // Keep has made it again
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(f.path); !errs.Is(err, errs.Unavailable) {
		t.Errorf("open: %v", err)
	}
}

// endless yields as many bytes as it is asked for, n in all.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	n := min(int64(len(p)), e.n)
	e.n -= n
	if n == 0 {
		return 0, io.EOF
	}
	return int(n), nil
}

func TestConstantMemory(t *testing.T) { // not parallel: it looks at the memory of all
	f := open(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := f.Spool(&endless{n: 64 << 20}, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes allocated for a content of %d", got, s.Size())
	}
	s.Discard()
}
