package relational_test

import (
	"testing"

	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestLogCounts: what is added to the log of a case counts for its starter, with the form
// and the marking in whole pages, until the case goes.
func TestLogCounts(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	c := newCase(db, sam, 7)
	c.Form, c.Marking, c.Logs = []byte("{}"), []byte("{}"), 6_000
	stored := func(want int64) {
		t.Helper()
		mustView(t, db, func(r store.Reader) error {
			got, err := r.Blobs().StoredBytes(identity.ID(sam))
			if got != want {
				t.Errorf("%d bytes are stored, want %d", got, want)
			}
			return err
		})
	}
	insertCases(t, db, c)
	stored(4096)
	c.Revision, c.Logs = c.Revision+1, 3_000
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Update(c, c.Revision-1) })
	stored(2 * 4096)
	mustView(t, db, func(r store.Reader) error {
		got, err := r.Cases().Get(c.ID)
		if err == nil && got.LogBytes != 9_000 {
			t.Errorf("the log has %d bytes, want 9000", got.LogBytes)
		}
		return err
	})
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Delete(c.ID, store.UUID{}, c.Created) })
	stored(0)
}
