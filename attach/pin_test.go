package attach

import (
	"errors"
	"path/filepath"
	"testing"
)

// TestPinned: while contents are pinned, by one or by two, what removes some does not
// run; afterwards it does, and its error is returned.
func TestPinned(t *testing.T) {
	t.Parallel()
	f := open(t)
	ran := func() bool {
		t.Helper()
		did, err := f.Unpinned(func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return did
	}
	if !ran() {
		t.Error("nothing is pinned, and it did not run")
	}
	first, err := Pin(f.path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Pin(f.path)
	if err != nil {
		t.Fatal(err)
	}
	for i, release := range []func() error{first, second} {
		if ran() {
			t.Errorf("it ran with %d pins left", 2-i)
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	if !ran() {
		t.Error("all pins have gone, and it did not run")
	}
	broken := errors.New("broken")
	if did, err := f.Unpinned(func() error { return broken }); !did || !errors.Is(err, broken) {
		t.Errorf("got %t, %v", did, err)
	}
	if _, err := Pin(filepath.Join(f.path, "none")); err == nil {
		t.Error("a folder that is not there was pinned")
	}
}

// TestPinWaits: who pins waits for contents that are just being removed.
func TestPinWaits(t *testing.T) {
	t.Parallel()
	f := open(t)
	pinned := make(chan error, 1)
	_, err := f.Unpinned(func() error {
		go func() {
			release, err := Pin(f.path)
			if err == nil {
				err = release()
			}
			pinned <- err
		}()
		select {
		case err := <-pinned:
			t.Errorf("it was pinned meanwhile: %v", err)
		default:
		}
		return nil
	})
	if err := errors.Join(err, <-pinned); err != nil {
		t.Error(err)
	}
}

// TestExists: a folder has had contents if there is one of their folders.
func TestExists(t *testing.T) {
	t.Parallel()
	f := open(t)
	for _, want := range []bool{false, true} {
		if got, err := Exists(f.path); err != nil || got != want {
			t.Errorf("got %t, %v, want %t", got, err, want)
		}
		keep(t, f, "x")
	}
	if got, err := Exists(filepath.Join(f.path, "none")); err != nil || got {
		t.Errorf("a folder that is not there: %t, %v", got, err)
	}
}
