package relational_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestHooks: a hook is found by its route and name in any case, and by its token.
func TestHooks(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	hook := func(route int64, name string, token byte) *store.Hook {
		return &store.Hook{RouteID: route, Name: name, Author: 7, SHA256: store.Digest{token}, Settings: []byte(`{}`), Revision: 1, Created: noon(), Modified: noon()}
	}
	one, other := hook(1, "Pushes", 1), hook(2, "pushes", 2)
	mustUpdate(t, db, func(tx store.Tx) error {
		w := tx.Write().Routes().Hooks()
		for _, h := range []*store.Hook{one, other} {
			if err := w.Put(h); err != nil {
				return err
			}
		}
		if err := store.Savepoint(tx, func() error { return w.Put(hook(1, "PUSHES", 3)) }); !errs.Is(err, errs.NameTaken) {
			t.Errorf("the same name: got %v", err)
		}
		return nil
	})
	one.Fault, one.Revision = "its author has left", 2
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Routes().Hooks().Put(one) })
	err := db.View(t.Context(), func(r store.Reader) error {
		byName, err := r.Routes().Hooks().Get(1, "pushes")
		if diff := gocmp.Diff(one, byName); err != nil || diff != "" {
			t.Errorf("by name: %v %s", err, diff)
		}
		byID, err := r.Routes().Hooks().ByID(one.ID)
		if diff := gocmp.Diff(one, byID); err != nil || diff != "" {
			t.Errorf("by ID: %v %s", err, diff)
		}
		byToken, err := r.Routes().Hooks().ByToken(store.Digest{2})
		if diff := gocmp.Diff(other, byToken); err != nil || diff != "" {
			t.Errorf("by token: %v %s", err, diff)
		}
		all, err := r.Routes().Hooks().OfRoute(1)
		if diff := gocmp.Diff([]store.Hook{*one}, all); err != nil || diff != "" {
			t.Errorf("of the route: %v %s", err, diff)
		}
		if _, err := r.Routes().Hooks().ByToken(store.Digest{9}); !errs.Is(err, errs.NotFound) {
			t.Errorf("no such token: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Routes().Hooks().Delete(one.ID) })
	err = db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Routes().Hooks().Delete(one.ID) })
	if !errs.Is(err, errs.NotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}
