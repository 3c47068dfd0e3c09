package relational_test

import (
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestTroubles: what is wrong is known once, comes up when it is due, and goes with
// its case.
func TestTroubles(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	route := newRoute(db, "Bug", sam, sam)
	c, entry := newCase(db, sam, route.ID), store.UUID{1}
	ofCase := &store.Trouble{CaseID: c.ID, Name: "start", Due: noon(), Data: []byte(`{}`)}
	ofEntry := &store.Trouble{Entry: entry, Name: "firing", Due: noon().Add(time.Hour), Data: []byte(`{}`)}
	mustUpdate(t, db, func(tx store.Tx) error {
		w := tx.Write()
		for _, err := range []error{w.Routes().Put(route), w.Cases().Insert(c), w.Troubles().Insert(ofCase), w.Troubles().Insert(ofEntry)} {
			if err != nil {
				return err
			}
		}
		again := *ofCase
		if err := store.Savepoint(tx, func() error { return w.Troubles().Insert(&again) }); !errs.Is(err, errs.NameTaken) {
			t.Errorf("a second one of the name: %v", err)
		}
		return nil
	})
	due := func(upTo time.Time) (ids []int64) {
		if err := db.View(t.Context(), func(r store.Reader) error {
			rows, _, err := r.Queue().Due(upTo, 10)
			for _, row := range rows {
				if row.Kind == store.DueTrouble {
					ids = append(ids, row.ID)
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	if ids := due(noon()); len(ids) != 1 || ids[0] != ofCase.ID {
		t.Errorf("due at noon: %v", ids)
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		ofCase.Due = noon().Add(2 * time.Hour)
		if err := tx.Write().Troubles().Update(ofCase); err != nil {
			return err
		}
		return tx.Write().Cases().Delete(c.ID, store.UUID{}, noon())
	})
	if ids := due(noon().Add(3 * time.Hour)); len(ids) != 1 || ids[0] != ofEntry.ID {
		t.Errorf("due after the case is gone: %v", ids)
	}
	hook := &store.Hook{RouteID: route.ID, Name: "h", Author: sam, SHA256: store.Digest{1}, Settings: []byte(`{}`), Created: noon(), Modified: noon()}
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := tx.Write().Routes().Hooks().Put(hook); err != nil {
			return err
		}
		if err := tx.Write().Troubles().Insert(&store.Trouble{Hook: hook.ID, Name: "refused", Due: noon().Add(time.Hour), Data: []byte(`{}`)}); err != nil {
			return err
		}
		all, err := tx.Troubles().OfHook(hook.ID)
		if err != nil || len(all) != 1 || all[0].Name != "refused" || all[0].Hook != hook.ID {
			t.Errorf("of the hook: %v, %v", all, err)
		}
		return tx.Write().Routes().Hooks().Delete(hook.ID) // and what is wrong with it
	})
	hold := &store.Hold{Name: "h", Engine: true, Author: "sam", Revision: 1, Created: noon(), Modified: noon()}
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := tx.Write().Queue().PutHold(hold); err != nil {
			return err
		}
		if err := tx.Write().Troubles().Insert(&store.Trouble{Hold: hold.ID, Name: "held", Due: noon().Add(time.Hour), Data: []byte(`{}`)}); err != nil {
			return err
		}
		all, err := tx.Troubles().OfHold(hold.ID)
		if err != nil || len(all) != 1 || all[0].Name != "held" || all[0].Hold != hold.ID {
			t.Errorf("of the hold: %v, %v", all, err)
		}
		return tx.Write().Queue().DeleteHold(hold.ID) // and what is wrong with it
	})
	mustUpdate(t, db, func(tx store.Tx) error {
		for name, want := range map[string]int{"firing": 1, "refused": 0, "held": 0, "start": 0} {
			if all, err := tx.Troubles().Named(name, 10); err != nil || len(all) != want {
				t.Errorf("named %s: %v, %v", name, all, err)
			}
		}
		all, err := tx.Troubles().OfEntry(entry)
		if err != nil || len(all) != 1 || all[0].Name != "firing" || !all[0].Due.Equal(ofEntry.Due) {
			t.Errorf("of the entry: %v, %v", all, err)
		}
		if err := tx.Write().Troubles().Update(ofCase); !errs.Is(err, errs.NotFound) {
			t.Errorf("changing what is gone: %v", err)
		}
		return tx.Write().Troubles().Delete(ofEntry.ID)
	})
	if ids := due(noon().Add(3 * time.Hour)); len(ids) != 0 {
		t.Errorf("due after it was mended: %v", ids)
	}
}
