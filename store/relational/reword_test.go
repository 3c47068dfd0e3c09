package relational_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestDeleteNoticesTo: of the mails to an address, those go that nobody waits for.
func TestDeleteNoticesTo(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	at := time.UnixMilli(1_000_000).UTC()
	mail := func(key string, step int64, to string) *store.OutboxRow {
		row := outboxRow(key, "mail", at)
		row.Step, row.Request = step, []byte(`{"mail":{"to":["`+to+`"]}}`)
		return row
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, row := range []*store.OutboxRow{
			mail("notice", 0, "Sam@example.org"), mail("step", 1, "sam@example.org"), mail("other", 0, "asam@example.org"),
		} {
			if err := tx.Write().Outbox().Insert(row); err != nil {
				return err
			}
		}
		return tx.Write().Outbox().DeleteNoticesTo("sam@Example.org")
	})
	mustView(t, db, func(r store.Reader) error {
		if got := dueKeys(t, r, "mail", at, 9); !slices.Equal(got, []string{"step", "other"}) {
			t.Errorf("left are %q", got)
		}
		return nil
	})
}

// TestErase: texts with a word are written again, by all their keys, and no others.
func TestErase(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	c := newCase(db, sam, 1)
	insertCases(t, db, c)
	ended := &store.EndedEntry{UUID: store.NewUUID(), ContextID: sam, Name: "e.json", Actor: "Sam", Ended: noon(), Form: []byte(`{"context":"sam"}`)}
	mustUpdate(t, db, func(tx store.Tx) error {
		for seq, text := range []string{`[{"actor":"SAM"}]`, `[{"actor":"ann"}]`} {
			if err := tx.Write().Cases().AppendLog(c.ID, int64(seq+1), []byte(text)); err != nil {
				return err
			}
		}
		for i, user := range []store.DoneTask{{User: sam}, {User: ann}} {
			user.Time, user.CaseID, user.Seq, user.Action, user.Form = noon(), c.ID, int64(i+1), "go", []byte(`{"for":"sam"}`)
			if err := tx.Write().Cases().InsertDone(&user); err != nil {
				return err
			}
		}
		if err := tx.Write().Entries().PutEnded(ended); err != nil {
			return err
		}
		none, err := tx.Parties().Worded([]string{"sam", "nobody"}, []int64{})
		if err != nil || len(none) != 1 || none[0].Place != "ended_entries" {
			t.Errorf("in no case: %v, %v", none, err)
		}
		some, err := tx.Parties().Worded([]string{"sam", "nobody"}, []int64{c.ID})
		if err != nil {
			return err
		}
		all, err := tx.Parties().Worded([]string{"nobody", "SAM"}, nil)
		if err != nil || len(all) != 4 || len(some) != len(all) {
			t.Errorf("found %v and %v, %v", all, some, err)
		}
		if n, err := tx.Write().Parties().ForgetDone(sam, 5); n != 1 || err != nil {
			t.Errorf("forgot %d, %v", n, err)
		}
		if err := tx.Write().Parties().Erase(sam, "sam", "erased-1"); err != nil {
			return err
		}
		return tx.Write().Parties().Reword(all, func(text []byte) []byte { // of which one is gone
			return []byte(strings.ReplaceAll(strings.ToLower(string(text)), "sam", "erased-1"))
		})
	})
	mustView(t, db, func(r store.Reader) error {
		log, err := r.Cases().Log(c.ID)
		if string(log) != `[{"actor":"erased-1"},{"actor":"ann"}]` || err != nil {
			t.Errorf("the log: %s, %v", log, err)
		}
		kept, err := r.Entries().Ended(ended.UUID)
		if err != nil || kept.Actor != "erased-1" || string(kept.Form) != `{"context":"erased-1"}` {
			t.Errorf("the entry: %+v, %v", kept, err)
		}
		if own, err := r.Cases().Done(sam, time.Time{}, 9); len(own) != 0 || err != nil {
			t.Errorf("what sam has done: %v, %v", own, err)
		}
		others, err := r.Cases().Done(ann, time.Time{}, 9)
		if err != nil || len(others) != 1 || string(others[0].Form) != `{"for":"erased-1"}` {
			t.Errorf("what ann has done: %v, %v", others, err)
		}
		return nil
	})
}
