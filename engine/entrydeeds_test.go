package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
)

// deedsWorld has an entry of ann that fires every hour from 13:34:56, and keeps the mails
// that it would send, by who got them.
func deedsWorld(t *testing.T) (w *world, letters func(address string) []*machine.Mail, entry string) {
	t.Helper()
	sent := map[string][]*machine.Mail{}
	w = newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Channels = engine.Channels{Mail: true}
			cfg.Letter = func(_ string, m *machine.Mail, to string, _ time.Time) ([]byte, error) {
				sent[to] = append(sent[to], m)
				return []byte(m.Subject), nil
			}
		}
	})
	w.as("admin").mustPutParty(identity.User, "admin", `{"email": "root@example.org", "fullName": "Root"}`)
	w.as("admin").mustPutRoute("desk", strings.Replace(routeTold, "notify: {remind: P2D}", "", 1))
	entry = w.as("ann").mustPutEntry("e.json", `{"type": "interval", "hours": 1, "route": "desk", "title": "Hourly", "misfire": "skip"}`).Name
	return w, func(address string) []*machine.Mail {
		got := sent[address]
		delete(sent, address)
		return got
	}, entry
}

// wantsMail wants exactly one mail, with that subject and these pieces of text.
func wantsMail(t *testing.T, what string, mails []*machine.Mail, subject string, pieces ...string) {
	t.Helper()
	var subjects []string
	for _, m := range mails {
		subjects = append(subjects, m.Subject)
	}
	same(t, what, subjects, []string{subject})
	if len(mails) == 0 {
		return
	}
	text := strings.Join(strings.Fields(mails[0].Text), " ")
	for _, piece := range pieces {
		if !strings.Contains(text, piece) {
			t.Errorf("%s: no %q in %s", what, piece, text)
		}
	}
}

// TestOwnerIsToldWhatOthersDoToAnEntry: who has an entry is told once that somebody else
// has paused, resumed or deleted it, by whom, and when it would have fired next. Who did it
// is not told, nor who does it to an entry of their own.
func TestOwnerIsToldWhatOthersDoToAnEntry(t *testing.T) {
	t.Parallel()
	w, letters, entry := deedsWorld(t)
	admin, ann := w.as("admin"), w.as("ann")
	ann.mustPutEntry("e.json", `{"do": "pause", "note": "I move it."}`)
	ann.mustPutEntry("e.json", `{"do": "resume"}`)
	same(t, "ann, of her own doing", len(letters("ann@example.org")), 0)

	admin.mustPutEntry(entry, `{"do": "pause", "note": "The disk is changed."}`)
	wantsMail(t, "ann, paused", letters("ann@example.org"), "Paused: Hourly",
		`The schedule entry "Hourly" was paused by Root, and starts no more cases. It would have fired next at 2012-11-09 13:34 UTC.`,
		"The disk is changed.", `Save {"do": "resume"} to it`, "because the schedule entry is yours")
	admin.mustPutEntry(entry, `{"do": "pause", "note": "It takes longer."}`)
	same(t, "ann, paused again", len(letters("ann@example.org")), 0)

	w.advance(10 * time.Minute)
	admin.mustPutEntry(entry, `{"do": "resume"}`)
	wantsMail(t, "ann, resumed", letters("ann@example.org"), "Resumed: Hourly", `was resumed by Root. It fires next at 2012-11-09 13:34 UTC.`)

	admin.mustPutEntry(entry, `{"type": "interval", "hours": 1, "route": "desk", "title": "Hourly", "paused": true}`)
	wantsMail(t, "ann, paused by a document", letters("ann@example.org"), "Paused: Hourly", "paused by Root")
	if err := admin.Schedules.DeleteEntry(t.Context(), admin.request(nil), admin.ref(entry)); err != nil {
		t.Fatal(err)
	}
	wantsMail(t, "ann, deleted", letters("ann@example.org"), "Deleted: Hourly", `was deleted by Root.`, "save it again to have the entry back")
	same(t, "who did it", len(letters("root@example.org")), 0)

	other := ann.mustPutEntry("o.json", `{"type": "interval", "hours": 1, "route": "desk", "title": "Other"}`).Name
	if err := admin.Schedules.DeleteEntry(t.Context(), admin.request(nil), admin.ref(other)); err != nil {
		t.Fatal(err)
	}
	wantsMail(t, "ann, deleted in force", letters("ann@example.org"), "Deleted: Other", "It would have fired next at 2012-11-09 13:44 UTC.")
}

// TestOwnersAreToldOfAHold: who has entries whose cases a hold keeps from starting is told
// so once, in one mail, and once that it is over; Status says it, too.
func TestOwnersAreToldOfAHold(t *testing.T) {
	t.Parallel()
	w, letters, _ := deedsWorld(t)
	admin, ann, bob := w.as("admin"), w.as("ann"), w.as("bob")
	ann.mustPutEntry("p.json", `{"type": "interval", "hours": 1, "route": "desk", "title": "Paused", "paused": true}`)
	ann.mustPutEntry("f.json", `{"type": "interval", "days": 1, "route": "desk", "title": "Daily"}`)
	bob.mustPutEntry("b.json", `{"type": "interval", "days": 1, "route": "desk", "title": "Bob's"}`)
	admin.mustPutRoute("till", "group: till\n"+strings.TrimPrefix(strings.Replace(routeTold, "notify: {remind: P2D}", "", 1), "\n"))
	bob.mustPutEntry("t.json", `{"type": "interval", "days": 1, "route": "till", "title": "Till"}`)

	admin.mustPutHold("h", `{"route": "desk", "reason": "The disk is full."}`)
	wantsMail(t, "ann", letters("ann@example.org"), "Held back: Hourly and another schedule entry",
		"The route desk is held back by Root: its cases are created and do not start. These schedule entries:", "The disk is full.",
		"Hourly: fires next at 2012-11-09 13:34 UTC Daily: fires next at 2012-11-10 12:34 UTC", "start when an administrator of the server ends this")
	wantsMail(t, "bob", letters("bob@example.org"), "Held back: Bob's", "Your schedule entry: The disk is full. Bob's: fires next at")
	text := string(try(w.Status.Entry(t.Context(), ann.by(), []engine.Ref{ann.ref("e.json")})).must(w, "its status").Text)
	if want := "The case does not start then. An administrator holds it back: The disk is full."; !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
		t.Errorf("its status: no %q in %s", want, text)
	}
	admin.mustPutHold("h", `{"route": "desk", "reason": "It is full still."}`)
	admin.mustPutHold("g", `{"group": "till"}`)
	same(t, "ann, of another reason and another hold", len(letters("ann@example.org")), 0)
	wantsMail(t, "bob, of a group", letters("bob@example.org"), "Held back: Till", "The group till is held back by Root")
	admin.mustPutHold("all", `{"engine": true}`)
	admin.mustDeleteHold("h")
	same(t, "ann, held all the same", len(letters("ann@example.org")), 0)
	admin.mustDeleteHold("all")
	wantsMail(t, "ann, released", letters("ann@example.org"), "No longer held back: Hourly and another schedule entry", "The whole server is no longer held back by Root. The cases that waited start now.")
	wantsMail(t, "bob, released", letters("bob@example.org"), "No longer held back: Bob's")
	same(t, "who did it", len(letters("root@example.org")), 0)

	for i := range 21 {
		ann.mustPutEntry(fmt.Sprintf("n%d.json", i), fmt.Sprintf(`{"type": "interval", "days": 1, "route": "desk", "title": "No. %d"}`, i))
	}
	admin.mustPutHold("h", `{"route": "desk"}`)
	wantsMail(t, "ann, of many", letters("ann@example.org"), "Held back: Hourly and 22 other schedule entries", "And 3 more.")
}
