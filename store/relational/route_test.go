package relational_test

import (
	"errors"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

func newRoute(db *storetest.DB, name string, owner, author identity.ID) *store.Route {
	source := []byte("# the route " + name + "\nroute: " + name + "\n")
	return &store.Route{
		ID: db.NextID(), Name: name, ContextID: owner, AuthorID: author, Version: 1, YAML: true,
		Source: source, SourceSize: int64(len(source)), ETag: `"etag"`, Form: []byte(`{"route":"` + name + `"}`),
		Created: noon(), Modified: noon(),
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	tip, bug := newRoute(db, "Tip", sam, sam), newRoute(db, "bug", sam, sam)
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := tx.Write().Routes().Put(bug); err != nil {
			return err
		}
		return tx.Write().Routes().Put(tip)
	})
	second := *tip
	second.Version, second.YAML, second.Source, second.SourceSize = 2, false, []byte(`{}`), 2
	second.Form, second.ETag, second.Modified = []byte(`{"version":2}`), `"new"`, noon().Add(time.Hour)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Routes().Put(&second) })
	renewed := second // the same version: no version of its own
	renewed.ContextID = addUser(t, db, "ann")
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Routes().Put(&renewed) })

	version := func(r *store.Route) store.RouteVersion {
		return store.RouteVersion{
			RouteID: r.ID, Name: r.Name, Version: r.Version, YAML: r.YAML, Source: r.Source, Form: r.Form, Created: r.Modified,
		}
	}
	without := func(r store.Route) store.Route { r.Source = nil; return r }
	mustView(t, db, func(r store.Reader) error {
		byID, err := r.Routes().Get(tip.ID)
		same(t, "by id", &renewed, byID)
		kind(t, "by id", err, "")
		byName, err := r.Routes().GetByName("TIP")
		same(t, "by name", &renewed, byName)
		kind(t, "by name", err, "")
		stamp, err := r.Routes().CurrentVersion(tip.ID)
		same(t, "stamp", int64(2), stamp)
		kind(t, "stamp", err, "")
		all, err := r.Routes().List()
		same(t, "all", []store.Route{without(renewed), without(*bug)}, all)
		kind(t, "all", err, "")
		first, err := r.Routes().Version(tip.ID, 1)
		want := version(tip)
		same(t, "first version", &want, first)
		kind(t, "first version", err, "")
		versions, err := r.Routes().Versions(tip.ID)
		v1, v2 := version(tip), version(&second)
		v1.Source, v2.Source = nil, nil
		same(t, "versions", []store.RouteVersion{v1, v2}, versions)
		kind(t, "versions", err, "")
		_, err = r.Routes().Get(int64(sam))
		kind(t, "no such id", err, errs.NotFound)
		_, err = r.Routes().GetByName("tips")
		kind(t, "no such name", err, errs.NotFound)
		_, err = r.Routes().CurrentVersion(999)
		kind(t, "no such stamp", err, errs.NotFound)
		_, err = r.Routes().Version(tip.ID, 3)
		kind(t, "no such version", err, errs.NotFound)
		return nil
	})
	err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Routes().Put(newRoute(db, "BUG", sam, sam)) })
	kind(t, "a name in use", err, errs.NameTaken)

	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Routes().Delete(tip.ID) })
	err = db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Routes().Delete(tip.ID) })
	kind(t, "deleted twice", err, errs.NotFound)
	mustView(t, db, func(r store.Reader) error {
		kept, err := r.Routes().Versions(tip.ID)
		same(t, "versions of a deleted route", 2, len(kept))
		return err
	})
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Routes().Put(newRoute(db, "tip", sam, sam)) })
}

func TestRouteInUse(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	cases := []*store.Case{newCase(db, sam, 7), newCase(db, ann, 7), newCase(db, sam, 8), newCase(db, sam, 7)}
	cases[3].State = "failed"
	entries := []*store.Entry{newEntry(1, sam), newEntry(2, ann), newEntry(3, sam)}
	entries[2].RouteID = 8
	mustUpdate(t, db, func(tx store.Tx) error {
		for _, c := range cases {
			if err := tx.Write().Cases().Insert(c); err != nil {
				return err
			}
		}
		for _, e := range entries {
			if err := tx.Write().Entries().Insert(e); err != nil {
				return err
			}
		}
		return nil
	})
	used := func(route int64) [2]int64 {
		var n [2]int64
		mustView(t, db, func(r store.Reader) (err error) {
			n[0], n[1], err = r.Routes().InUse(route)
			return err
		})
		return n
	}
	same(t, "in use", [2]int64{2, 2}, used(7))
	for _, state := range []string{"active", "completed", "active", "suspended", "canceled", "failed"} {
		mustUpdate(t, db, func(tx store.Tx) error {
			cases[0].State = state
			return tx.Write().Cases().Update(cases[0], 1)
		})
	}
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Entries().Delete(entries[1].UUID) })
	same(t, "in use after an end and a deletion", [2]int64{1, 1}, used(7))
	same(t, "another route", [2]int64{1, 1}, used(8))
	same(t, "an unused one", [2]int64{0, 0}, used(9))
}

// TestRouteBriefs: a route stored without a brief has none until it gets one, and a
// brief is neither lost by a change that does not name one nor kept of a deleted route.
func TestRouteBriefs(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	tip, bug := newRoute(db, "tip", sam, sam), newRoute(db, "bug", sam, sam)
	bug.Brief = []byte(`{"title":"Bug"}`)
	wanted := func(want ...string) {
		t.Helper()
		mustView(t, db, func(r store.Reader) error {
			all, err := r.Routes().Briefs()
			var got []string
			for i := range all {
				got = append(got, all[i].Name+string(all[i].Brief))
			}
			same(t, "briefs", want, got)
			return err
		})
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		return errors.Join(tx.Write().Routes().Put(tip), tx.Write().Routes().Put(bug))
	})
	wanted("tip", `bug{"title":"Bug"}`)
	again := *bug
	again.Brief = nil
	tip.Brief = []byte(`{}`)
	mustUpdate(t, db, func(tx store.Tx) error {
		return errors.Join(tx.Write().Routes().PutBrief(tip), tx.Write().Routes().Put(&again), tx.Write().Routes().PutBrief(&store.Route{ID: 999, Brief: []byte(`{}`)}))
	})
	wanted("tip{}", `bug{"title":"Bug"}`)
	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Routes().Delete(bug.ID) })
	wanted("tip{}")
}
