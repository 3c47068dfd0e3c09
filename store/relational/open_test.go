package relational_test

import (
	"fmt"
	"testing"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// lives are all that a case can be.
var lives = [...]machine.Life{
	machine.Queued, machine.Active, machine.Suspended, machine.Completed, machine.Closed, machine.Canceled, machine.Failed,
}

// caseIn stores a case in that state, with a file that was dropped, of an
// entry.
func caseIn(db *storetest.DB, by identity.ID, life machine.Life, routeID int64) (*store.Case, func(tx store.Tx) error) {
	c := newCase(db, by, routeID)
	c.State, c.Status, c.Entry = string(life), "at-"+string(life), store.UUID{byte(routeID)}
	if life.Ended() {
		c.Retires = noon()
	}
	return c, func(tx store.Tx) error {
		if err := tx.Write().Cases().Insert(c); err != nil {
			return err
		}
		return tx.Write().Cases().Messages().Put(&store.Message{
			UUID: store.UUID{1: byte(c.ID)}, CaseID: c.ID, Label: store.LabelInput, MediaType: "text/csv", Size: 1,
			SHA256: digest("x"), Content: []byte("x"), Version: 1, Created: noon(), Modified: noon(), AuthorID: by,
		})
	}
}

// wantOpen wants the store to take the only case of the route, the entry and
// the folder as open, or as ended, wherever it asks for that.
func wantOpen(t *testing.T, db *storetest.DB, what string, c *store.Case) {
	t.Helper()
	life := machine.Life(c.State)
	ids := []int64{}
	if !life.Ended() {
		ids = append(ids, c.ID)
	}
	mustView(t, db, func(r store.Reader) error {
		n, err := r.Cases().CountOpen(c.StarterID)
		kind(t, what, err, "")
		same(t, what+": open cases", int64(len(ids)), n)
		of, err := r.Cases().OpenOf(c.Entry, 9)
		kind(t, what, err, "")
		same(t, what+": open cases of the entry", ids, append([]int64{}, of...))
		others, err := r.Cases().OpenStatuses(c.RouteID, nil)
		kind(t, what, err, "")
		same(t, what+": states of open cases", len(ids), len(others))
		ended, err := r.Cases().EndedStatuses(c.RouteID)
		kind(t, what, err, "")
		same(t, what+": states of ended cases", life.Ended() && life != machine.Canceled, len(ended) == 1)
		started := 0
		if !life.Ended() && life != machine.Queued {
			started = 1
		}
		for _, test := range []struct {
			whole []int64
			party identity.ID
			bound store.OpenBound
			want  store.OpenCount
		}{
			{nil, c.StarterID, store.OpenBound{Most: 9, Look: 20}, store.OpenCount{Cases: started}},
			{nil, c.StarterID + 1000, store.OpenBound{Most: 9, Look: 20}, store.OpenCount{}},
			{nil, c.StarterID + 1000, store.OpenBound{}, store.OpenCount{More: started > 0}},
			{[]int64{c.RouteID}, c.StarterID + 1000, store.OpenBound{Most: 9, Look: 20}, store.OpenCount{Cases: started}},
			{nil, c.StarterID, store.OpenBound{Look: 1}, store.OpenCount{More: started > 0}},
		} {
			counts, err := r.Routes().CountOpen([]int64{c.RouteID}, test.whole, []identity.ID{test.party}, test.bound)
			kind(t, what, err, "")
			same(t, fmt.Sprintf("%s: open cases of the route by %+v", what, test), map[int64]store.OpenCount{c.RouteID: test.want}, counts)
		}
		on, err := r.Cases().List(store.CaseFilter{RouteID: c.RouteID, Status: c.Status, OnBoard: true})
		kind(t, what, err, "")
		same(t, what+": on the board", life != machine.Canceled, len(on) == 1)
		return nil
	})
	_, files := aliases(t, db, c.StarterID, c.RouteID)
	same(t, what+": dropped files", !life.Ended() || life == machine.Failed, len(files) == 1)
}

// TestOpenCases wants every change of a case's state from each to each, and
// its end, to be followed by all that rests on whether it is open.
func TestOpenCases(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	routeID := int64(100)
	for _, from := range lives {
		for _, to := range lives {
			what := fmt.Sprintf("from %s to %s", from, to)
			routeID++
			by := addUser(t, db, identity.Name(fmt.Sprintf("user%d", routeID)))
			c, insert := caseIn(db, by, from, routeID)
			mustUpdate(t, db, insert)
			mustUpdate(t, db, func(tx store.Tx) error {
				return tx.Write().Names().PutAlias(&store.Alias{Author: by, RouteID: routeID, Name: "x.csv", CaseID: c.ID})
			})
			wantOpen(t, db, what+", before", c)
			mustUpdate(t, db, func(tx store.Tx) error {
				c.State, c.Revision = string(to), 2
				return tx.Write().Cases().Update(c, 1)
			})
			wantOpen(t, db, what, c)
			mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Cases().Delete(c.ID, store.UUID{}, noon()) })
			mustView(t, db, func(r store.Reader) error {
				n, err := r.Cases().CountOpen(by)
				same(t, what+", deleted", int64(0), n)
				return err
			})
		}
	}
}

// TestUnknownWords wants the checks that were worded anew to refuse what they
// refused.
func TestUnknownWords(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	c := newCase(db, sam, 7)
	insertCases(t, db, c)
	odd := *newCase(db, sam, 7)
	odd.State = "odd"
	kind(t, "a new case", db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Insert(&odd) }), errs.Internal)
	c.State, c.Revision = "odd", 2
	kind(t, "a case", db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Update(c, 1) }), errs.Internal)
	kind(t, "an occurrence", db.Update(t.Context(), func(tx store.Tx) error {
		return tx.Write().Entries().InsertOccurrence(&store.Occurrence{Entry: store.UUID{1}, Instant: noon(), ContextID: sam, Outcome: "odd", FiredAt: noon()})
	}), errs.Internal)
}
