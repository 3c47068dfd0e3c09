package relational_test

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestScenarios: a route has one scenario, and a user one that waits for a route of a
// name, in any case.
func TestScenarios(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	const sam, ann = 7, 8
	made := func(route int64, author identity.ID, name string) *store.Scenario {
		return &store.Scenario{
			RouteID: route, AuthorID: author, Route: name, YAML: true, Source: []byte("steps: []\n"), SourceSize: 10, ETag: `"e"`, Title: "T",
			Created: noon(), Modified: noon(),
		}
	}
	ofRoute, waiting, others := made(1, sam, "bug"), made(0, sam, "Later"), made(0, ann, "later")
	mustUpdate(t, db, func(tx store.Tx) error {
		w := tx.Write().Routes().Scenarios()
		for _, s := range []*store.Scenario{ofRoute, waiting, others} {
			if err := w.Put(s); err != nil {
				return err
			}
		}
		for _, s := range []*store.Scenario{made(1, ann, "bug"), made(0, sam, "LATER")} {
			if err := store.Savepoint(tx, func() error { return w.Put(s) }); !errs.Is(err, errs.NameTaken) {
				t.Errorf("at the same place: got %v", err)
			}
		}
		return nil
	})
	waiting.RouteID, waiting.Played, waiting.Version, waiting.Steps, waiting.Expectations = 2, noon().Add(time.Hour), 3, 4, 5
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Routes().Scenarios().Put(waiting) })
	err := db.View(t.Context(), func(r store.Reader) error {
		got, err := r.Routes().Scenarios().OfRoute(2)
		if diff := gocmp.Diff(waiting, got); err != nil || diff != "" {
			t.Errorf("of the route: %v %s", err, diff)
		}
		got, err = r.Routes().Scenarios().Waiting(ann, "LATER")
		if diff := gocmp.Diff(others, got); err != nil || diff != "" {
			t.Errorf("that waits: %v %s", err, diff)
		}
		if _, err := r.Routes().Scenarios().Waiting(sam, "later"); !errs.Is(err, errs.NotFound) {
			t.Errorf("that waits no longer: %v", err)
		}
		all, err := r.Routes().Scenarios().List(sam)
		if err != nil || len(all) != 2 || all[0].Source != nil || all[1].SourceSize != 10 {
			t.Errorf("listed: %v %+v", err, all)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Routes().Scenarios().Delete(waiting.ID) })
	err = db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Routes().Scenarios().Delete(waiting.ID) })
	if !errs.Is(err, errs.NotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}
