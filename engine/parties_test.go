package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

func TestUserIsARecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	out := admin.mustPutParty(identity.User, "lou", `{"fullName": "Lou", "email": "lou@example.org", "password": "secret"}`)
	if !out.Created || out.Name != "lou" || out.ETag != "" {
		t.Errorf("%+v", out)
	}
	form := w.form(out.Form)
	form.wants("name", `"lou"`, "fullName", `"Lou"`, "email", `"lou@example.org"`, "admin", "false", "disabled", "false",
		"deputy", "null", "created", `"`+start+`"`, "password", "absent")
	if strings.Contains(form.text, "secret") {
		t.Errorf("a password in %s", form.text)
	}
	account := func() string {
		_, hash, disabled, ok := w.Accounts.Account("LOU")
		return fmt.Sprintf("%q %t %t", hash, disabled, ok)
	}
	same(t, "account", account(), `"hash of secret" false true`)

	admin.mustPutParty(identity.User, "lou", `{"fullName": "Lou B."}`)
	same(t, "account", account(), `"hash of secret" false true`)
	again := admin.mustPutParty(identity.User, "LOU", form.text) // GET-edit-PUT
	if again.Created || !again.Changed {
		t.Errorf("%+v", again)
	}
	unchanged := admin.mustPutParty(identity.User, "lou", form.text)
	if unchanged.Changed || unchanged.FormETag != again.FormETag {
		t.Errorf("nothing changed: %+v", unchanged)
	}
	admin.mustPutParty(identity.User, "lou", `{"disabled": true, "password": "other"}`)
	same(t, "account", account(), `"hash of other" true true`)
	admin.mustPutParty(identity.User, "lou", `{"disabled": null, "password": null, "fullName": null, "email": null}`)
	same(t, "account", account(), `"" false true`)
	w.form(try(w.Accounts.Party(t.Context(), admin.by(), identity.User, "lou")).must(w, "lou").Form).wants("fullName", `""`, "email", `""`)

	_, err := admin.putParty(identity.User, "lou", `{"fullName": "x"}`, ifMatch(out.FormETag))
	w.refused(err, errs.Precondition)
	_, err = admin.putParty(identity.User, "lou", `{"fullName": "x"}`, ifNew())
	w.refused(err, errs.Precondition)
	for _, test := range []struct {
		doc    string
		faults []string
	}{
		{`{"name": "ann", "id": 1, "created": "2012-01-01T00:00:00Z"}`, []string{"/name read-only", "/id read-only", "/created read-only"}},
		{`{"fullname": "x", "admin": "yes", "email": 5, "disabled": 0}`, []string{"/fullname unknown-field", "/email type", "/admin type", "/disabled type"}},
		{`{"password": ""}`, []string{"/password range"}},
		{`{"password": 5}`, []string{"/password type"}},
		{`{"members": []}`, []string{"/members unknown-field"}},
	} {
		_, err := admin.putParty(identity.User, "lou", test.doc)
		w.refused(err, errs.Invalid, test.faults...)
	}
	for _, broken := range []string{"", "{", "[]", `"x"`} {
		if _, err := admin.putParty(identity.User, "lou", broken); err == nil {
			t.Errorf("%q is accepted", broken)
		}
	}
}

func TestTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	out := admin.mustPutParty(identity.Team, "crew", `{"members": ["SAM", "sam", "ops"], "admins": ["core"]}`)
	w.form(out.Form).wants("members", `["sam","ops"]`, "admins", `["core"]`)
	same(t, "bob's contexts", fmt.Sprint(w.as("bob").by().ContextNames()), "[everyone bob ops crew]")
	admin.mustPutParty(identity.Team, "crew", `{"admins": null}`)
	w.form(try(w.Accounts.Party(t.Context(), admin.by(), identity.Team, "crew")).must(w, "crew").Form).wants("members", `["sam","ops"]`, "admins", "[]")
	for _, test := range []struct {
		team, doc string
		faults    []string
	}{
		{"ops", `{"members": ["crew"]}`, []string{"/members conflict"}},
		{"ops", `{"members": ["ops"]}`, []string{"/members conflict"}},
		{"core", `{"members": ["staff", "sam"]}`, []string{"/members conflict"}},
		{"new", `{"members": ["new"]}`, []string{"/members/0 not-found"}},
		{"crew", `{"members": ["nobody", 5, "everyone"], "admins": {}}`, []string{
			"/members/0 not-found", "/members/1 type", "/members/2 not-found", "/admins type",
		}},
		{"crew", `{"password": "x"}`, []string{"/password unknown-field"}},
		{"everyone", `{"members": ["sam"], "admins": ["sam"]}`, []string{"/members read-only", "/admins read-only"}},
	} {
		_, err := admin.putParty(identity.Team, test.team, test.doc)
		w.refused(err, errs.Invalid, test.faults...)
	}
	admin.mustPutParty(identity.Team, "everyone", `{"members": []}`)
	w.reopen()
	same(t, "bob's contexts", fmt.Sprint(w.as("bob").by().ContextNames()), "[everyone bob ops crew]")
}

func TestPartyNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	for name, want := range map[string]errs.Kind{
		"x": "", "A-b_9": "", strings.Repeat("a", 63): "",
		"": errs.NameNotAllowed, "-a": errs.NameNotAllowed, "_a": errs.NameNotAllowed, "a b": errs.NameNotAllowed,
		"a.b": "", "ann.lee@example.com": "", "a..b": errs.NameNotAllowed, "a.json": errs.NameNotAllowed, "é": errs.NameNotAllowed, "@a": errs.NameNotAllowed, strings.Repeat("a", 64): errs.NameNotAllowed,
		"everyone": errs.NameTaken, "Everyone": errs.NameTaken, "core": errs.NameTaken, "CORE": errs.NameTaken,
	} {
		_, err := admin.putParty(identity.User, name, `{}`)
		if got := errs.KindOf(err); got != want {
			t.Errorf("a user %q: %v; want %q", name, err, want)
		}
	}
	_, err := admin.putParty(identity.Team, "sam", `{}`)
	w.refused(err, errs.NameTaken)
	_, err = admin.putParty(identity.Team, "sam", `{`) // what is wrong with the document is told first
	w.refused(err, errs.NotParseable)
	_, err = admin.putParty(identity.Team, "sam", `{"members": 5}`)
	w.refused(err, errs.Invalid, "/members type")
	w.refused(try(w.Accounts.Party(t.Context(), admin.by(), identity.Team, "sam")).err, errs.NotFound)
}

func TestDeleteParty(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	remove := func(kind identity.Kind, name string, options ...option) error {
		return w.Accounts.DeleteParty(t.Context(), admin.request(options), kind, name, "")
	}
	w.refused(remove(identity.User, "nobody"), errs.NotFound)
	w.refused(remove(identity.User, "core"), errs.NotFound)
	w.refused(remove(identity.Team, "everyone"), errs.NotDeletable)
	w.refused(remove(identity.User, "admin"), errs.NotDeletable)
	w.refused(remove(identity.User, "sam"), errs.InUse)  // in core
	w.refused(remove(identity.Team, "core"), errs.InUse) // in staff
	w.refused(remove(identity.User, "eve", ifMatch(`"x"`)), errs.Precondition)

	eve := w.as("eve")
	eve.mustPutEntry("e.json", every)
	w.refused(remove(identity.User, "eve"), errs.InUse)
	if err := eve.deleteEntry("e.json"); err != nil {
		t.Fatal(err)
	}
	eve.startCase(`{"route": "auto"}`)
	w.refused(remove(identity.User, "eve"), errs.InUse) // its cases are to be read
	admin.mustPutParty(identity.User, "lou", `{"password": "x"}`)
	if err := remove(identity.User, "LOU"); err != nil {
		t.Fatal(err)
	}
	if _, _, _, ok := w.Accounts.Account("lou"); ok {
		t.Error("a deleted user has an account")
	}
	if out := admin.mustPutParty(identity.User, "lou", `{}`); !out.Created {
		t.Error("the name of a deleted user is taken")
	}
	same(t, "teams", names(w.Accounts.Parties(t.Context(), admin.by(), identity.Team)), "everyone core ops staff")
}

// Nothing runs in the context of a disabled user; what they have stays.
func TestDisabledUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	out := sam.mustPutEntry("e.json", every)
	id := sam.startCase(`{"route": "ask"}`)
	admin.mustPutParty(identity.User, "sam", `{"disabled": true}`)
	w.advanceTo("2012-11-09T12:36:56Z")
	same(t, "occurrences", admin.occurrences(out.Name), []string{"failed 2012-11-09T12:36:56Z"})
	w.as("ann").mustPerform(id, "answer")
	admin.caseForm(id).wants("starter", `"sam"`)
}

// Changes of users and teams at once are serialised, and memory agrees with
// the store.
func TestConcurrentParties(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	const writers = 16
	created := make([]bool, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			if _, err := admin.putParty(identity.User, fmt.Sprintf("u%d", i), `{}`); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			out, err := admin.putParty(identity.Team, "many", fmt.Sprintf(`{"members": ["sam"], "admins": ["%s"]}`, []string{"ann", "bob"}[i%2]))
			if err != nil {
				t.Error(err)
				return
			}
			created[i] = out.Created
		})
	}
	wg.Wait()
	n := 0
	for _, c := range created {
		if c {
			n++
		}
	}
	same(t, "created", n, 1)
	before := names(w.Accounts.Parties(t.Context(), admin.by(), identity.User))
	same(t, "users", len(strings.Fields(before)), 5+writers)
	form := string(try(w.Accounts.Party(t.Context(), admin.by(), identity.Team, "many")).must(w, "many").Form)
	w.reopen()
	admin = w.as("admin")
	same(t, "users, from the store", names(w.Accounts.Parties(t.Context(), admin.by(), identity.User)), before)
	same(t, "the team, from the store", string(try(w.Accounts.Party(t.Context(), admin.by(), identity.Team, "many")).must(w, "many").Form), form)
}

func TestLastAdministratorStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	refused := func() {
		t.Helper()
		for doc, faults := range map[string][]string{
			`{"admin": false}`:                    {"/admin conflict"},
			`{"admin": null}`:                     {"/admin conflict"},
			`{"disabled": true}`:                  {"/disabled conflict"},
			`{"admin": false, "disabled": true}`:  {"/admin conflict", "/disabled conflict"},
			`{"disabled": true, "email": "a b@"}`: {"/email format", "/disabled conflict"},
		} {
			_, err := admin.putParty(identity.User, "admin", doc)
			w.refused(err, errs.Invalid, faults...)
		}
		w.refused(w.Accounts.DeleteParty(t.Context(), admin.request(nil), identity.User, "admin", ""), errs.NotDeletable)
	}
	refused()
	admin.mustPutParty(identity.User, "second", `{"admin": true, "disabled": true}`)
	refused() // who cannot log in administers nothing
	admin.mustPutParty(identity.User, "second", `{"disabled": false}`)
	admin.mustPutParty(identity.User, "admin", `{"admin": false}`)
	_, err := w.as("second").putParty(identity.User, "second", `{"admin": false}`)
	w.refused(err, errs.Invalid, "/admin conflict")
}

// What is refused says what to do about it.
func TestPartyRefusalsSayWhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	says := func(err error, kind errs.Kind, text string) {
		t.Helper()
		w.refused(err, kind)
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v; want it to say %q", err, text)
		}
	}
	remove := func(name string) error {
		return w.Accounts.DeleteParty(t.Context(), admin.request(nil), identity.Team, name, "")
	}
	admin.mustPutParty(identity.Team, "t1", `{}`)
	admin.mustPutParty(identity.Team, "t2", `{"members": ["t1"]}`)
	_, err := admin.putParty(identity.Team, "t1", `{"members": ["t2"]}`)
	says(err, errs.Invalid, "t1 → t2 → t1")
	admin.mustPutParty(identity.Team, "t1", `{"members": ["ann"]}`)
	admin.mustPutParty(identity.Team, "t2", `{"members": ["ann"]}`)

	ann := w.as("ann")
	entry := ann.mustPutEntry("", `{"type": "interval", "minutes": 1, "route": "auto", "context": "t1"}`)
	says(remove("t1"), errs.InUse, "is in use by the schedule entry \""+entry.Name)
	ann.startCase(`{"route": "ask", "context": "t2"}`)
	says(remove("t2"), errs.InUse, fmt.Sprintf("is in use by the case %d \"Question\"", w.caseIDs()[0]))
	admin.mustPutParty(identity.Team, "t3", `{}`)
	admin.mustPutRoute("theirs", "context: t3\n"+plainStates)
	says(remove("t3"), errs.InUse, "is in use by the route \"theirs\"")
}
