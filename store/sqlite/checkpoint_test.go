package sqlite

import (
	"bytes"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// pass lets time pass in a bubble, and what it sets off come to rest.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// TestCheckpointWhenIdle shows that the log is brought into the database file
// once nothing was committed for a while, and that an idle database runs no
// statement at all.
func TestCheckpointWhenIdle(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, path, Options{})
		stop := start(t, db)
		large := string(bytes.Repeat([]byte("x"), (checkpointFrom+10)*4096))
		mustUpdate(t, db, put("a", large))
		for range lookAfter { // never quiet for long enough
			pass(db.opts.Idle * 9 / 10)
			mustUpdate(t, db, put("b", "small"))
		}
		if got := db.Stats().Checkpoints; got != 0 {
			t.Errorf("%d checkpoints between commits", got)
		}
		pass(3 * db.opts.Idle)
		if got := db.Stats().Checkpoints; got != 1 {
			t.Errorf("%d checkpoints when idle, want 1", got)
		}
		for range lookAfter {
			mustUpdate(t, db, put("b", "too small to be worth it"))
		}
		pass(3 * db.opts.Idle)
		before := db.Stats()
		if before.Checkpoints != 1 {
			t.Errorf("%d checkpoints, want 1", before.Checkpoints)
		}
		pass(24 * time.Hour)
		if after := db.Stats(); after != before {
			t.Errorf("an idle day changed %+v to %+v", before, after)
		}
		stop()
	})
}
