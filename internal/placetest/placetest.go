// Package placetest holds the tests that every place of contents passes.
package placetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"flowdrive/attach"
	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
)

// Subject is a kind of place.
type Subject struct {
	// Open opens the place, again and again the same one: as after the process that
	// had it open was killed.
	Open func(t *testing.T) attach.Keeper

	// Left returns how many things lie there that are no contents: what uploads have
	// left.
	Left func(t *testing.T) int

	// Away runs f while the place does not answer.
	Away func(t *testing.T, f func())
}

// Run runs the tests, each on a place of its own.
func Run(t *testing.T, subject func(t *testing.T) Subject) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Subject){
		"kept": kept, "limit": limit, "broken off": brokenOff, "killed": killed, "equal": equal,
		"removed": removed, "ranges": ranges, "pinned": pinned, "walk": walk, "away": away,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, subject(t))
		})
	}
}

// Spool spools a text.
func Spool(t *testing.T, k attach.Keeper, text string) contents.Spooled {
	t.Helper()
	s, err := k.Spool(strings.NewReader(text), 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Keep keeps a text, and returns its SHA-256.
func Keep(t *testing.T, k attach.Keeper, text string) [32]byte {
	t.Helper()
	s := Spool(t, k, text)
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	return s.Sum()
}

func read(t *testing.T, k attach.Place, sum [32]byte) string {
	t.Helper()
	body, err := k.Open(sum)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// texts are contents around the sizes at which a place may begin something anew.
func texts() []string {
	const part = 256 << 10
	var all []string
	for _, size := range []int{0, 3, part - 1, part, part + 1, 3*part + 7, 20 << 20} {
		all = append(all, strings.Repeat("0123456789abcde", size/15+1)[:size])
	}
	return all
}

// kept: a content is there when it was kept, under its SHA-256, and not before.
func kept(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	for _, text := range texts() {
		c := Spool(t, k, text)
		if got, want := c.Sum(), sha256.Sum256([]byte(text)); got != want || c.Size() != int64(len(text)) {
			t.Errorf("%d bytes with the sum %x, want %d with %x", c.Size(), got, len(text), want)
		}
		if _, err := k.Open(c.Sum()); !errs.Is(err, errs.NotFound) {
			t.Errorf("before it is kept: %v", err)
		}
		if _, err := k.Size(c.Sum()); !errs.Is(err, errs.NotFound) {
			t.Errorf("its size before it is kept: %v", err)
		}
		if err := c.Keep(); err != nil {
			t.Fatal(err)
		}
		c.Discard() // too late
		if got := read(t, k, c.Sum()); got != text {
			t.Errorf("%d bytes, want %d", len(got), len(text))
		}
		if size, err := k.Size(c.Sum()); size != int64(len(text)) || err != nil {
			t.Errorf("size %d, %v, want %d", size, err, len(text))
		}
	}
}

// limit: as many bytes as are allowed can be kept, and no more.
func limit(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	c, err := k.Spool(strings.NewReader("12345"), 5)
	if err != nil {
		t.Fatal(err)
	}
	c.Discard()
	for _, r := range []io.Reader{strings.NewReader("123456"), iotest.OneByteReader(strings.NewReader("123456")), iotest.DataErrReader(strings.NewReader("123456"))} {
		if _, err := k.Spool(r, 5); !errs.Is(err, errs.TooLarge) {
			t.Errorf("a byte too many: %v", err)
		}
	}
	nothingLeft(t, s)
}

func nothingLeft(t *testing.T, s Subject) {
	t.Helper()
	if n := s.Left(t); n != 0 {
		t.Errorf("left behind: %d", n)
	}
}

// brokenOff: an error of the reader is returned as it is, and nothing stays.
func brokenOff(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	want := errors.New("the line is dead")
	if _, err := k.Spool(io.MultiReader(strings.NewReader("the beginning"), iotest.ErrReader(want)), 1<<20); err != want { //nolint:errorlint // it is returned as it is
		t.Errorf("error %v, want %v", err, want)
	}
	Spool(t, k, "never kept").Discard()
	nothingLeft(t, s)
}

// killed: what was kept is there after a kill, what was not leaves nothing.
func killed(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	sum := Keep(t, k, "kept")
	lost := Spool(t, k, "the process is killed before it is kept")
	again := s.Open(t)
	if got := read(t, again, sum); got != "kept" {
		t.Errorf("it is %q", got)
	}
	if _, err := again.Open(lost.Sum()); !errs.Is(err, errs.NotFound) {
		t.Errorf("what was not kept: %v", err)
	}
	nothingLeft(t, s)
}

// equal: equal contents lie there once, whoever stores them at the same time, and who
// reads one goes on.
func equal(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	sum := Keep(t, k, "the same")
	body, err := k.Open(sum)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }() // it was only read
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c, err := k.Spool(strings.NewReader("the same"), 100)
			if err == nil {
				err = c.Keep()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := found(t, k); len(got) != 1 || got[0].Sum != sum {
		t.Errorf("found %v", got)
	}
	if data, err := io.ReadAll(body); string(data) != "the same" || err != nil {
		t.Errorf("who has it open reads %q, %v", data, err)
	}
	nothingLeft(t, s)
}

// removed: a content that was removed is gone, also the second time; others stay.
func removed(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	sum, other := Keep(t, k, strings.Repeat("a", 1<<20)), Keep(t, k, "b")
	for range 2 {
		if err := k.Remove(sum); err != nil {
			t.Error(err)
		}
	}
	if _, err := k.Open(sum); !errs.Is(err, errs.NotFound) {
		t.Errorf("a removed content: %v", err)
	}
	if got := read(t, k, other); got != "b" {
		t.Errorf("another one is %q", got)
	}
	if got := read(t, k, Keep(t, k, strings.Repeat("a", 1<<20))); len(got) != 1<<20 {
		t.Errorf("kept again it has %d bytes", len(got))
	}
}

// ranges: a content is read from anywhere, as a bytes.Reader is.
func ranges(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	data := make([]byte, 700_001)
	for i := range data {
		data[i] = byte(i * i >> 3)
	}
	sum := Keep(t, k, string(data))
	body, err := k.Open(sum)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }() // it was only read
	want := bytes.NewReader(data)
	for _, step := range []struct {
		offset int64
		whence int
		length int
	}{
		{0, io.SeekEnd, 1},
		{0, io.SeekStart, 10},
		{-11, io.SeekEnd, 20},
		{262_140, io.SeekStart, 10},
		{100, io.SeekCurrent, 300_000},
		{-300_050, io.SeekCurrent, 100},
		{800_000, io.SeekStart, 5},
	} {
		at, err := body.Seek(step.offset, step.whence)
		wantAt, wantErr := want.Seek(step.offset, step.whence)
		if at != wantAt || (err == nil) != (wantErr == nil) {
			t.Fatalf("%+v: at %d, %v, want %d, %v", step, at, err, wantAt, wantErr)
		}
		got, wanted := make([]byte, step.length), make([]byte, step.length)
		n, err := io.ReadFull(body, got)
		wantN, wantErr := io.ReadFull(want, wanted)
		if n != wantN || !errors.Is(err, wantErr) || !bytes.Equal(got, wanted) {
			t.Errorf("%+v: %d bytes, %v, want %d, %v", step, n, err, wantN, wantErr)
		}
	}
	if _, err := body.Seek(-1, io.SeekStart); err == nil {
		t.Error("it was moved before its beginning")
	}
	if err := iotest.TestReader(opened(t, k, sum), data); err != nil {
		t.Error(err)
	}
}

func opened(t *testing.T, k attach.Place, sum [32]byte) io.ReadSeeker {
	t.Helper()
	body, err := k.Open(sum)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = body.Close() })
	return body
}

// pinned: nothing is removed while contents are pinned.
func pinned(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	Keep(t, k, "x")
	release, err := k.Pin()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		ran, err := k.Unpinned(func() error { return nil })
		if err != nil || ran != want {
			t.Errorf("ran %t, %v, want %t", ran, err, want)
		}
		if !want {
			if err := release(); err != nil {
				t.Error(err)
			}
		}
	}
}

func found(t *testing.T, k attach.Place) (all []attach.Found) {
	t.Helper()
	if err := k.Walk(t.Context(), func(f attach.Found) error {
		all = append(all, f)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// walk: all contents are found, by the names that people are told, and what was found
// can be removed.
func walk(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	var want []string
	for _, text := range []string{"a", "b", "c"} {
		want = append(want, k.Name(Keep(t, k, text)))
	}
	var names []string
	for _, f := range found(t, k) {
		names = append(names, f.Name)
		if !f.Own || f.Name != k.Name(f.Sum) {
			t.Errorf("%+v, whose name is %s", f, k.Name(f.Sum))
		}
	}
	slices.Sort(want)
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Errorf("found %q, want %q", names, want)
	}
	stop := errors.New("stop")
	if err := k.Walk(t.Context(), func(attach.Found) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Walk(ctx, func(attach.Found) error { return nil }); err == nil {
		t.Error("it went on although it was to end")
	}
	for _, f := range found(t, k) {
		if err := k.Delete(f); err != nil {
			t.Error(err)
		}
	}
	if got := found(t, k); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// away: a place that does not answer is errs.Unavailable, for everything, and all
// goes on when it is back.
func away(t *testing.T, s Subject) {
	t.Helper()
	k := s.Open(t)
	sum := Keep(t, k, "before")
	waiting := Spool(t, k, "waiting")
	s.Away(t, func() {
		if err := waiting.Keep(); !errs.Is(err, errs.Unavailable) {
			t.Errorf("keep: %v", err)
		}
		if _, err := k.Open(sum); !errs.Is(err, errs.Unavailable) {
			t.Errorf("open: %v", err)
		}
		if _, err := k.Size(sum); !errs.Is(err, errs.Unavailable) {
			t.Errorf("size: %v", err)
		}
		if err := k.Remove(sum); !errs.Is(err, errs.Unavailable) {
			t.Errorf("remove: %v", err)
		}
	})
	if got := read(t, k, sum); got != "before" {
		t.Errorf("afterwards it is %q", got)
	}
	if got := read(t, k, Keep(t, k, "waiting")); got != "waiting" {
		t.Errorf("what waited is %q", got)
	}
}
