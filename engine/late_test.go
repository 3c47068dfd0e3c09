package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/hook"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// late returns late.txt of a user.
func (u user) late() string {
	u.Helper()
	return string(try(u.Status.Page(u.Context(), u.by(), engine.StatusLate)).must(u.world, "late.txt").Text)
}

// wantLate wants that late.txt has a text for some users, and for no others.
func (w *world) wantLate(what, text string, users ...string) {
	w.Helper()
	has := map[string]bool{}
	for _, name := range users {
		has[name] = true
	}
	for _, name := range []string{"admin", "ann", "bob", "dora", "eve", "sam"} {
		if page := w.as(name).late(); strings.Contains(page, text) != has[name] {
			w.Errorf("%s: late.txt of %s; want that it has %q: %v\n%s", what, name, text, has[name], page)
		}
	}
}

// withDora is a world in which dora can administer a route; nobody can be told of
// anything if mail is false.
func withDora(t *testing.T, mail bool) *world {
	t.Helper()
	w := newWorld(t, func(w *world) {
		w.config = func(c *engine.Config) { c.Sandbox, c.Channels = false, engine.Channels{Mail: mail} }
	})
	w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	return w
}

// TestLateHasWhatTakesLongerThanUsual: whom it concerns finds a case that takes longer
// than usual in late.txt as long as it is open, also if nobody can be told of it.
func TestLateHasWhatTakesLongerThanUsual(t *testing.T) {
	t.Parallel()
	for _, mail := range []bool{true, false} {
		t.Run(fmt.Sprint(mail), func(t *testing.T) {
			t.Parallel()
			w := slowIn(withDora(t, mail))
			ids := w.caseIDs()
			text := fmt.Sprintf("case %d: Run      It takes longer than usual: the last 5 cases of its schedule entry that were completed took 2 min at most.", ids[len(ids)-1])
			w.advance(11 * time.Minute)
			w.wantLate("in time", text)
			w.advance(2 * time.Minute)
			w.wantLate("late", text, "ann", "dora", "admin")
			w.as("bob").mustPerform(ids[len(ids)-1], "finish")
			w.wantLate("ended", text)
		})
	}
}

// TestGivenUpIsNotLate: a case whose command has failed and was given up leaves late.txt and
// the count of the overview, and its file, the refusal to cancel it and that to resume it say
// the same. It stood there for ever, as failed, completed and ended.
func TestGivenUpIsNotLate(t *testing.T) {
	t.Parallel()
	withInbox(t, fmt.Sprintf(routeTrier, ""), func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		dora, sam := k.as("dora"), k.as("sam")
		id := sam.startCase(`{"route": "job", "title": "One"}`)
		k.wait(time.Second)
		about := fmt.Sprintf("case %d: One", id)
		_, err := dora.putCase(fmt.Sprint(id), `{"state": "canceled"}`)
		wantDetail(t, err, `The case has ended as failed, in the state "failed". What has failed in it can be tried again, by its state active, or given up, by {"do": "abort"} to run.3-1 in its folder Actions/. These actions can be performed: give-up.`)
		dora.mustPutCase(fmt.Sprint(id), `{"state": "active"}`)
		k.wait(time.Second)
		for _, who := range []string{"sam", "dora", "admin"} {
			wantsLines(t, k.as(who).statusPage(engine.StatusLate), about, "the command of “run”, waits for the administrators of the route")
		}
		wantsLines(t, sam.statusPage(engine.StatusOverview), "failed                      1")
		name := strings.TrimPrefix(dora.work(engine.WorklistEscalated, engine.Filter{}), fmt.Sprintf("%d.", id))
		dora.mustDo(id, name, "abort")
		k.wait(time.Second)
		for _, who := range []string{"sam", "dora", "admin"} {
			page := k.as(who).statusPage(engine.StatusLate)
			wantsLines(t, page, "The server could do everything.", "No case has failed.")
			if strings.Contains(page, about) {
				t.Errorf("what is late for %s: %s", who, page)
			}
		}
		wantsLines(t, sam.statusPage(engine.StatusOverview), "failed                      0")
		page := try(sam.statusCase(id)).must(k.world, "its file")
		wantsLines(t, page, "On error of run: disk full, 2000-01-01 00:00 UTC; given up by dora, 2000-01-01 00:00 UTC")
		for _, state := range []string{"canceled", "active"} {
			_, err := dora.putCase(fmt.Sprint(id), fmt.Sprintf(`{"state": %q}`, state))
			k.refused(err, errs.CaseNotOpen)
			wantDetail(t, err, `The case has ended as failed, in the state "failed". What had failed was given up by dora: there is nothing left to try again or to cancel. These actions can be performed: give-up.`)
		}
	})
}

// wantDetail wants an error that says so.
func wantDetail(t *testing.T, err error, want string) {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) {
		t.Errorf("the error is %v, want %s", err, want)
		return
	}
	same(t, "what the error says", e.Detail, want)
}

// TestLateHasEntries: who may see a schedule entry, or administers its route, finds in
// late.txt that it could not create its case, until it can or is paused.
func TestLateHasEntries(t *testing.T) {
	t.Parallel()
	for _, mail := range []bool{true, false} {
		t.Run(fmt.Sprint(mail), func(t *testing.T) {
			t.Parallel()
			w := withDora(t, mail)
			const open, closed = "context: dora\naccess: {start: [everyone]}\n", "context: dora\naccess: {start: [dora]}\n"
			const rest = "states: {open: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, end: {in: [open], trigger: auto, to: done}}\n"
			w.as("admin").mustPutRoute("gate", open+rest)
			w.as("ann").mustPutEntry("gate.json", `{"type": "crontab", "spec": "0 * * * *", "route": "gate", "title": "Every hour"}`)
			text := func(name string) string { return "schedule entry " + name + ": Every hour   " }
			w.advance(time.Hour)
			w.wantLate("works", "schedule entry")
			w.as("admin").mustPutRoute("gate", closed+rest)
			w.advance(time.Hour)
			w.wantLate("fails, for its author", text("gate"), "ann")
			w.wantLate("fails, for others", text("gate@ann"), "dora", "admin")
			w.as("ann").mustPutEntry("gate.json", `{"do": "pause"}`)
			w.wantLate("paused", "schedule entry")
			w.as("ann").mustPutEntry("gate.json", `{"do": "resume"}`)
			w.wantLate("resumed", text("gate"), "ann")
			w.as("admin").mustPutRoute("gate", open+rest)
			w.advance(time.Hour)
			w.wantLate("mended", "schedule entry")
		})
	}
}

// TestLateHasHooks: who administers a route finds in late.txt that its hook refuses
// requests by its own fault, also if nobody can be told of it.
func TestLateHasHooks(t *testing.T) {
	t.Parallel()
	for _, mail := range []bool{true, false} {
		t.Run(fmt.Sprint(mail), func(t *testing.T) {
			t.Parallel()
			w := withDora(t, mail)
			w.as("admin").mustPutRoute("in", "context: dora\naccess: {admin: [bob], start: [everyone]}\nstates: {open: {type: start}}\nactions: {begin: {trigger: init}}\n")
			url := w.form(try(w.Hooks.PutHook(t.Context(), w.as("bob").request(nil), "in", "box", []byte("{}"))).must(w, "the hook").Once).get("url")
			token := strings.Trim(url[strings.LastIndexByte(url, '/')+1:], `"`)
			receive := func() error {
				_, err := w.Hooks.Receive(t.Context(), hook.Request{Token: token, Header: http.Header{"Content-Type": {"application/json"}}, Body: strings.NewReader("{}"), Length: 2, Wall: w.clock.Now()})
				return err
			}
			if err := receive(); err != nil {
				t.Fatal(err)
			}
			w.wantLate("works", "hook in/box")
			w.as("admin").mustPutParty(identity.User, "bob", `{"disabled": true}`)
			if err := receive(); err == nil {
				t.Fatal("the hook of somebody who has left takes a request")
			}
			w.wantLate("fails", "hook in/box   its author has left", "dora", "admin")
			try(w.Hooks.PutHook(t.Context(), w.as("dora").request(nil), "in", "box", []byte("{}"))).must(w, "the hook again")
			w.wantLate("mended", "hook in/box")
		})
	}
}

// TestLateHasTheServer: administrators of the server find in late.txt what is wrong with
// it and with the ways by which people are told.
func TestLateHasTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		room.answer = room.deliver
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) {
				c.Outside = room
				c.Channels = engine.Channels{Mail: true, Destinations: []notice.Destination{{ID: "slack-1", Name: "slack at hooks.slack.com"}}}
			}
		})
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
		w.as("admin").mustPutRoute("desk", routeTold)
		happens := func() {
			w.clock.Set(clock.Real{}.Now())
			w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
			await(time.Second)
			w.clock.Set(clock.Real{}.Now())
		}
		w.wantLate("at first", "Outside of cases")
		room.set("slack-1", errors.New("answered 503"))
		happens()
		w.wantLate("what may pass by itself", "Outside of cases")
		room.set("slack-1", &outbox.Final{Reason: "answered 404"})
		room.set("bob@example.org", &outbox.Final{Reason: "550 no such mailbox"})
		happens()
		w.wantLate("a destination", "slack at hooks.slack.com             answered 404", "admin")
		w.wantLate("a mailbox", "the mailbox bob@example.org of bob   550 no such mailbox", "admin")
		room.set("slack-1", nil)
		room.set("bob@example.org", nil)
		happens()
		w.wantLate("both are mended", "Outside of cases")
		for _, text := range []string{"the disk is full", ""} {
			if err := w.Server.Note(t.Context(), engine.ServerBackup, text); err != nil {
				t.Fatal(err)
			}
			if text != "" {
				w.wantLate("the server", "the automatic backup   the disk is full", "admin")
			}
		}
		w.wantLate("the server is mended", "Outside of cases")
	})
}
