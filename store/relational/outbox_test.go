package relational_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/relational"
	"flowdrive/store/storetest"
)

func outboxRow(key, lane string, due time.Time) *store.OutboxRow {
	return &store.OutboxRow{Key: key, Seq: 12, Step: 1, Lane: lane, Request: []byte(`{}`), Due: due, Created: noon()}
}

// dueKeys returns the keys of what is due in a lane.
func dueKeys(t *testing.T, r store.Reader, lane string, upTo time.Time, limit int) (keys []string) {
	t.Helper()
	rows, err := r.Outbox().Due(lane, upTo, limit)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		keys = append(keys, rows[i].Key)
	}
	return keys
}

// TestOutbox: rows are found by lane and due time, leased once, put off, and
// gone with their case.
func TestOutbox(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	c := newCase(db, addUser(t, db, "sam"), 1)
	insertCases(t, db, c)
	at := func(seconds int) time.Time {
		return time.UnixMilli(1_000_000).Add(time.Duration(seconds) * time.Second).UTC()
	}
	rows := []*store.OutboxRow{
		outboxRow("a", "mail", at(2)), outboxRow("b", "mail", at(1)), outboxRow("c", "mail", at(1)), outboxRow("d", "http:x", at(9)), outboxRow("e", "mail", time.Time{}),
	}
	rows[0].CaseID = c.ID
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, row := range rows {
			if err := tx.Write().Outbox().Insert(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Outbox().Insert(outboxRow("a", "mail", at(1))) }); !errs.Is(err, errs.NameTaken) {
		t.Errorf("the same key again: %v", err)
	}
	mustView(t, db, func(r store.Reader) error {
		lanes, err := r.Outbox().Lanes()
		if diff := cmp.Diff([]store.OutboxLane{{Name: "http:x", Due: at(9)}, {Name: "mail", Due: at(1)}}, lanes); diff != "" || err != nil {
			t.Errorf("lanes (-want +got):\n%s%v", diff, err)
		}
		for _, tt := range []struct {
			upTo  time.Time
			limit int
			want  []string
		}{{at(0), 9, nil}, {at(1), 9, []string{"b", "c"}}, {at(9), 9, []string{"b", "c", "a"}}, {at(9), 2, []string{"b", "c"}}} {
			if diff := cmp.Diff(tt.want, dueKeys(t, r, "mail", tt.upTo, tt.limit)); diff != "" {
				t.Errorf("due at %s (-want +got):\n%s", tt.upTo, diff)
			}
		}
		row, err := r.Outbox().Get("a")
		if diff := cmp.Diff(rows[0], row); diff != "" || err != nil {
			t.Errorf("row (-want +got):\n%s%v", diff, err)
		}
		if _, err := r.Outbox().Get("z"); !errs.Is(err, errs.NotFound) {
			t.Errorf("no row: %v", err)
		}
		return nil
	})

	lease := func(row store.OutboxRow) (held bool) {
		mustUpdate(t, db, func(tx store.Tx) (err error) {
			row.Attempts++
			held, err = tx.Write().Outbox().Lease(&row, at(60))
			return err
		})
		return held
	}
	if first, second := lease(*rows[1]), lease(*rows[1]); !first || second {
		t.Errorf("leased %t, then %t", first, second)
	}
	if !lease(*rows[2]) {
		t.Error("not leased")
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := tx.Write().Outbox().Put("c", at(70), 5); err != nil { // it has failed
			return err
		}
		if err := tx.Write().Outbox().Put("z", at(70), 5); err != nil { // nobody's
			return err
		}
		return tx.Write().Outbox().Release(at(30)) // the other was under way
	})
	mustView(t, db, func(r store.Reader) error {
		for key, want := range map[string]time.Time{"a": at(2), "b": at(30), "c": at(70), "d": at(9), "e": {}} {
			row, err := r.Outbox().Get(key)
			if err != nil || !row.Due.Equal(want) {
				t.Errorf("%s is due at %s, not %s (%v)", key, row.Due, want, err)
			}
		}
		return nil
	})

	// With its case a row goes; others by hand.
	undo := errors.New("undo")
	err := db.Update(t.Context(), func(w store.Tx) error {
		if _, err := relational.ConnOf(w).Exec(`DELETE FROM cases WHERE id = ?1`, c.ID); err != nil {
			return err
		}
		if _, err := w.Outbox().Get("a"); !errs.Is(err, errs.NotFound) {
			t.Errorf("a row without its case: %v", err)
		}
		return undo
	})
	if !errors.Is(err, undo) {
		t.Error(err)
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Outbox().Delete("d") })
	mustView(t, db, func(r store.Reader) error {
		lanes, err := r.Outbox().Lanes()
		if len(lanes) != 1 || lanes[0].Name != "mail" {
			t.Errorf("lanes %+v %v", lanes, err)
		}
		return err
	})
}
