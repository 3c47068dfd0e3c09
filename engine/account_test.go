package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
	"flowdrive/engine/account"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

func (u user) putMe(doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Accounts.PutMe(u.Context(), u.request(options), []byte(doc))
}

func (u user) mustPutMe(doc string, options ...option) *engine.Outcome {
	u.Helper()
	return try(u.putMe(doc, options...)).must(u.world, "PUT of me.json")
}

func (u user) me() form {
	u.Helper()
	return u.form(try(u.Accounts.Me(u.Context(), u.by())).must(u.world, "GET of me.json").Form)
}

func (u user) putApp(label, doc string, options ...option) (*engine.Outcome, error) {
	u.Helper()
	return u.Accounts.PutSecret(u.Context(), u.request(options), store.AppPassword, label, []byte(doc))
}

// newApp makes an app password and returns its secret.
func (u user) newApp(label string) string {
	u.Helper()
	out := try(u.putApp(label, `{}`)).must(u.world, "PUT of an app password")
	return unquote(u.form(out.Once).get("secret"))
}

func (u user) deleteApp(label string, options ...option) error {
	return u.Accounts.DeleteSecret(u.Context(), u.request(options), store.AppPassword, label)
}

// onDevice has a request come from a device.
func onDevice() option { return func(req *engine.Request) { req.By.Device = true } }

// checksPasswords has the engine check passwords by the hashes of the tests;
// "throttled" stands for one that was not even looked at.
func checksPasswords(w *world) {
	w.config = func(cfg *engine.Config) {
		cfg.CheckPassword = func(_ context.Context, user identity.Name, password string) error {
			_, hash, _, _ := w.Accounts.Account(string(user))
			switch {
			case password == "throttled":
				return errs.New(errs.TooMany, "Too many.")
			case hash != "hash of "+password:
				return errs.New(errs.LogIn, "Wrong.")
			}
			return nil
		}
	}
}

func TestMe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	sam.me().wants("name", `"sam"`, "email", `"sam@example.org"`, "fullName", `""`, "deputy", "null")
	var contexts []string
	me := ann.me()
	for i := range me.node.Get("contexts").Items {
		at := fmt.Sprintf("contexts/%d/", i)
		if id := me.get(at + "id"); id == "absent" || id == "0" {
			t.Errorf("context %d has the id %s", i, id)
		}
		contexts = append(contexts, unquote(me.get(at+"name"))+" "+unquote(me.get(at+"kind"))+" "+me.get(at+"admin"))
	}
	want := []string{"everyone team false", "core team true", "ann user true", "staff team false"}
	same(t, "contexts", contexts, want)

	out := sam.mustPutMe(`{"name": "SAM", "fullName": "Sam Example", "contexts": [], "deputy": null}`)
	if !out.Changed || out.Created {
		t.Errorf("changed: %+v", out)
	}
	sam.me().wants("fullName", `"Sam Example"`, "email", `"sam@example.org"`)
	sam.mustPutMe(`{"email": null}`)
	sam.me().wants("fullName", `"Sam Example"`, "email", `""`)
	if out := sam.mustPutMe(`{"fullName": "Sam Example"}`); out.Changed {
		t.Error("a change that changes nothing is one")
	}
	w.as("admin").mustPutParty(identity.User, "admin", `{"fullName": "Root"}`)
	sam.me().wants("fullName", `"Sam Example"`)

	// What is PUT is what GET gives, so that it can be saved back.
	sam.mustPutMe(sam.me().text)
}

func TestMeRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, checksPasswords)
	sam := w.as("sam")
	for doc, want := range map[string][]string{
		`[]`:                                            {" type"},
		`{"name": "ann"}`:                               {"/name read-only"},
		`{"name": 1}`:                                   {"/name read-only"},
		`{"admin": true, "id": 7}`:                      {"/admin unknown-field", "/id unknown-field"},
		`{"fullName": 7, "email": "no"}`:                {"/fullName type", "/email format"},
		`{"fullName": "a\nb"}`:                          {"/fullName format"},
		`{"email": "Sam <sam@x.org>"}`:                  {"/email format"},
		`{"email": "a@x.org\nBcc: b"}`:                  {"/email format"},
		`{"password": "new"}`:                           {"/oldPassword required"},
		`{"password": null}`:                            {"/password type", "/oldPassword required"},
		`{"password": ""}`:                              {"/password range", "/oldPassword required"},
		`{"password": "a\u0000b", "oldPassword": ""}`:   {"/password range"},
		`{"oldPassword": "x"}`:                          {"/password required"},
		`{"deputy": "ann"}`:                             {"/deputy type"},
		`{"password": "x", "oldPassword": "y", "x": 1}`: {"/x unknown-field"},
	} {
		_, err := sam.putMe(doc)
		if diff := cmp.Diff(want, faultsOf(err)); diff != "" || !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: %v\n(-want +got):\n%s", doc, err, diff)
		}
	}
	_, err := sam.putMe(`{"email": `)
	w.refused(err, errs.NotParseable)
	_, err = sam.putMe(`{"email": "s@example.org"}`, onDevice())
	w.refused(err, errs.NotAllowed)
	_, err = sam.putMe(`{"email": "s@example.org"}`, ifMatch(`"other"`))
	w.refused(err, errs.Precondition)
	_, err = sam.putMe(`not JSON`, ifMatch(`"other"`))
	w.refused(err, errs.Precondition)
	sam.me().wants("email", `"sam@example.org"`)
	res := try(sam.Accounts.Me(t.Context(), sam.by())).must(w, "GET of me.json")
	sam.mustPutMe(`{"email": "s@example.org"}`, ifMatch(res.FormETag))
}

func TestOwnPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t, checksPasswords)
	w.as("admin").mustPutParty(identity.User, "sam", `{"password": "old"}`)
	sam := w.as("sam")
	hash := func() string {
		_, hash, _, _ := w.Accounts.Account("sam")
		return hash
	}
	_, err := sam.putMe(`{"password": "new", "oldPassword": "guess", "email": "x@example.org"}`)
	w.refused(err, errs.Invalid, "/oldPassword conflict")
	_, err = sam.putMe(`{"password": "new", "oldPassword": "throttled"}`)
	w.refused(err, errs.TooMany)
	same(t, "the password", hash(), "hash of old")
	sam.me().wants("email", `"sam@example.org"`)

	sam.mustPutMe(`{"password": "new", "oldPassword": "old", "email": "x@example.org"}`)
	same(t, "the password", hash(), "hash of new")
	sam.me().wants("email", `"x@example.org"`, "password", "absent")
	w.reopen()
	same(t, "the password after a restart", hash(), "hash of new")
}

// The old password may cease to be right while it is checked: that counts as
// wrong.
func TestOwnPasswordIsCheckedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.CheckPassword = func(context.Context, identity.Name, string) error {
				w.as("admin").mustPutParty(identity.User, "sam", `{"password": "meanwhile"}`)
				return nil
			}
		}
	})
	w.as("admin").mustPutParty(identity.User, "sam", `{"password": "old"}`)
	_, err := w.as("sam").putMe(`{"password": "new", "oldPassword": "old"}`)
	w.refused(err, errs.Invalid, "/oldPassword conflict")
	_, hash, _, _ := w.Accounts.Account("sam")
	same(t, "the password", hash, "hash of meanwhile")
}

func TestPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutParty(identity.User, "bob", `{"disabled": true}`)
	res := try(w.Accounts.People(t.Context(), w.as("eve").by())).must(w, "GET of people.json")
	want := indented(`{"users":[{"name":"admin","fullName":"Administrator"},{"name":"sam","fullName":""},{"name":"ann","fullName":""},{"name":"eve","fullName":""}],` +
		`"teams":[{"name":"everyone"},{"name":"core"},{"name":"ops"},{"name":"staff"}]}`)
	same(t, "people.json", string(res.Form), want)
}

func TestAppPasswords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, ann := w.as("sam"), w.as("ann")
	phone, tablet := sam.newApp("my phone"), sam.newApp("tablet")
	if len(phone) != len("fd-")+32 || phone == tablet || strings.ToLower(phone) != phone {
		t.Errorf("the secrets are %q and %q", phone, tablet)
	}
	same(t, "listed", names(w.Accounts.Secrets(t.Context(), sam.by(), store.AppPassword)), "my phone tablet")
	same(t, "of ann", names(w.Accounts.Secrets(t.Context(), ann.by(), store.AppPassword)), "")
	res := try(w.Accounts.Secret(t.Context(), sam.by(), store.AppPassword, "MY PHONE")).must(w, "GET of an app password")
	same(t, "the form", string(res.Form), indented(`{"label":"my phone","created":"2012-11-09T12:34:56Z","lastUsed":null}`))
	_, err := w.Accounts.Secret(t.Context(), ann.by(), store.AppPassword, "tablet")
	w.refused(err, errs.NotFound)

	uses := func(want bool, who user, secret string) {
		t.Helper()
		if _, got := w.Accounts.UseAppPassword(who.id(), secret); got != want {
			t.Errorf("%s uses %q: %v; want %v", who.name, secret, got, want)
		}
	}
	uses(true, sam, phone)
	uses(true, sam, tablet)
	uses(false, ann, phone)
	uses(false, sam, strings.ToUpper(phone))
	uses(false, sam, phone[:len(phone)-1])
	uses(false, sam, "")

	for what, attempt := range map[string]struct {
		label, doc string
		options    []option
		kind       errs.Kind
	}{
		"a label in use":      {"Tablet", `{}`, nil, errs.NameTaken},
		"only a new one":      {"tablet", `{}`, []option{ifNew()}, errs.Precondition},
		"a secret given":      {"x", `{"secret": "mine"}`, nil, errs.Invalid},
		"no object":           {"x", `[]`, nil, errs.Invalid},
		"a scope elsewhere":   {"x", `{"scope": "Admin/Users"}`, nil, errs.Invalid},
		"a scope of no kind":  {"x", `{"scope": ["read"]}`, nil, errs.Invalid},
		"an end in words":     {"x", `{"expires": "soon"}`, nil, errs.Invalid},
		"an end that is past": {"x", `{"expires": "2012-11-09T12:34:56Z"}`, nil, errs.Invalid},
		"no JSON":             {"x", `{`, nil, errs.NotParseable},
		"from a device":       {"x", `{}`, []option{onDevice()}, errs.NotAllowed},
		"on one not there":    {"x", `{}`, []option{ifMatch(`"a1.0"`)}, errs.Precondition},
	} {
		_, err := sam.putApp(attempt.label, attempt.doc, attempt.options...)
		if got := errs.KindOf(err); got != attempt.kind {
			t.Errorf("%s: %v; want %s", what, err, attempt.kind)
		}
	}
	if _, err := sam.putApp("laptop", `{"label": "laptop"}`, ifNew()); err != nil {
		t.Error(err)
	}
	if _, err := sam.putApp("another laptop", string(res.Form)); err != nil { // as COPY does
		t.Errorf("by the form of another one: %v", err)
	}

	w.refused(sam.deleteApp("nothing"), errs.NotFound)
	w.refused(ann.deleteApp("tablet"), errs.NotFound)
	w.refused(sam.deleteApp("tablet", onDevice()), errs.NotAllowed)
	// A device may end itself, and no other.
	itself := func(req *engine.Request) { req.By.Device, req.By.Label = true, "lost" }
	try(sam.putApp("lost", `{}`)).must(w, "PUT of an app password")
	w.refused(sam.deleteApp("tablet", itself), errs.NotAllowed)
	if err := sam.deleteApp("lost", itself); err != nil {
		t.Errorf("a device ends itself: %v", err)
	}
	w.refused(sam.deleteApp("tablet", ifMatch(`"a0.0"`)), errs.Precondition)
	uses(true, sam, tablet)
	if err := sam.deleteApp("TABLET"); err != nil {
		t.Fatal(err)
	}
	uses(false, sam, tablet)
	w.reopen()
	uses(true, sam, phone)
	uses(false, sam, tablet)

	// They go with their user, and a disabled user's are told apart by the
	// log-in.
	w.as("admin").mustPutParty(identity.User, "sam", `{"disabled": true}`)
	if _, _, disabled, _ := w.Accounts.Account("sam"); !disabled {
		t.Error("sam is not disabled")
	}
}

// Nothing that the store keeps is the secret.
func TestAppPasswordSecretIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := w.as("sam").newApp("phone")
	w.view(func(r store.Reader) error {
		all, err := r.Parties().Secrets(store.AppPassword)
		if len(all) != 1 || strings.Contains(fmt.Sprintf("%+v %s", all, all[0].SHA256[:]), secret) {
			t.Errorf("stored: %+v", all)
		}
		return err
	})
}

func TestAppPasswordsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	for i := range 100 {
		sam.newApp(fmt.Sprint(i))
	}
	_, err := sam.putApp("one more", `{}`)
	w.refused(err, errs.TooMany)
	_, err = sam.putApp("7", `{}`)
	w.refused(err, errs.NameTaken)
	w.as("ann").newApp("phone")
}

// running lets the engine run until the function that it returns is called,
// which waits for the end.
func (w *world) running() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Engine.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			w.Error(err)
		}
	}
}

// TestRevokedByAdministrator: with the new password that an administrator gives a user, app
// passwords and calendar links let in as before. The answer says so, and revoke ends them.
func TestRevokedByAdministrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, admin := w.as("sam"), w.as("admin")
	secret := sam.newApp("phone")
	const reset = `{"password": "a new one for sam, 2718"}`
	out := admin.mustPutParty(identity.User, "sam", reset)
	same(t, "the answer", strings.TrimSpace(string(out.Report)), `{"warnings":["password: app passwords (1) and calendar links (0) of sam still let in; {\"revoke\": true} ends them."]}`)
	if _, ok := w.Accounts.UseAppPassword(sam.by().ID, secret); !ok {
		t.Error("the app password has ended")
	}
	out = admin.mustPutParty(identity.User, "sam", `{"revoke": true, `+reset[1:])
	same(t, "the answer without any", string(out.Report), "")
	if _, ok := w.Accounts.UseAppPassword(sam.by().ID, secret); ok {
		t.Error("the app password still lets in")
	}
	rows := w.audited("2012-11-09")
	if !slices.Contains(rows, "admin app-password-revoke sam/phone done: null") {
		t.Errorf("the audit log has %q", rows)
	}
	same(t, "a reset without any left", string(admin.mustPutParty(identity.User, "sam", reset).Report), "")
}

// TestLastUse: the first use is written soon, others of the same hour cost
// nothing, and what waits at the end is written then.
func TestLastUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	secret := sam.newApp("phone")
	use := func() string {
		t.Helper()
		stop := w.running()
		for range 10 {
			if _, ok := w.Accounts.UseAppPassword(sam.id(), secret); !ok {
				t.Fatal("it is none")
			}
		}
		stop()
		res := try(w.Accounts.Secret(t.Context(), sam.by(), store.AppPassword, "phone")).must(w, "GET of an app password")
		return unquote(sam.form(res.Form).get("lastUsed")) + " " + res.FormETag
	}
	before := try(w.Accounts.Secret(t.Context(), sam.by(), store.AppPassword, "phone")).must(w, "GET of an app password")
	first := use()
	same(t, "the first use", strings.Fields(first)[0], "2012-11-09T12:34:56Z")
	if first == before.FormETag || !strings.HasPrefix(strings.Fields(first)[1], before.Definition) {
		t.Errorf("ETag %s after %s, definition %s", first, before.FormETag, before.Definition)
	}
	commits := w.db.Stats().Units
	w.advance(59 * time.Minute)
	unwritten := w.db.Stats().Units - commits // of the clock
	same(t, "within the hour", use(), first)
	same(t, "units within the hour", w.db.Stats().Units-commits, unwritten)
	w.advance(time.Minute)
	same(t, "an hour later", strings.Fields(use())[0], "2012-11-09T13:34:56Z")
	w.reopen()
	res := try(w.Accounts.Secret(t.Context(), sam.by(), store.AppPassword, "phone")).must(w, "GET of an app password")
	sam.form(res.Form).wants("lastUsed", `"2012-11-09T13:34:56Z"`)
}

// What becomes the header of a mail one day is no more than a line, whoever
// writes it.
func TestTextsOfUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	_, err := admin.putParty(identity.User, "sam", `{"fullName": "Sam\nBcc: ann", "email": "nobody"}`)
	w.refused(err, errs.Invalid, "/fullName format", "/email format")
	_, err = admin.putParty(identity.User, "sam", `{"password": "a\u0007b"}`)
	w.refused(err, errs.Invalid, "/password range")
	admin.mustPutParty(identity.User, "sam", `{"fullName": "Sam Österberg", "email": "sam+x@example.org"}`)
}

// TestAppPasswordsHaveBounds: an app password says for what it is and until when, and
// logs nobody in after that.
func TestAppPasswordsHaveBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	out := try(sam.putApp("scanner", `{"scope": "Documents/core/", "expires": "2012-11-10T12:34:56+01:00"}`)).must(w, "PUT of an app password")
	same(t, "the form", string(out.Form), indented(`{"label":"scanner","created":"2012-11-09T12:34:56Z","lastUsed":null,"scope":"/dav/Documents/core","expires":"2012-11-10T11:34:56Z"}`))
	var made struct{ Secret string }
	if err := json.Unmarshal(out.Once, &made); err != nil {
		t.Fatal(err)
	}
	uses := func(want bool) {
		t.Helper()
		one, got := w.Accounts.UseAppPassword(sam.id(), made.Secret)
		owner, of := w.Accounts.AppPasswordOwner(made.Secret)
		if got != want || (owner == sam.id()) != want || want && (one.Scope != "/dav/Documents/core" || of != one) {
			t.Errorf("it logs in: %t %v, as a token %d %v; want %t", got, one, owner, of, want)
		}
	}
	uses(true)
	w.advance(23*time.Hour - time.Second)
	uses(true)
	w.advance(time.Second)
	uses(false)
}

// TestOwnerIsToldOfTheEndOfAnAppPassword: a week and a day before, once each, however long
// the server was down; not if it is revoked, or its owner has left or wants no mails.
func TestOwnerIsToldOfTheEndOfAnAppPassword(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	const day = 24 * time.Hour
	now := w.clock.Now() // the 9th, 12:34:56
	put := func(user, label string, lasts time.Duration) {
		t.Helper()
		try(w.as(user).putApp(label, fmt.Sprintf(`{"expires": %q}`, now.Add(lasts).Format(time.RFC3339)))).must(w, "PUT of "+label)
	}
	put("bob", "scanner", 10*day)
	put("bob", "week", 7*day)
	put("bob", "today", day)
	put("bob", "revoked", 9*day)
	if err := w.as("bob").deleteApp("revoked"); err != nil {
		t.Fatal(err)
	}
	put("ann", "laptop", 10*day)
	w.as("ann").mustPutMe(`{"timezone": "Europe/Berlin", "mail": {"kinds": ["task"]}}`)
	put("sam", "left", 10*day)
	w.as("admin").mustPutParty(identity.User, "sam", `{"disabled": true}`)
	w.advance(3 * day)
	const week, scanner = "Ends 2012-11-16 12:34 UTC: the app password week", "Ends 2012-11-19 12:34 UTC: the app password scanner"
	same(t, "a week before", w.sentTo("bob@example.org"), []string{"12 12:34 " + scanner})
	w.reopen()
	w.advance(12 * day)
	same(t, "a day before, and never again", w.sentTo("bob@example.org"), []string{"12 12:34 " + scanner, "15 12:34 " + week, "18 12:34 " + scanner})
	same(t, "ann, who wants mails of tasks alone", w.sentTo("ann@example.org"), []string(nil))
	same(t, "sam, who has left", w.sentTo("sam@example.org"), []string(nil))
}

// TestDeputyIsTold: who is to stand in for another learns of it by mail, and that it has ended
// before its time; not again of the same, and not of what they have done themselves.
func TestDeputyIsTold(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	ann := w.as("ann")
	ann.mustPutMe(`{"fullName": "Ann Lee", "deputy": {"user": "bob", "to": "2012-11-20T00:00:00Z"}}`)
	ann.mustPutMe(`{"deputy": {"user": "bob", "to": "2012-11-20T00:00:00Z"}}`)
	ann.mustPutMe(`{"timezone": "Europe/Berlin"}`)
	made := []string{"09 12:34 You stand in for Ann Lee"}
	same(t, "bob", w.sentTo("bob@example.org"), made)
	w.advance(time.Hour)
	w.as("admin").mustPutParty(identity.User, "ann", `{"deputy": {"user": "sam", "to": "2012-11-20T00:00:00Z"}}`)
	same(t, "bob, after another was made", w.sentTo("bob@example.org"), append(made, "09 13:34 You do not stand in for Ann Lee any more"))
	same(t, "sam", w.sentTo("sam@example.org"), []string{"09 13:34 You stand in for Ann Lee"})
	for _, doc := range []string{
		`{"deputy": {"user": "sam", "from": "2012-11-15", "to": "2012-11-20"}}`, // begins later
		`{"deputy": {"user": "sam", "from": "2012-11-15", "to": "2012-11-21"}}`, // ends later
		`{"deputy": {"user": "sam", "from": "2012-11-09", "to": "2012-11-21"}}`, // has begun
		`{"deputy": {"user": "sam", "from": "2012-11-09", "to": "2012-11-21"}}`, // the same
	} {
		w.advance(time.Hour)
		w.as("admin").mustPutParty(identity.User, "ann", doc)
	}
	told := []string{"09 13:34 You stand in for Ann Lee", "09 14:34 You stand in for Ann Lee", "09 15:34 You stand in for Ann Lee", "09 16:34 You stand in for Ann Lee"}
	same(t, "sam, whose time was changed three times", w.sentTo("sam@example.org"), told)
	w.advance(20 * 24 * time.Hour)
	ann.mustPutMe(`{"deputy": null}`)
	same(t, "sam, whose time was over", w.sentTo("sam@example.org"), told)
}

// TestEndsThatWentBy: a server that was down tells of the last end alone, and nothing of what
// has ended meanwhile.
func TestEndsThatWentBy(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	at := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		lasts, after time.Duration
		want         time.Duration // from then on; 0: not any more
	}{
		{10 * day, 0, 3 * day},
		{10 * day, 3 * day, 9 * day},
		{10 * day, 5 * day, 9 * day},
		{10 * day, 9 * day, 0},
		{10 * day, 11 * day, 0},
		{7 * day, 0, 6 * day},
		{day, 0, 0},
		{day + time.Second, 0, time.Second},
	} {
		want := time.Time{}
		if test.want > 0 {
			want = at.Add(test.want)
		}
		if got := account.TellAt(at.Add(test.lasts), at.Add(test.after)); !got.Equal(want) {
			t.Errorf("one that lasts %s, after %s: told at %s, want %s", test.lasts, test.after, got, want)
		}
	}
	if got := account.TellAt(time.Time{}, at); !got.IsZero() {
		t.Errorf("one that does not end is told of at %s", got)
	}
}

// TestEndOfAppPassword: a date without a zone is the caller's, and the form of one that
// has expired makes one that lasts as long.
func TestEndOfAppPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) { cfg.Zones = new(clock.Zones).Zone }
	})
	sam, ann := w.as("sam"), w.as("ann")
	if _, err := sam.putMe(`{"timezone": "Europe/Berlin"}`); err != nil {
		t.Fatal(err)
	}
	ends := func(u user, label, doc, want string) []byte {
		t.Helper()
		out := try(u.putApp(label, doc)).must(w, "PUT of "+doc)
		var form struct{ Expires string }
		if err := json.Unmarshal(out.Form, &form); err != nil || form.Expires != want {
			t.Errorf("%s: ends at %s, %v; want %s", doc, form.Expires, err, want)
		}
		return out.Form
	}
	ends(sam, "a", `{"expires": "2012-12-24"}`, "2012-12-23T23:00:00Z")
	ends(sam, "b", `{"expires": "2012-12-24 18:00"}`, "2012-12-24T17:00:00Z")
	ends(ann, "a", `{"expires": "2012-12-24 18:00"}`, "2012-12-24T18:00:00Z")
	form := ends(sam, "c", `{"expires": "2012-11-10T12:34:56Z", "scope": "read"}`, "2012-11-10T12:34:56Z")
	ends(sam, "as it was", string(form), "2012-11-10T12:34:56Z")
	w.advance(30 * 24 * time.Hour)
	ends(sam, "renewed", string(form), "2012-12-10T12:34:56Z")
	_, err := sam.putApp("past", `{"expires": "2012-11-10T12:34:56Z", "created": "2012-11-11T12:34:56Z"}`)
	w.refused(err, errs.Invalid, "/expires range")
}
