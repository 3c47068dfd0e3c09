package relational_test

import (
	"slices"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// dropFile stores a case of the author with the text as its input, and the
// alias of that.
func dropFile(t *testing.T, db *storetest.DB, author identity.ID, routeID int64, name, text string) (*store.Case, *store.Alias) {
	t.Helper()
	c := newCase(db, author, routeID)
	input := store.Message{
		UUID: store.UUID{1: byte(c.ID)}, CaseID: c.ID, Label: store.LabelInput, MediaType: "text/csv", Size: int64(len(text)),
		SHA256: digest(text), Content: []byte(text), Version: 1, Created: noon(), Modified: noon(), AuthorID: author,
	}
	a := &store.Alias{Author: author, RouteID: routeID, Name: name, CaseID: c.ID}
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := tx.Write().Cases().Insert(c); err != nil {
			return err
		}
		other := input
		other.Label, other.UUID = "report", store.UUID{2: byte(c.ID)}
		for _, m := range []*store.Message{&input, &other} {
			if err := tx.Write().Cases().Messages().Put(m); err != nil {
				return err
			}
		}
		return tx.Write().Names().PutAlias(a)
	})
	a.Input, a.Open = input, true
	return c, a
}

// aliases returns the names and cases that the author finds in the folder.
func aliases(t *testing.T, db *storetest.DB, author identity.ID, routeID int64) (names []string, cases []int64) {
	t.Helper()
	names, cases = []string{}, []int64{}
	mustView(t, db, func(r store.Reader) error {
		all, err := r.Names().Aliases(author, routeID)
		for _, a := range all {
			if a.Input.Content != nil {
				t.Errorf("%s is listed with its content", a.Name)
			}
			one, err := r.Names().Alias(author, routeID, a.Name)
			kind(t, a.Name, err, "")
			one.Input.Content = nil
			same(t, a.Name, &a, one)
			names, cases = append(names, a.Name), append(cases, a.CaseID)
		}
		return err
	})
	return names, cases
}

func TestAliases(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam, ann := addUser(t, db, "sam"), addUser(t, db, "ann")
	one, rates := dropFile(t, db, sam, 7, "Rates Ä.csv", "1,2")
	dropFile(t, db, sam, 7, "b.csv", "")
	dropFile(t, db, sam, 8, "b.csv", "other route")
	dropFile(t, db, ann, 7, "b.csv", "other author")
	mustView(t, db, func(r store.Reader) error {
		got, err := r.Names().Alias(sam, 7, "RATES ä.CSV")
		kind(t, "whatever its case", err, "")
		rates.ID = got.ID
		same(t, "whatever its case", rates, got)
		_, err = r.Names().Alias(sam, 7, "none")
		kind(t, "no such name", err, errs.NotFound)
		_, err = r.Names().Alias(ann, 8, "b.csv")
		kind(t, "another's", err, errs.NotFound)
		return nil
	})
	list := func(what string, want ...string) {
		t.Helper()
		got, _ := aliases(t, db, sam, 7)
		same(t, what, want, got)
		consistent(t, db)
	}
	list("by first use", "Rates Ä.csv", "b.csv")

	// A further file takes the name and keeps the place.
	two, _ := dropFile(t, db, sam, 7, "rates ä.csv", "1,2,3")
	list("taken over", "rates ä.csv", "b.csv")
	_, cases := aliases(t, db, sam, 7)
	same(t, "of the new case", two.ID, cases[0])

	// It follows the state of its case, and of no other.
	move := func(c *store.Case, state string) {
		t.Helper()
		mustUpdate(t, db, func(tx store.Tx) error {
			base := c.Revision
			c.Revision, c.State = base+1, state
			return tx.Write().Cases().Update(c, base)
		})
	}
	for _, state := range []string{"active", "canceled"} {
		move(one, state)
		list("the case before is "+state, "rates ä.csv", "b.csv")
	}
	for _, tt := range []struct {
		state string
		open  bool
	}{
		{"active", true},
		{"suspended", true},
		{"completed", false},
		{"closed", false},
		{"failed", true},
		{"completed", false},
		{"failed", true},
		{"active", true},
		{"queued", true},
		{"canceled", false},
		{"suspended", true},
	} {
		move(two, tt.state)
		if tt.open {
			list("the case is "+tt.state, "rates ä.csv", "b.csv")
		} else {
			list("the case is "+tt.state, "b.csv")
		}
	}
	remove := func(author identity.ID, name string) error {
		return db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Names().DeleteAlias(author, 7, name) })
	}
	kind(t, "delete", remove(sam, "RATES Ä.csv"), "")
	list("deleted", "b.csv")
	kind(t, "delete twice", remove(sam, "rates ä.csv"), errs.NotFound)
	kind(t, "delete nothing", remove(sam, "none"), errs.NotFound)
	move(two, "completed")
	move(two, "active")
	list("what was deleted stays so", "b.csv")

	// That of an ended case is not there to be deleted, but its name is free.
	b, _ := dropFile(t, db, sam, 7, "b.csv", "again")
	move(b, "completed")
	kind(t, "delete that of an ended case", remove(sam, "b.csv"), errs.NotFound)
	list("none")
	dropFile(t, db, sam, 7, "B.csv", "again")
	list("its name is free", "B.csv")
	err := db.Update(t.Context(), func(tx store.Tx) error {
		return tx.Write().Names().PutAlias(&store.Alias{Author: sam, RouteID: 7, Name: "x", CaseID: 999})
	})
	kind(t, "of no case", err, errs.NotFound)
}

// TestAliasOfEndedCase: a case may end as it is created.
func TestAliasOfEndedCase(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	dropFile(t, db, sam, 7, "a", "waits")
	c := newCase(db, sam, 7)
	c.State = "completed"
	insertCases(t, db, c)
	mustUpdate(t, db, func(tx store.Tx) error {
		return tx.Write().Names().PutAlias(&store.Alias{Author: sam, RouteID: 7, Name: "A", CaseID: c.ID})
	})
	got, _ := aliases(t, db, sam, 7)
	same(t, "the name is the ended case's", []string{}, got)
}

func TestBoardListsCasesByState(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	byKey := map[string][]int64{}
	add := func(routeID int64, state, status string) {
		c := newCase(db, sam, routeID)
		c.State, c.Status = state, status
		insertCases(t, db, c)
		if state != "canceled" && routeID == 7 {
			byKey[status] = append(byKey[status], c.ID)
		}
	}
	for range 3 {
		add(7, "queued", "")
		add(7, "active", "open")
		add(7, "suspended", "open")
		add(7, "active", "voting")
		add(7, "completed", "closed")
		add(7, "failed", "voting")
		add(7, "closed", "retired")
		add(7, "canceled", "open")
		add(7, "canceled", "given up")
		add(8, "active", "elsewhere")
		add(8, "completed", "over")
	}
	mustView(t, db, func(r store.Reader) error {
		for _, status := range []string{"open", "voting", "closed", "retired", "given up", "elsewhere"} {
			for what, f := range map[string]store.CaseFilter{
				"to who sees all":       {},
				"to who sees the route": {Access: []identity.ID{}, Routes: []int64{7}},
				"to who started them":   {Access: []identity.ID{sam}},
			} {
				f.RouteID, f.Status, f.OnBoard = 7, status, true
				cases, err := r.Cases().List(f)
				kind(t, status, err, "")
				same(t, status+" "+what, append([]int64{}, byKey[status]...), caseIDs(cases))
				f.Limit, f.After = 1, 0
				var paged []int64
				for {
					page, err := r.Cases().List(f)
					kind(t, status, err, "")
					if len(page) == 0 {
						break
					}
					f.After = page[0].ID
					paged = append(paged, f.After)
				}
				if !slices.Equal(paged, byKey[status]) {
					t.Errorf("%s %s, page by page: %v, want %v", status, what, paged, byKey[status])
				}
			}
		}
		ended, err := r.Cases().EndedStatuses(7)
		kind(t, "ended", err, "")
		same(t, "ended", []string{"closed", "retired", "voting"}, ended)
		others, err := r.Cases().OpenStatuses(7, []string{"open"})
		kind(t, "open", err, "")
		same(t, "open besides those known", []string{"voting"}, others)
		others, err = r.Cases().OpenStatuses(7, nil)
		slices.Sort(others)
		kind(t, "open", err, "")
		same(t, "open", []string{"open", "voting"}, others)
		none, err := r.Cases().EndedStatuses(99)
		kind(t, "no such route", err, "")
		if len(none) != 0 {
			t.Errorf("no such route: %q", none)
		}
		return nil
	})
}

// TestPeekID: looking at the next id gives it to nobody, and a case that is
// stored under an id in use is refused.
func TestPeekID(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	next := db.PeekID()
	if again, given := db.PeekID(), db.NextID(); again != next || given != next || db.PeekID() != next+1 {
		t.Errorf("peeked %d, %d, given %d, then peeked %d", next, again, given, db.PeekID())
	}
	c := newCase(db, sam, 7)
	insertCases(t, db, c)
	second := newCase(db, sam, 7)
	second.ID = c.ID
	kind(t, "an id in use", db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Cases().Insert(second) }), errs.NameTaken)
}
