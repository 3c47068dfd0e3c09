package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// replay returns the first answer to a key.
func (u user) replay(key, url, body string) (string, error) {
	answer, err := u.Replay(u.Context(), u.by(), *keyOf(key, url, body))
	return string(answer), err
}

func TestReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	if answer, err := sam.replay("k", "/", far); answer != "" || err != nil {
		t.Errorf("before: %q, %v", answer, err)
	}
	out := sam.mustPutEntry("", far, withKey("k", "/", far))
	w.reopen()
	sam = w.as("sam")
	answer, err := sam.replay("k", "/", far)
	same(t, "the first answer", fmt.Sprint(answer, err), out.Name+"<nil>")
	_, err = sam.replay("k", "/", "another body")
	w.refused(err, errs.IdempotencyMismatch)
	_, err = sam.replay("k", "/elsewhere", far)
	w.refused(err, errs.IdempotencyMismatch)
	_, err = sam.putEntry("", far, withKey("k", "/", far)) // who did not ask before
	w.refused(err, errs.NameTaken)
	same(t, "entries", len(w.entries()), 1)

	// Keys are each user's own.
	if answer, err := w.as("ann").replay("k", "/", far); answer != "" || err != nil {
		t.Errorf("ann's: %q, %v", answer, err)
	}
	w.as("ann").mustPutEntry("", far, withKey("k", "/", far))
	// What was refused has no answer.
	if _, err := sam.putEntry("", `{}`, withKey("bad", "/", "")); err == nil {
		t.Error("an empty document is accepted")
	}
	if answer, err := sam.replay("bad", "/", ""); answer != "" || err != nil {
		t.Errorf("after a refusal: %q, %v", answer, err)
	}
	// A day later the key is forgotten.
	w.advance(24 * time.Hour)
	if answer, _ := sam.replay("k", "/", far); answer != out.Name {
		t.Errorf("after a day: %q", answer)
	}
	w.advance(time.Second)
	if answer, err := sam.replay("k", "/", "whatever"); answer != "" || err != nil {
		t.Errorf("after more than a day: %q, %v", answer, err)
	}
	if again := sam.mustPutEntry("", far, withKey("k", "/", far)); !again.Created {
		t.Errorf("%+v", again)
	}
}

// Of requests with one key at once one is carried out; the others can have
// its answer.
func TestOneKeyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, admin := w.as("ann"), w.as("admin")
	id := w.as("sam").startCase(`{"route": "ask"}`)
	for _, test := range []struct {
		name  string
		who   user
		do    func(key option) (*engine.Outcome, error)
		count func() int // of what was made
	}{
		{"entry", ann, func(key option) (*engine.Outcome, error) { return ann.putEntry("", far, key) }, func() int { return len(w.entries()) }},
		{"named entry", ann, func(key option) (*engine.Outcome, error) { return ann.putEntry("e.json", far, key, ifNew()) }, func() int { return len(w.entries()) }},
		{"case", ann, func(key option) (*engine.Outcome, error) { return ann.putCase("", `{"route": "ask"}`, key) }, func() int { return len(w.cases()) }},
		{"performance", ann, func(key option) (*engine.Outcome, error) { return ann.perform(id, "answer", `{}`, key) }, func() int { return len(ann.logTexts(id)) }},
		{"label", ann, func(key option) (*engine.Outcome, error) { return ann.putLabel(id, "Note", "x", key) }, func() int { return len(ann.messages(id)) }},
		{"route", ann, func(key option) (*engine.Outcome, error) { return ann.putRoute("new", plainStates, key) }, func() int {
			return len(try(w.Routes.Routes(t.Context(), admin.by(), engine.Filter{})).must(w, "routes"))
		}},
		{"user", admin, func(key option) (*engine.Outcome, error) { return admin.putParty(identity.User, "lou", `{}`, key) }, func() int {
			return len(try(w.Accounts.Parties(t.Context(), admin.by(), identity.User)).must(w, "users"))
		}},
	} {
		before := test.count()
		const callers = 8
		outs := make([]*engine.Outcome, callers)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				var err error
				if outs[i], err = test.do(withKey(test.name, "/", "")); err != nil {
					outs[i] = nil
				}
			})
		}
		wg.Wait()
		won := ""
		for _, o := range outs {
			if o != nil && won != "" {
				t.Errorf("%s: two were carried out", test.name)
			}
			if o != nil {
				won = o.Name
			}
		}
		answer, err := test.who.replay(test.name, "/", "")
		if answer != won || won == "" || err != nil {
			t.Errorf("%s: the answer is %q, %v; want %q", test.name, answer, err, won)
		}
		same(t, test.name, test.count(), before+1)
	}
	same(t, "version of the label", ann.messages(id)[1], "Note 1")
}
