package engine_test

import (
	"testing"
	"time"

	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
)

// TestHoldsAreNotForgotten: who starts a case that is held back is told so once; they, those
// who have entries, and the administrators of the server are told of it daily until it is
// over, and once then. late.txt has it (docs/contract/routes.md#cases-that-are-held-back).
func TestHoldsAreNotForgotten(t *testing.T) {
	t.Parallel()
	w, letters, _ := deedsWorld(t)
	admin, ann, sam, eve := w.as("admin"), w.as("ann"), w.as("sam"), w.as("eve")
	admin.mustPutParty(identity.User, "eve", `{"email": "eve@example.org", "admin": true}`)
	admin.mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	subjects := func(address string) (out []string) {
		for _, m := range letters(address) {
			out = append(out, m.Subject)
		}
		return out
	}
	admin.mustPutHold("h", `{"route": "desk", "reason": "The disk is full."}`)
	letters("ann@example.org")
	sam.startCase(`{"route": "desk", "title": "A lamp"}`)
	wantsMail(t, "the starter", letters("sam@example.org"), "Held back: A lamp", "A lamp, does not start yet:",
		"An administrator holds it back: The disk is full", "It starts when an administrator of the server ends that", "because you started the case")
	sam.startCase(`{"route": "desk", "title": "Another lamp"}`)
	same(t, "the starter, of another", subjects("sam@example.org"), []string(nil))
	ann.startCase(`{"route": "desk", "title": "A desk"}`)
	same(t, "who knows by her entry", subjects("ann@example.org"), []string(nil))
	w.wantLate("while it is there", "It is held back, and cases do not start: The disk is full.", "ann", "sam")
	w.wantLate("an administrator finds whose it is, and its file", "Admin/Holds/h.json, which admin has made, keeps cases from starting: The disk is full.", "admin", "eve")

	w.advance(24 * time.Hour)
	text := "The route desk has been held back by Root since 2012-11-09 12:34 UTC: its cases are created and do not start."
	wantsMail(t, "the starter, a day later", letters("sam@example.org"), "Still held back: the route desk", text, "Cases of yours that wait: 2", "An administrator of the server can end it.")
	wantsMail(t, "the owner, a day later", letters("ann@example.org"), "Still held back: the route desk", text, "Cases of yours that wait: 24", "Hourly: fires next at 2012-11-10 12:34 UTC")
	wantsMail(t, "an administrator, a day later", letters("eve@example.org"), "Still held back: the route desk", text, "Cases that wait: 26", "flowdrive rm /dav/Admin/Holds/h.json", "because you administer the server")
	same(t, "who made it, a day later", subjects("root@example.org"), []string{"Still held back: the route desk"})
	w.reopen()
	w.advance(24 * time.Hour)
	same(t, "and again", len(letters("sam@example.org")), 1)

	admin.mustPutHold("all", `{"engine": true, "reason": "We move."}`)
	for _, address := range []string{"ann", "sam", "eve", "root"} {
		letters(address + "@example.org")
	}
	admin.mustDeleteHold("h")
	same(t, "held by another", subjects("sam@example.org"), []string(nil))
	eve.mustDeleteHold("all")
	wantsMail(t, "the starter, at the end", letters("sam@example.org"), "No longer held back: the whole server", "The cases that waited start now.")
	same(t, "the owner, at the end", subjects("ann@example.org")[:1], []string{"No longer held back: Hourly"})
	same(t, "an administrator, at the end", subjects("root@example.org"), []string{"No longer held back: the whole server"})
	same(t, "who ended it", subjects("eve@example.org"), []string(nil))
	w.wantLate("afterwards", "held back")
	w.advance(48 * time.Hour)
	same(t, "nothing more", subjects("eve@example.org"), []string(nil))
}

// TestServicesAreToldOfHolds: services are told of a hold when it is made, daily, and when
// it is over.
func TestServicesAreToldOfHolds(t *testing.T) {
	t.Parallel()
	h := &notice.Hold{Name: "h", About: "the route desk", Route: "desk", Cases: 2}
	at := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		n    notice.Notice
		want string
	}{
		{notice.Notice{Kind: notice.KindAct, Hold: h, Deed: &notice.Deed{What: notice.DeedHeld, Actor: "root", By: "Root"}}, "hold.changed: Held back: the route desk"},
		{notice.Notice{Kind: notice.KindOverdue, Hold: h, Trouble: &notice.Trouble{What: notice.WhatHeld, Again: true, Since: at}}, "hold.overdue: Still held back: the route desk"},
		{notice.Notice{Kind: notice.KindMended, Hold: h, Trouble: &notice.Trouble{What: notice.WhatHeld, Since: at}}, "hold.mended: No longer held back: the route desk"},
	} {
		p := test.n.Payload()
		same(t, "told", p.Type+": "+p.Data.Text, test.want)
		same(t, "of the hold", *p.Data.Hold, notice.HoldData{Name: "h", Cases: 2})
		same(t, "where", p.Data.Href, "/dav/Admin/Holds/h.json")
	}
}
