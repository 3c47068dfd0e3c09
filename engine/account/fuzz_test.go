package account

import (
	"testing"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// FuzzMe: whatever is PUT to me.json is refused with what is wrong with it,
// or leaves a user whose form can be PUT again and changes nothing.
func FuzzMe(f *testing.F) {
	for _, seed := range []string{
		`{"fullName": "Sam", "email": "sam@example.org"}`,
		`{"deputy": {"user": "ann", "from": "2012-11-10T00:00:00Z", "to": 1352851200}}`,
		`{"deputy": {"user": "ann", "from": "2012-11-10T00:00:00.5+01:00", "to": "9999-12-31T23:59:59.9"}}`,
		`{"deputy": "ann"}`,
		`{"password": "new", "oldPassword": "old"}`,
		`{"notify": false, "watch": ["desk", "DESK", "other"]}`,
		`{"timezone": "Europe/Berlin", "mail": {"kinds": ["task", "failure:now"], "digest": "07:30", "quiet": {"from": "20:00", "to": "07:00"}}}`,
		`{"timezone": null, "mail": {"kinds": [], "digest": null, "quiet": null}}`,
		`{"name": "SAM", "contexts": [], "deputy": null, "email": null}`,
	} {
		f.Add([]byte(seed))
	}
	now := time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC)
	parties := []store.Party{
		{Party: identity.Party{ID: 1, Name: identity.Everyone, Kind: identity.Team}},
		{Party: identity.Party{ID: 2, Name: "sam", Kind: identity.User}},
		{Party: identity.Party{ID: 3, Name: "ann", Kind: identity.User}},
	}
	known := Known{
		Route: func(route string) (string, bool) { return "desk", identity.Fold(route) == "desk" },
		Zone:  func(name string) bool { return name == "Europe/Berlin" },
		Kinds: []string{"task", "failure", "failure:now"},
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		node, err := document.ParseJSON(body)
		if err != nil {
			return
		}
		change, err := NewTable(parties, nil).ReadMe(2, node, "", now, known)
		if err != nil {
			if !errs.Is(err, errs.Invalid) {
				t.Fatalf("%s: %v", body, err)
			}
			return
		}
		p := change.Party
		if p.ID != 2 || p.Name != "sam" || p.Admin || p.Disabled || p.Password != "" || p.Deputy.User != "" && !p.Deputy.From.Before(p.Deputy.To) {
			t.Fatalf("%s made of sam %+v", body, p)
		}
		changed := NewTable([]store.Party{parties[0], p, parties[2]}, nil)
		form, err := document.ParseJSON(changed.Me(2, nil))
		if err != nil {
			t.Fatal(err)
		}
		again, err := changed.ReadMe(2, form, "", now, known)
		if err != nil || again.Changed {
			t.Fatalf("%s: the form %s, PUT again: %v, changed %v", body, changed.Me(2, nil), err, again != nil && again.Changed)
		}
	})
}
