package contents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// shelf is files and rows in memory. What is done to it is noted in order.
type shelf struct {
	mu    sync.Mutex
	files map[[32]byte]bool
	rows  map[[32]byte]int // how many refer to each
	done  []string
	fail  map[string]error
}

func newShelf() *shelf {
	return &shelf{files: map[[32]byte]bool{}, rows: map[[32]byte]int{}, fail: map[string]error{}}
}

func (s *shelf) do(what string, f func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail[what]; err != nil {
		return err
	}
	s.done = append(s.done, what)
	f()
	return nil
}

type body struct{ *bytes.Reader }

func (body) Close() error { return nil }

func (s *shelf) Open(sum [32]byte) (io.ReadSeekCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.files[sum] {
		return nil, errs.New(errs.NotFound, "there is no such file")
	}
	return body{bytes.NewReader([]byte("x"))}, nil
}

func (s *shelf) Spool(r io.Reader, limit int64) (Spooled, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errs.New(errs.TooLarge, "it is too large")
	}
	if err != nil {
		return nil, err
	}
	c := spooled{shelf: s, sum: sha256.Sum256(data), size: int64(len(data))}
	return c, s.do("spool", func() {})
}

func (s *shelf) Remove(sum [32]byte) error {
	return s.do("remove", func() { delete(s.files, sum) })
}

// Unpinned runs f, unless "pinned" fails.
func (s *shelf) Unpinned(f func() error) (ran bool, err error) {
	if s.fail["pinned"] != nil {
		return false, nil //nolint:nilerr // it stands for contents that are pinned, which is no error
	}
	return true, f()
}

func (s *shelf) Known(_ context.Context, sum [32]byte) (known bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known = s.rows[sum]
	return known, nil
}

func (s *shelf) Note(_ context.Context, sum [32]byte) error {
	return s.do("note", func() { s.rows[sum] += 0 })
}

func (s *shelf) Unused(_ context.Context, after [32]byte, limit int) (list [][32]byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sum := range slices.SortedFunc(maps.Keys(s.rows), func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) }) {
		if s.rows[sum] == 0 && bytes.Compare(sum[:], after[:]) > 0 && len(list) < limit {
			list = append(list, sum)
		}
	}
	return list, nil
}

func (s *shelf) StillUnused(_ context.Context, list [][32]byte) (unused [][32]byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sum := range list {
		if n, known := s.rows[sum]; known && n == 0 {
			unused = append(unused, sum)
		}
	}
	return unused, nil
}

func (s *shelf) Forget(_ context.Context, list [][32]byte) error {
	return s.do("forget", func() {
		for _, sum := range list {
			delete(s.rows, sum)
		}
	})
}

// spooled is a content on the shelf.
type spooled struct {
	*shelf
	sum  [32]byte
	size int64
}

func (c spooled) Size() int64 { return c.size }

func (c spooled) Sum() [32]byte { return c.sum }

func (c spooled) Keep() error { return c.do("keep", func() { c.files[c.sum] = true }) }

func (c spooled) Discard() { _ = c.do("discard", func() {}) } // the shelf has nothing to discard

// refer is what a unit does that refers to a content.
func (c spooled) refer() error { return c.do("refer", func() { c.rows[c.sum]++ }) }

func wantDone(t *testing.T, s *shelf, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.done, want) {
		t.Errorf("what was done is %q, want %q", s.done, want)
	}
}

// TestRowThenFileThenReference: row, file, reference; and backwards file, row.
func TestRowThenFileThenReference(t *testing.T) {
	t.Parallel()
	s := newShelf()
	k, c := newKeeper(s, s), spooled{s, [32]byte{7}, 1}
	if err := k.Storing(t.Context(), c, c.refer); err != nil {
		t.Fatal(err)
	}
	wantDone(t, s, "note", "keep", "refer")
	if err := k.Collect(t.Context()); err != nil || !s.files[c.sum] {
		t.Errorf("what is referred to was collected: %v", err)
	}
	s.rows[c.sum], s.done = 0, nil
	if err := k.Collect(t.Context()); err != nil || len(s.files)+len(s.rows) != 0 {
		t.Errorf("what nothing refers to is still there: %v", err)
	}
	wantDone(t, s, "remove", "forget")
}

// TestStoringFails: whatever step fails, what is left is found by the next
// collection, and nothing refers to what is not there.
func TestStoringFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for step, want := range map[string][]string{
		"note":  {"discard"},
		"keep":  {"note", "discard"},
		"refer": {"note", "keep"},
	} {
		s := newShelf()
		s.fail[step] = broken
		k, c := newKeeper(s, s), spooled{s, [32]byte{7}, 1}
		if err := k.Storing(t.Context(), c, c.refer); !errors.Is(err, broken) {
			t.Errorf("%s fails: %v", step, err)
		}
		wantDone(t, s, want...)
		select {
		case <-k.Roused():
		default:
			t.Errorf("%s fails, and nobody is told to collect", step)
		}
		if err := k.Collect(t.Context()); err != nil || len(s.files)+len(s.rows) != 0 {
			t.Errorf("%s fails, and %d files and %d rows are left: %v", step, len(s.files), len(s.rows), err)
		}
	}
}

// TestCollectFails: a content whose file was removed keeps its row until a
// collection succeeds.
func TestCollectFails(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"remove", "forget"} {
		s := newShelf()
		s.files[[32]byte{7}], s.rows[[32]byte{7}] = true, 0
		k := newKeeper(s, s)
		s.fail[step] = errors.New("broken")
		if err := k.Collect(t.Context()); !errors.Is(err, s.fail[step]) || len(s.rows) != 1 {
			t.Errorf("%s fails: %v", step, err)
		}
		delete(s.fail, step)
		if err := k.Collect(t.Context()); err != nil || len(s.files)+len(s.rows) != 0 {
			t.Errorf("after %s has failed: %v", step, err)
		}
	}
}

// TestNothingIsRemovedDuringABackup: while all contents are pinned, what nothing refers to
// stays, with its row, and is collected afterwards.
func TestNothingIsRemovedDuringABackup(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.files[[32]byte{7}], s.rows[[32]byte{7}] = true, 0
	k := newKeeper(s, s)
	s.fail["pinned"] = ErrPinned
	if err := k.Collect(t.Context()); !errors.Is(err, ErrPinned) || len(s.files) != 1 || len(s.rows) != 1 {
		t.Errorf("during a backup: %v, %d files, %d rows", err, len(s.files), len(s.rows))
	}
	delete(s.fail, "pinned")
	if err := k.Collect(t.Context()); err != nil || len(s.files)+len(s.rows) != 0 {
		t.Errorf("after the backup: %v, %d files, %d rows", err, len(s.files), len(s.rows))
	}
}

// TestPinnedContentIsLeftAlone: what somebody is about to refer to is left alone, and looked at
// again where that fails.
func TestPinnedContentIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newShelf()
	k, c := newKeeper(s, s), spooled{s, [32]byte{7}, 1}
	failed := errors.New("failed")
	err := k.Storing(t.Context(), c, func() error {
		if err := k.Collect(t.Context()); err != nil || !s.files[c.sum] {
			t.Errorf("a pinned content was collected: %v", err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	<-k.Roused()
	if err := k.Collect(t.Context()); err != nil || s.files[c.sum] {
		t.Errorf("it was not collected when it was free: %v", err)
	}
}

// TestStoringWaits: who brings in what is just being removed waits until it is
// gone, or the request ends.
func TestStoringWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		k, c := newKeeper(s, s), spooled{s, [32]byte{7}, 1}
		claimed := k.pins.claim([][32]byte{c.sum})
		if again := k.pins.claim([][32]byte{c.sum}); len(again) != 0 {
			t.Errorf("it was claimed twice: %v", again)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := k.Storing(ended, c, c.refer); !errors.Is(err, context.Canceled) {
			t.Errorf("a request that has ended: %v", err)
		}
		wantDone(t, s, "discard")
		stored := make(chan error, 1)
		go func() { stored <- k.Storing(t.Context(), c, c.refer) }()
		synctest.Wait()
		wantDone(t, s, "discard")
		k.pins.release(claimed)
		if err := <-stored; err != nil {
			t.Error(err)
		}
		wantDone(t, s, "discard", "note", "keep", "refer")
	})
}

// TestReaderLooksAgainForAContentThatIsGone: a reader looks again where a content has gone, but not for ever.
func TestReaderLooksAgainForAContentThatIsGone(t *testing.T) {
	t.Parallel()
	s := newShelf()
	k, sum := newKeeper(s, s), [32]byte(store.DigestOf([]byte("x")))
	tries := 0
	err := k.Reading(func() error {
		tries++
		s.files[sum] = tries > 1
		_, err := k.Open(sum)
		return err
	})
	if err != nil || tries != 2 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	tries = 0
	err = k.Reading(func() error {
		tries++
		_, err := k.Open([32]byte{8})
		return err
	})
	if !errors.Is(err, ErrGone) || !errs.Is(err, errs.Internal) || tries != attempts {
		t.Errorf("after %d tries: %v", tries, err)
	}
}
