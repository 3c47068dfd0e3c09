package account

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

func noon() time.Time { return time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC) }

func member(id identity.ID, kind identity.Kind, name identity.Name, more func(*store.Party)) store.Party {
	p := store.Party{Party: identity.Party{ID: id, Name: name, Kind: kind}, Revision: 1, Created: noon(), Modified: noon().Add(time.Duration(id) * time.Second)}
	if more != nil {
		more(&p)
	}
	return p
}

// sample is everyone, sam who administers, ann, who watches a route as eve
// does, and eve, who is disabled.
func sample() []store.Party {
	return []store.Party{
		member(1, identity.Team, identity.Everyone, nil),
		member(2, identity.User, "sam", func(p *store.Party) { p.Admin = true }),
		member(3, identity.User, "Ann", func(p *store.Party) { p.Watch, p.Email = []string{"Desk"}, "ann@example.org" }),
		member(4, identity.User, "eve", func(p *store.Party) { p.Watch, p.Admin, p.Disabled = []string{"desk"}, true, true }),
	}
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestTableKnowsItsPeople(t *testing.T) {
	t.Parallel()
	table := NewTable(sample(), nil)
	want(t, "people", string(table.People()), string(document.Indent([]byte(`{"users":[{"name":"sam","fullName":""},{"name":"Ann","fullName":""}],"teams":[{"name":"everyone"}]}`+"\n"))))
	if got := table.Watchers("DESK"); !slices.Equal(got, []string{"Ann"}) {
		t.Errorf("%q watch the route", got)
	}
	if table.ByName(identity.Team, "sam") != nil || table.ByName(identity.User, "ANN") != table.ByID(3) {
		t.Error("a party is found under another kind, or not under its folded name")
	}
	if !table.LastAdministrator(table.ByID(2)) || table.LastAdministrator(table.ByID(3)) || table.LastAdministrator(table.ByID(4)) || table.LastAdministrator(nil) {
		t.Error("sam, and nobody else, is the last administrator")
	}
	if got := table.Modified(); !got.Equal(noon().Add(4 * time.Second)) {
		t.Errorf("modified at %s", got)
	}
	quiet := *table.ByID(3)
	want(t, "where ann is told", quiet.MailTo(), "ann@example.org")
	quiet.Quiet = true
	want(t, "where ann is told who wants no mails", quiet.MailTo(), "")
}

func TestFormsAreReadOverWhatIsStored(t *testing.T) {
	t.Parallel()
	table := NewTable(sample(), nil)
	read := func(kind identity.Kind, name, text string) (*Change, error) {
		node, err := document.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return table.Read(Document{kind, name, node, "hash", nil, nil}, func() identity.ID { return 9 }, noon())
	}
	for _, tt := range []struct {
		kind   identity.Kind
		name   string
		text   string
		form   string // "": refused, or nothing changed
		faults string
	}{
		{identity.User, "zooe", `{"disabled": true}`, "", "not-found"}, // a name that is wrong makes no user
		{identity.User, "zooe", `{"disabled": true, "fullName": "Zoe"}`, `{"name":"zooe","id":9,"fullName":"Zoe","email":"","admin":false,"disabled":true,"deputy":null,"created":"2012-11-09T12:34:56Z","modified":"0001-01-01T00:00:00Z"}`, ""},
		{identity.User, "zoe", `{"password": "x", "email": "z@example.org"}`, `{"name":"zoe","id":9,"fullName":"","email":"z@example.org","admin":false,"disabled":false,"deputy":null,"created":"2012-11-09T12:34:56Z","modified":"0001-01-01T00:00:00Z"}`, ""},
		{identity.Team, "ops", `{"members": ["ANN", "sam", "ann"]}`, `{"name":"ops","id":9,"members":["Ann","sam"],"admins":[],"created":"2012-11-09T12:34:56Z","modified":"0001-01-01T00:00:00Z"}`, ""},
		{identity.User, "sam", `{"name": "SAM", "id": 2, "admin": true}`, "", ""},
		{identity.User, "sam", `{"admin": false}`, "", "/admin conflict"},
		{identity.User, "sam", `{"id": 3, "deputy": {"user": "sam"}, "email": "nobody"}`, "", "/id read-only, /email format, /deputy/user conflict, /deputy/to required"},
		{identity.Team, "everyone", `{"members": ["sam", "bob"]}`, "", "/members/1 not-found, /members read-only"},
		{identity.User, "a b", `{}`, "", string(errs.NameNotAllowed)},
		{identity.Team, "ann", `{}`, "", string(errs.NameTaken)},
	} {
		c, err := read(tt.kind, tt.name, tt.text)
		var faults []string
		if told, ok := errors.AsType[*errs.Error](err); ok && len(told.Faults) == 0 {
			faults = append(faults, string(told.Kind))
		} else if ok {
			for _, f := range told.Faults {
				faults = append(faults, f.Pointer+" "+string(f.Code))
			}
		}
		want(t, tt.name+" "+tt.text, strings.Join(faults, ", "), tt.faults)
		if err != nil {
			continue
		}
		form := ""
		if c.Changed {
			form = strings.TrimSuffix(string(PartyForm(&c.Party)), "\n")
		}
		want(t, tt.name+" "+tt.text, form, string(document.Indent([]byte(tt.form))))
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	password, link := NewSecret(store.AppPassword), NewSecret(store.CalendarLink)
	held := map[store.SecretKind][]store.Secret{
		store.AppPassword: {{ID: 1, UserID: 3, Label: "Phone", SHA256: SecretSum(password), Created: noon()}},
		store.CalendarLink: {
			{ID: 1, UserID: 3, Label: "Phone", SHA256: SecretSum(link), Created: noon(), LastUsed: noon().Add(time.Minute)},
			{ID: 2, UserID: 4, Label: "Gone", SHA256: SecretSum(strings.Repeat("a", randomLength)), Created: noon()},
		},
	}
	table := NewTable(sample(), held)
	s := table.AppPassword(3, password)
	if s == nil || s.ID != 1 || table.Secret(store.AppPassword, 3, "phone") != s {
		t.Fatalf("the app password is %+v", s)
	}
	if table.AppPassword(2, password) != nil || table.AppPassword(3, link) != nil || table.AppPassword(3, "") != nil {
		t.Error("an app password of another user, or none at all, logs in")
	}
	if l := table.CalendarLink(link); l == nil || l.ID != 1 {
		t.Errorf("the calendar link is %+v", l)
	}
	if table.CalendarLink(password) != nil || table.CalendarLink(strings.Repeat("a", randomLength)) != nil {
		t.Error("an app password, or a link of who is disabled, is a calendar link")
	}
	now := noon().Add(24 * time.Hour)
	if !s.Use(now) || s.Use(now) {
		t.Error("the use is to be written once")
	}
	s.NotWritten()
	if !s.Use(now) {
		t.Error("a use that was not written is not written later")
	}
	s.Wrote(now)
	form, used := s.Form()
	want(t, "the form", string(form), string(document.Indent([]byte(`{"label":"Phone","created":"2012-11-09T12:34:56Z","lastUsed":"2012-11-10T12:34:56Z"}`+"\n"))))
	if !used.Equal(now) || s.Use(now.Add(notedEvery-time.Second)) || !s.Use(now.Add(notedEvery)) {
		t.Errorf("it was used at %s, and its uses are noted each %s", used, notedEvery)
	}
	form, once := new(Accounts).newForm(&s.Secret, store.AppPassword, "fd-x")
	want(t, "the form of a new one", string(form), string(document.Indent([]byte(`{"label":"Phone","created":"2012-11-09T12:34:56Z","lastUsed":null}`+"\n"))))
	want(t, "what is told once", string(once), string(document.Indent([]byte(`{"label":"Phone","created":"2012-11-09T12:34:56Z","lastUsed":null,"secret":"fd-x"}`+"\n"))))
	_, once = new(Accounts).newForm(&s.Secret, store.CalendarLink, "x")
	want(t, "what is told once of a link", string(once), string(document.Indent([]byte(`{"label":"Phone","created":"2012-11-09T12:34:56Z","lastUsed":null,"url":"/calendar/x.ics"}`+"\n"))))
	_, once = (&Accounts{links: "https://flow.example.org"}).newForm(&s.Secret, store.CalendarLink, "x")
	want(t, "what is told once where the server's address is known", string(once), string(document.Indent([]byte(`{"label":"Phone","created":"2012-11-09T12:34:56Z","lastUsed":null,"url":"https://flow.example.org/calendar/x.ics"}`+"\n"))))
}
