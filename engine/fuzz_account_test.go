package engine

import (
	"testing"
	"time"

	"flowdrive/document"
	"flowdrive/errs"
	"flowdrive/identity"
	"flowdrive/route"
)

// FuzzMe: whatever is PUT to me.json is refused with what is wrong with it,
// or leaves a user whose form can be PUT again and changes nothing.
func FuzzMe(f *testing.F) {
	for _, seed := range []string{
		`{"fullName": "Sam", "email": "sam@example.org"}`,
		`{"deputy": {"user": "ann", "from": "2012-11-10T00:00:00Z", "to": 1352851200}}`,
		`{"deputy": {"user": "ann", "from": "2012-11-10T00:00:00.5+01:00", "to": "9999-12-31T23:59:59.9"}}`,
		`{"password": "new", "oldPassword": "old"}`,
		`{"notify": false, "watch": ["desk", "DESK", "other"]}`,
		`{"name": "SAM", "contexts": [], "deputy": null, "email": null}`,
	} {
		f.Add([]byte(seed))
	}
	now := time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC)
	parties := []Party{
		{Party: identity.Party{ID: 1, Name: identity.Everyone, Kind: identity.Team}},
		{Party: identity.Party{ID: 2, Name: "sam", Kind: identity.User}},
		{Party: identity.Party{ID: 3, Name: "ann", Kind: identity.User}},
	}
	e := New(Config{})
	e.routes.Store((&routeTable{}).with(&routeInfo{ID: 7, Name: "desk", ContextID: 2, Compiled: &route.Route{}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		node, err := document.ParseJSON(body)
		if err != nil {
			return
		}
		table := newPartyTable(parties)
		req := Request{By: table.directory.Principal(2), Now: now}
		change, err := e.readMe(table, req, node, "")
		if err != nil {
			if !errs.Is(err, errs.Invalid) {
				t.Fatalf("%s: %v", body, err)
			}
			return
		}
		p := change.party
		if p.ID != 2 || p.Name != "sam" || p.Admin || p.Disabled || p.Password != "" || p.Deputy.User != "" && !p.Deputy.From.Before(p.Deputy.To) {
			t.Fatalf("%s made of sam %+v", body, p)
		}
		changed := newPartyTable([]Party{parties[0], p, parties[2]})
		form, err := document.ParseJSON(changed.me(2).Form)
		if err != nil {
			t.Fatal(err)
		}
		again, err := e.readMe(changed, req, form, "")
		if err != nil || again.changed {
			t.Fatalf("%s: the form %s, PUT again: %v, changed %v", body, changed.me(2).Form, err, again != nil && again.changed)
		}
	})
}
