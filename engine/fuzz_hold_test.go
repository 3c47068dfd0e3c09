package engine

import (
	"bytes"
	"testing"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/account"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// FuzzHold: whatever is PUT to a hold is refused with what is wrong with it,
// or makes a hold about one thing, whose form can be PUT again.
func FuzzHold(f *testing.F) {
	for _, seed := range []string{
		`{"route": "BUG", "reason": "two\nlines"}`,
		`{"group": "g-1", "engine": false, "route": null}`,
		`{"engine": true, "name": "H", "author": 5, "created": "x", "modified": []}`,
	} {
		f.Add([]byte(seed))
	}
	e := New(Config{Clock: clock.Real{}})
	e.rights.SetRoutes([]*access.Route{{ID: 7, Name: "bug"}})
	parties := account.NewTable([]store.Party{{Party: identity.Party{ID: 2, Name: "sam", Kind: identity.User, Admin: true}}}, nil)
	req := Request{By: parties.Directory().Principal(2), Now: time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC)}
	f.Fuzz(func(t *testing.T, body []byte) {
		node, err := document.ParseJSON(body)
		if err != nil {
			return
		}
		h, err := e.Holds.readHold(req, nil, "h", node)
		if err != nil {
			if !errs.Is(err, errs.Invalid) {
				t.Fatalf("%s: %v", body, err)
			}
			return
		}
		about := 0
		for _, said := range []bool{h.Route == "bug", h.Group != "", h.Engine} {
			if said {
				about++
			}
		}
		if about != 1 || len(h.Reason) > mostReason || h.Name != "h" {
			t.Fatalf("%s made %+v", body, h)
		}
		h.Modified = req.Now
		form := holdResource(h).Form
		if node, err = document.ParseJSON(form); err != nil {
			t.Fatal(err)
		}
		again, err := e.Holds.readHold(req, h, "h", node)
		if err != nil {
			t.Fatalf("%s: the form %s, PUT again: %v", body, form, err)
		}
		again.Modified = h.Modified
		if !bytes.Equal(holdResource(again).Form, form) {
			t.Fatalf("%s: the form %s, PUT again, makes %s", body, form, holdResource(again).Form)
		}
	})
}
