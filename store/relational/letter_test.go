package relational_test

import (
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestLetters: mails of a sandbox are kept in their order, the oldest go first, and
// no two have the same name.
func TestLetters(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	var names []string
	err := db.Update(t.Context(), func(tx store.Tx) error {
		w := tx.Write().Outbox().Letters()
		for _, name := range []string{"a.eml", "b.eml", "c.eml", "d.eml"} {
			if err := w.Insert(&store.Letter{Name: name, Created: time.UnixMilli(1), Size: 1, Content: []byte("x")}); err != nil {
				return err
			}
		}
		if err := store.Savepoint(tx, func() error {
			return w.Insert(&store.Letter{Name: "d.eml", Created: time.UnixMilli(2), Content: []byte{}})
		}); !errs.Is(err, errs.NameTaken) {
			t.Errorf("a name that is in use: %v", err)
		}
		if err := w.Keep(3); err != nil {
			return err
		}
		l, err := tx.Outbox().Letters().Get("c.eml")
		if err != nil || string(l.Content) != "x" || !l.Created.Equal(time.UnixMilli(1)) {
			t.Errorf("got %+v (%v)", l, err)
		}
		if _, err := tx.Outbox().Letters().Get("a.eml"); !errs.Is(err, errs.NotFound) {
			t.Errorf("the oldest is left: %v", err)
		}
		if err := w.Delete(l.ID); err != nil {
			return err
		}
		all, err := tx.Outbox().Letters().All()
		for _, l := range all {
			names = append(names, l.Name)
		}
		return err
	})
	if err != nil || len(names) != 2 || names[0] != "b.eml" || names[1] != "d.eml" {
		t.Errorf("left are %v (%v)", names, err)
	}
}
