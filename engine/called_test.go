package engine_test

import (
	"testing"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestFullNamesOfOthers: nobody gives themselves what another is called, and where two are
// called the same the user name tells them apart (docs/contract/drive.md#full-names).
func TestFullNamesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutParty(identity.User, "ann", `{"fullName": "Ann Example"}`)
	for _, name := range []string{"ann example", "  Ann\u00a0 EXAMPLE", "Bob", "core", "\uff21nn Example", "Admin"} {
		_, err := w.as("sam").putMe(`{"fullName": "` + name + `"}`)
		w.refused(err, errs.Invalid, "/fullName conflict")
	}
	w.as("sam").mustPutMe(`{"fullName": "SAM"}`)
	w.as("ann").mustPutMe(`{"fullName": "Ann EXAMPLE"}`)
	table := w.Accounts.Table()
	same(t, "one", table.Called(table.ByName(identity.User, "ann")), "Ann EXAMPLE")
	w.as("admin").mustPutParty(identity.User, "bob", `{"fullName": "Ann Example"}`)
	table = w.Accounts.Table()
	same(t, "the first of two", table.Called(table.ByName(identity.User, "ann")), "Ann EXAMPLE (ann)")
	same(t, "the other", table.Called(table.ByName(identity.User, "bob")), "Ann Example (bob)")
	same(t, "of no full name", table.Called(table.ByName(identity.User, "eve")), "eve")
	w.as("bob").mustPutMe(`{"fullName": "Ann Example", "timezone": null}`) // as it is
}

// TestFullNamesThatDeceive: a full name has no character that is not seen, and does not end as
// that of another user is shown.
func TestFullNamesThatDeceive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutParty(identity.User, "ann", `{"fullName": "Ann Example"}`)
	for _, name := range []string{
		"Ann Exa\u200bmple", "\u202eelpmaxE nnA", "Ann\u2066 Example", "Ann Example\ufeff", "Ann\u00adExample", "Ann\u3164", "Ann\ufe0f Example", "Ann\u2028Example",
		"Ann\\tExample", "\ue000", "\u2800", "\u3000",
	} {
		for who, put := range map[string]func(string) error{
			"the user":         func(doc string) error { _, err := w.as("sam").putMe(doc); return err },
			"an administrator": func(doc string) error { _, err := w.as("admin").putParty(identity.User, "sam", doc); return err },
			"of a new user":    func(doc string) error { _, err := w.as("admin").putParty(identity.User, "zoe", doc); return err },
		} {
			t.Log(who)
			w.refused(put(`{"fullName": "`+name+`"}`), errs.Invalid, "/fullName format")
		}
	}
	for _, name := range []string{"Ann Example (ann)", "Boss (ANN)", "(ann)", "Ann \uff08ann\uff09", "Ann ( ann )"} {
		_, err := w.as("sam").putMe(`{"fullName": "` + name + `"}`)
		w.refused(err, errs.Invalid, "/fullName conflict")
		_, err = w.as("admin").putParty(identity.User, "sam", `{"fullName": "`+name+`"}`)
		w.refused(err, errs.Invalid, "/fullName conflict")
	}
	_, err := w.as("admin").putParty(identity.User, "sam", `{"fullName": "Ann"}`)
	w.refused(err, errs.Invalid, "/fullName conflict")
	for _, name := range []string{"Sam Example (sam)", "Sam (nobody)", "Sam (core)", "Søren Æ 山田 O'Neil-Żak", ""} {
		w.as("sam").mustPutMe(`{"fullName": "` + name + `"}`)
	}
	w.as("sam").mustPutMe(`{"fullName": "Sam (lee)"}`)
	w.as("admin").mustPutParty(identity.User, "lee", `{}`) // who comes later
	table := w.Accounts.Table()
	same(t, "a full name that ends as that of a later user", table.Called(table.ByName(identity.User, "sam")), "Sam (lee) (sam)")
	w.as("sam").mustPutMe(`{"fullName": "Sam (lee)", "timezone": null}`) // as it is
}

// TestFullNamesOfDirectories: what a directory sends is cleaned.
func TestFullNamesOfDirectories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for sent, want := range map[string]string{
		"Ann\u200b Example\u202e": "Ann Example", "Ann Example (sam)": "Ann Example", "(sam)": "", "A \uff08Sam\uff09 (bob)": "A", "\u200b": "", "Ann (core)": "Ann (core)", "A \u207dsam\u207e": "",
	} {
		id, err := w.Accounts.LogInVouched(t.Context(), account.Vouched{Origin: "oidc https://id.example.org x", Name: "annex", FullName: sent, Create: true})
		if err != nil {
			t.Fatal(err)
		}
		same(t, sent, w.Accounts.Table().ByID(id).FullName, want)
	}
}
