package relational_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/relational"
	"flowdrive/store/storetest"
)

// TestTasks keeps the index of worklists in step with cases, and reads it.
func TestTasks(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	const routeID, otherRoute = 7, 8
	share := func(party identity.ID, lists machine.Lists) store.TaskShare {
		return store.TaskShare{Party: party, Lists: lists}
	}
	add := func(route int64, shares ...store.TaskShare) *store.Case {
		t.Helper()
		c := newCase(db, sam, route)
		c.Tasks = shares
		if err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Insert(c) }); err != nil {
			t.Fatal(err)
		}
		return c
	}
	change := func(c *store.Case, shares []store.TaskShare) {
		t.Helper()
		c.Revision++
		c.Tasks = shares
		if err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Update(c, c.Revision-1) }); err != nil {
			t.Fatal(err)
		}
	}
	finds := func(what string, f store.TaskFilter, want ...*store.Case) {
		t.Helper()
		var got, ids []int64
		err := db.View(t.Context(), func(r store.Reader) error {
			rows, err := r.Cases().Tasks().WithTasks(f)
			for _, c := range rows {
				if got = append(got, c.ID); c.Form != nil || len(c.Marking) == 0 {
					t.Errorf("%s: form %q, marking %q", what, c.Form, c.Marking)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range want {
			ids = append(ids, c.ID)
		}
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	one := add(routeID, share(sam, machine.OnOffered|machine.OnWarnings), share(ann, machine.OnOffered))
	two := add(routeID, share(ann, machine.OnAccepted), share(0, machine.OnEscalated))
	three := add(otherRoute, share(sam, machine.OnOffered), share(0, machine.OnOffered))
	add(routeID)

	offered := store.TaskFilter{Lists: machine.OnOffered, Parties: []identity.ID{sam, ann}}
	finds("offered to either", offered, one, three)
	finds("accepted", store.TaskFilter{Lists: machine.OnAccepted, Parties: []identity.ID{sam, ann}}, two)
	finds("with warnings", store.TaskFilter{Lists: machine.OnWarnings, Parties: []identity.ID{sam, ann}}, one)
	finds("of a route's administrators", store.TaskFilter{Lists: machine.OnEscalated, Routes: []int64{routeID, otherRoute}}, two)
	many := []int64{routeID, otherRoute}
	for i := range int64(fewRoutes) {
		many = append(many, 100+i)
	}
	finds("of many routes", store.TaskFilter{Lists: machine.OnEscalated | machine.OnOffered, Routes: many}, two, three)
	finds("of many others", store.TaskFilter{Lists: machine.OnEscalated | machine.OnOffered, Routes: many[1:]}, three)
	finds("a page of many", store.TaskFilter{Lists: machine.OnEscalated | machine.OnOffered, Routes: many, After: two.ID}, three)
	finds("of both", store.TaskFilter{Lists: machine.OnOffered, Parties: []identity.ID{ann}, Routes: []int64{otherRoute}}, one, three)
	finds("of nobody", store.TaskFilter{Lists: machine.OnOffered})
	offered.Limit = 1
	finds("a page", offered, one)
	offered.After = one.ID
	finds("the next page", offered, three)
	offered.After, offered.Limit = 0, 0

	change(one, nil)
	finds("left as it was", offered, one, three)
	change(one, []store.TaskShare{share(ann, machine.OnAccepted)})
	finds("replaced", offered, three)
	finds("accepted", store.TaskFilter{Lists: machine.OnAccepted, Parties: []identity.ID{ann}}, one, two)
	change(two, []store.TaskShare{})
	finds("emptied", store.TaskFilter{Lists: machine.OnEscalated, Routes: []int64{routeID}})
	finds("accepted", store.TaskFilter{Lists: machine.OnAccepted, Parties: []identity.ID{ann}}, one)
	err := db.View(t.Context(), func(r store.Reader) error {
		for id, want := range map[int64]bool{one.ID: true, two.ID: false, three.ID: false} {
			if has, err := r.Cases().Tasks().HasTasks(id, []identity.ID{ann}); err != nil || has != want {
				t.Errorf("case %d: %v %v, want %v", id, has, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The index says what a walk over many says.
	var more []*store.Case
	err = db.Update(t.Context(), func(tx store.Tx) error {
		for range walkChunk + 5 {
			c := newCase(db, sam, routeID)
			c.Tasks = []store.TaskShare{share(sam, machine.OnOffered)}
			if err := tx.Write().Cases().Insert(c); err != nil {
				return err
			}
			more = append(more, c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	finds("many", offered, slices.Concat([]*store.Case{three}, more)...)
}

// TestTasksWritten wants the index to become the same whether it is known
// what it held or not, from any shares to any others.
func TestTasksWritten(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	const routeID = 7
	states := [][]store.TaskShare{
		{},
		{{Party: sam, Lists: machine.OnOffered}},
		{{Party: sam, Lists: machine.OnAccepted}},
		{{Party: ann, Lists: machine.OnOffered}},
		{{Party: sam, Lists: machine.OnOffered}, {Party: ann, Lists: machine.OnOffered}},
		{{Lists: machine.OnEscalated}},
		{{Lists: machine.OnEscalated | machine.OnOffered}, {Party: ann, Lists: machine.OnAccepted}},
	}
	index := func(id int64) (held []string) {
		t.Helper()
		err := db.Update(t.Context(), func(etx store.Tx) error {
			return relational.ConnOf(etx).Each(`
				SELECT party_id || ' ' || lists FROM tasks WHERE case_id = ?1
				UNION ALL SELECT 'admins of ' || route_id || ' ' || lists FROM route_tasks WHERE case_id = ?1 ORDER BY 1`,
				func(scan relational.Scan) error {
					var row string
					err := scan(&row)
					held = append(held, row)
					return err
				}, id)
		})
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	for i, from := range states {
		for k, to := range states {
			fresh := newCase(db, sam, routeID)
			fresh.Tasks = to
			known, unknown := newCase(db, sam, routeID), newCase(db, sam, routeID)
			known.Tasks, unknown.Tasks = from, from
			err := db.Update(t.Context(), func(tx store.Tx) error {
				return errors.Join(tx.Write().Cases().Insert(fresh), tx.Write().Cases().Insert(known), tx.Write().Cases().Insert(unknown))
			})
			if err != nil {
				t.Fatal(err)
			}
			known.Had = from
			for _, c := range []*store.Case{known, unknown} {
				c.Revision++
				c.Tasks = to
				if err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Update(c, c.Revision-1) }); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(index(fresh.ID), index(c.ID)); diff != "" || len(index(c.ID)) != len(to) {
					t.Errorf("from %d to %d (-as inserted +as changed):\n%s", i, k, diff)
				}
			}
		}
	}
}
