package relational_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// same compares what was stored with what is read: an empty list is none.
func same(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// kind checks the kind of an error, "" for none.
func kind(tb testing.TB, what string, err error, want errs.Kind) {
	tb.Helper()
	if got := errs.KindOf(err); got != want {
		tb.Errorf("%s: kind %q (%v), want %q", what, got, err, want)
	}
}

func parties(tb testing.TB, db *storetest.DB) (all []store.Party) {
	tb.Helper()
	mustView(tb, db, func(r store.Reader) (err error) {
		all, err = r.Parties().List()
		return err
	})
	return all
}

func TestParties(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := store.Party{
		Party: identity.Party{
			ID: identity.ID(db.NextID()), Name: "Sam", Kind: identity.User, FullName: "Sam Österberg",
			Email: "sam@example.org", Admin: true, Disabled: true,
		},
		Password: "$argon2id$…", Revision: 3, Created: noon(), Modified: noon().Add(time.Millisecond),
	}
	team := store.Party{
		Party: identity.Party{
			ID: identity.ID(db.NextID()), Name: "core", Kind: identity.Team,
			Members: []identity.Name{"Sam", "nobody-yet"}, Admins: []identity.Name{"Sam"},
		},
		Created: noon(), Modified: noon(),
	}
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := tx.Write().Parties().Put(&team); err != nil {
			return err
		}
		return tx.Write().Parties().Put(&sam)
	})
	same(t, "stored", []store.Party{sam, team}, parties(t, db))

	for _, name := range []identity.Name{"CORE", "sAm"} {
		other := store.Party{Party: identity.Party{ID: 99, Name: name, Kind: identity.User}, Created: noon(), Modified: noon()}
		err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Parties().Put(&other) })
		kind(t, "a name in use", err, errs.NameTaken)
	}
	sam.Disabled, sam.Password, sam.Revision = false, "", 4
	team.Members = nil
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := tx.Write().Parties().Put(&sam); err != nil {
			return err
		}
		return tx.Write().Parties().Put(&team)
	})
	same(t, "changed", []store.Party{sam, team}, parties(t, db))

	mustUpdate(t, db, func(tx store.Tx) error { return tx.Write().Parties().Delete(team.ID) })
	same(t, "after a deletion", []store.Party{sam}, parties(t, db))
	err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Parties().Delete(team.ID) })
	kind(t, "deleted twice", err, errs.NotFound)
}

func TestPartyInUse(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	sam := addUser(t, db, "sam")
	for i, test := range []struct {
		name string
		use  func(tx store.Tx, user identity.ID) error
	}{
		{"a route's owner", func(tx store.Tx, user identity.ID) error {
			return tx.Write().Routes().Put(newRoute(db, "r1", user, sam))
		}},
		{"a route's author", func(tx store.Tx, user identity.ID) error {
			return tx.Write().Routes().Put(newRoute(db, "r2", sam, user))
		}},
		{"an entry's owner", func(tx store.Tx, user identity.ID) error {
			e := newEntry(1, sam)
			e.ContextID = user
			return tx.Write().Entries().Insert(e)
		}},
		{"an entry's author", func(tx store.Tx, user identity.ID) error {
			e := newEntry(2, sam)
			e.AuthorID = user
			return tx.Write().Entries().Insert(e)
		}},
		{"a stakeholder", func(tx store.Tx, user identity.ID) error {
			c := newCase(db, sam, 7)
			c.Access = sorted(sam, user)
			return tx.Write().Cases().Insert(c)
		}},
	} {
		user := addUser(t, db, identity.Name(fmt.Sprint("user", i)))
		mustUpdate(t, db, func(tx store.Tx) error { return test.use(tx, user) })
		err := db.Update(t.Context(), func(tx store.Tx) error { return tx.Write().Parties().Delete(user) })
		kind(t, test.name, err, errs.InUse)
	}
}
