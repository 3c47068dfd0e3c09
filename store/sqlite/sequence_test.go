package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

func TestNextIDWithoutGap(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	want := int64(1)
	for range 4 {
		func() {
			db, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			stop := start(t, db)
			for range 3 {
				if got := db.NextID(); got != want {
					t.Errorf("id %d, want %d", got, want)
				}
				want++
			}
			mustUpdate(t, db, put("a", "1"))
			stop()
		}()
	}
}

// TestNextIDAfterCrash opens what a crash would leave, at each of many
// moments: no id that a committed unit has used is given again.
func TestNextIDAfterCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "flowdrive.db")
	db := open(t, path, Options{})
	start(t, db)
	sam := addUser(t, db, "sam")
	for round, ids := range []int{1, 2, reserveAhead - 1, 1, reserveAhead, 3 * reserveAhead, 1} {
		var last int64
		for range ids {
			last = db.NextID()
		}
		c := newCase(db, sam, 7)
		mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Insert(c) })
		crashed := filepath.Join(dir, "crashed.db")
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(crashed+suffix, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		after, err := Open(t.Context(), crashed, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := after.NextID(); got <= c.ID || got <= last || got > c.ID+reserveAhead+1 {
			t.Errorf("round %d: id %d after a crash, and %d is in use", round, got, c.ID)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTwoProcesses shows that a second program on the same file is noticed
// before it gives an id twice.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	first, second := open(t, path, Options{}), open(t, path, Options{})
	start(t, first)
	sam := addUser(t, first, "sam")
	ctx, cancel := contextOf(t)
	done := make(chan error, 1)
	go func() { done <- second.Run(ctx) }()
	if err := second.Update(t.Context(), put("a", "1")); err != nil {
		t.Errorf("a unit without an id: %v", err)
	}
	c := newCase(second, sam, 7)
	err := second.Update(t.Context(), func(tx store.Tx) error {
		c.ID += 1000 // that it is not in use yet does not help
		return tx.Write().Cases().Insert(c)
	})
	if !errs.Is(err, errs.Unavailable) {
		t.Errorf("a unit with an id of another process: %v", err)
	}
	cancel()
	if err := <-done; !errs.Is(err, errs.Unavailable) {
		t.Errorf("the end of the second process: %v", err)
	}
}
