package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// TestErasingNamesTheUser: if a user cannot be erased, the answer has the name that was
// asked for.
func TestErasingNamesTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", routeTold)
	w.as("ann").mustPutEntry("e.json", `{"type": "interval", "hours": 1, "route": "desk"}`)
	err := w.Accounts.ErasePerson(t.Context(), w.as("admin").request(nil), "Ann", "")
	w.refused(err, errs.InUse)
	if err != nil && (!strings.Contains(err.Error(), `"ann"`) || strings.Contains(err.Error(), "erased-")) {
		t.Errorf("got %v", err)
	}
}

// TestPseudonymIsReserved: nobody may choose the name that stands in place of a user who is
// erased, and who has it from earlier keeps nobody from being erased.
func TestPseudonymIsReserved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	taken := fmt.Sprintf("erased-%d", w.as("ann").id())
	for _, kind := range []identity.Kind{identity.User, identity.Team} {
		for _, name := range []string{taken, "Erased-7", "erased-7-2"} {
			_, err := admin.putParty(kind, name, `{}`)
			w.refused(err, errs.NameNotAllowed)
		}
	}
	_, err := w.Accounts.RenameParty(t.Context(), admin.request(nil), identity.User, "bob", taken)
	w.refused(err, errs.NameNotAllowed)
	admin.mustPutParty(identity.User, "erased-soon", `{}`)

	err = w.Store.Update(t.Context(), func(tx store.Tx) error {
		p := store.Party{Party: identity.Party{ID: 999_999, Name: identity.Name(taken), Kind: identity.User}, Created: w.Clock.Now(), Modified: w.Clock.Now()}
		return errors.Join(tx.Write().Parties().Put(&p), w.Accounts.Refresh(tx))
	})
	if err != nil {
		t.Fatal(err)
	}
	w.refused(w.Accounts.ErasePerson(t.Context(), admin.request(nil), "ann", "nobody"), errs.BadParameter)
	admin.mustPutRoute("desk", routeTold)
	w.as("ann").mustPutEntry("e.json", `{"type": "interval", "hours": 1, "route": "desk"}`)
	if err := w.Accounts.ErasePerson(t.Context(), admin.request(nil), "ann", "bob"); err != nil {
		t.Fatal(err)
	}
	if w.Accounts.PartyID("ann") != 0 || w.Accounts.PartyID(taken) == 0 {
		t.Error("ann is not gone, or the one with the name of a pseudonym is")
	}
}

// TestOriginOfADirectory: directories do not tell upper from lower case in a DN, so that one
// DN is one user's, however it is written.
func TestOriginOfADirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	out := admin.mustPutParty(identity.User, "ann", `{"origin": "ldap UID=Ann,DC=X"}`)
	w.form(out.Form).wants("origin", `"ldap uid=ann,dc=x"`)
	_, err := admin.putParty(identity.User, "bob", `{"origin": "ldap uid=ANN,dc=x"}`)
	w.refused(err, errs.Invalid, "/origin conflict")
	out = admin.mustPutParty(identity.User, "eve", `{"origin": "ldap CN=Eve Lee , ou=People,  dc=x"}`)
	w.form(out.Form).wants("origin", `"ldap cn=eve lee,ou=people,dc=x"`)
	for _, said := range []string{"ldap cn=Eve Lee,ou=People,dc=x", "ldap CN=eve lee, OU=people, DC=X"} {
		id, err := w.Accounts.LogInVouched(t.Context(), account.Vouched{Origin: said, Name: "eve"})
		if by := w.Accounts.Principal(id); err != nil || by.Name != "eve" {
			t.Errorf("%s: logged in as %q, %v", said, by.Name, err)
		}
	}
	out = admin.mustPutParty(identity.User, "bob", `{"origin": "oidc https://login.example.org/Realm Id1"}`)
	w.form(out.Form).wants("origin", `"oidc https://login.example.org/Realm Id1"`)
}

// TestMovedInTheDirectory: who has moved in a directory is told that, and with what an
// administrator connects them again. They keep their account; until then nobody gets it by its name.
func TestMovedInTheDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	logIn := func(origin string) (identity.ID, error) {
		return w.Accounts.LogInVouched(t.Context(), account.Vouched{Origin: origin, Name: "lee", Create: true})
	}
	before, err := logIn("ldap uid=lee,ou=old,dc=x")
	if err != nil {
		t.Fatal(err)
	}
	const after = "ldap uid=lee,ou=new,dc=x"
	id, err := logIn(after)
	if id != 0 || !errors.Is(err, account.ErrMoved) || !errs.Is(err, errs.LogIn) || !strings.Contains(err.Error(), `"origin": "`+after+`" in Admin/Users/lee.json`) {
		t.Fatalf("after the move: %d, %v", id, err)
	}
	if _, err := logIn("oidc https://login.example.org 7"); err == nil || errors.Is(err, account.ErrMoved) {
		t.Errorf("the same name at a provider: %v", err)
	}
	admin.mustPutParty(identity.User, "lee", `{"origin": "`+after+`"}`)
	if id, err := logIn(after); id != before || err != nil {
		t.Errorf("connected again: user %d, %v, want %d", id, err, before)
	}
	if id, err := logIn("ldap uid=lee,ou=old,dc=x"); id != 0 || !errors.Is(err, account.ErrMoved) {
		t.Errorf("by the place before: %d, %v", id, err)
	}
}
