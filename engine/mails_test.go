package engine_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// mailsWorld is a world that sends mails, with the route of routeTold.
func mailsWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, func(w *world) {
		w.config = func(cfg *engine.Config) {
			cfg.Sandbox = false
			cfg.Channels = engine.Channels{Mail: true}
			cfg.Zones = new(clock.Zones).Zone
		}
	})
	w.as("admin").mustPutRoute("desk", strings.Replace(routeTold, "notify: {remind: P2D}", "", 1))
	return w
}

// outboxRows returns what is in a lane of the outbox, in the order in which it is sent:
// what is due, and what waits for it.
func (w *world) outboxRows(lane string) (rows []store.OutboxRow) {
	w.Helper()
	looked := errors.New("looked")
	err := w.db.Update(w.Context(), func(tx store.Tx) error {
		due, err := tx.Outbox().Due(lane, w.clock.Now().Add(1000*time.Hour), 1000)
		for ; err == nil && len(due) > 0; due = due[1:] {
			rows = append(rows, due[0])
			if err := tx.Write().Outbox().Delete(due[0].Key); err != nil {
				return err
			}
			next, err := tx.Outbox().First(outbox.PrefixOfNotice(due[0].Key))
			if err != nil {
				return err
			}
			if next != nil && next.Due.IsZero() {
				due = append(due, *next)
			}
		}
		return cmp.Or(err, looked)
	})
	if !errors.Is(err, looked) {
		w.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b store.OutboxRow) int { return cmp.Compare(a.ID, b.ID) })
	return rows
}

// sentTo returns the subjects of what is in the outbox for an address, in order,
// with the time from which on it is sent.
func (w *world) sentTo(address string) (out []string) {
	w.Helper()
	for _, row := range w.outboxRows(outbox.MailLane) {
		var request struct {
			Mail struct {
				To      []string
				Subject string
			}
		}
		if err := json.Unmarshal(row.Request, &request); err != nil {
			w.Fatal(err)
		}
		if request.Mail.To[0] == address {
			out = append(out, row.Created.UTC().Format("02 15:04 ")+request.Mail.Subject)
		}
	}
	return out
}

// TestMailWishes: a user has mails in a digest, and none in quiet hours. Nothing is
// sent twice, nor lost by a restart (docs/contract/drive.md#mejson).
func TestMailWishes(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	w.as("bob").mustPutMe(`{"timezone": "Europe/Berlin", "mail": {"digest": "07:30", "kinds": ["task", "failure:now"]}}`)
	w.as("ann").mustPutMe(`{"timezone": "America/New_York", "mail": {"quiet": {"from": "07:00", "to": "09:00"}}}`)
	start := func(title string) int64 {
		return w.as("sam").startCase(fmt.Sprintf(`{"route": "desk", "title": %q}`, title))
	}
	start("One") // at 12:34:56Z, 07:34 in New York
	w.advance(time.Hour)
	start("Two")
	same(t, "bob, before his hour", w.sentTo("bob@example.org"), []string(nil))
	same(t, "ann, in her quiet hours", w.sentTo("ann@example.org"), []string(nil))
	w.reopen()
	w.advance(24 * time.Hour)
	same(t, "bob", w.sentTo("bob@example.org"), []string{"10 06:30 2 notices: To do: Check it (Two)"})
	same(t, "ann", w.sentTo("ann@example.org"), []string{"09 14:00 Begun: One", "09 14:00 Begun: Two"})

	start("Three")
	w.as("bob").mustPutMe(`{"mail": {"kinds": ["outcome"], "digest": null}}`)
	w.advance(48 * time.Hour)
	same(t, "what was kept for bob is sent at its hour", w.sentTo("bob@example.org")[1:], []string{"11 06:30 1 notice: To do: Check it (Three)"})
	start("Four")
	same(t, "bob wants no tasks any more", len(w.sentTo("bob@example.org")), 2)

	w.as("ann").mustPutMe(`{"mail": null, "timezone": null}`)
	w.as("ann").mustPutMe(`{"mail": {"digest": "08:00"}}`)
	start("Five")
	w.as("admin").mustPutParty(identity.User, "ann", `{"disabled": true}`)
	before := len(w.sentTo("ann@example.org"))
	w.advance(48 * time.Hour)
	same(t, "who has left is sent nothing", len(w.sentTo("ann@example.org")), before)
}

// TestMailWishesAreChecked: every fault has its place.
func TestMailWishesAreChecked(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	_, err := w.as("bob").putMe(`{"timezone": "Berlin", "mail": {"kinds": ["tsk"], "digest": "7.30", "quiet": {"from": "20:00", "to": "20:00"}, "often": 1}}`)
	w.refused(err, "invalid", "/timezone format", "/mail/often unknown-field", "/mail/kinds/0 format", "/mail/digest format", "/mail/quiet format")
	_, err = w.as("bob").putMe(`{"mail": {"quiet": {"from": "25:00"}}}`)
	w.refused(err, "invalid", "/mail/quiet/from format", "/mail/quiet/to required")
	w.as("bob").mustPutMe(`{"mail": {"kinds": ["task"], "quiet": {"from": "20:00", "to": "07:00"}}}`)
	w.as("bob").mustPutMe(`{"mail": {"digest": "07:30"}}`)
	same(t, "what is absent stays", w.as("bob").me().get("mail"), `{"kinds":["task"],"digest":"07:30","quiet":{"from":"20:00","to":"07:00"}}`)
	w.as("bob").mustPutMe(`{"mail": null}`)
	same(t, "null resets", w.as("bob").me().get("mail"), `{"kinds":null,"digest":null,"quiet":null}`)
}

// TestWatchingWithoutEffect: who watches a route whose cases they may not see is
// told so.
func TestWatchingWithoutEffect(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	out := w.as("eve").mustPutMe(`{"watch": ["desk"]}`)
	if !strings.Contains(string(out.Report), `"warnings":["watch: of the cases of \"desk\" you may see only those`) {
		t.Errorf("eve is told %s", out.Report)
	}
	if text := w.as("eve").me().get("warnings"); !strings.Contains(text, "desk") {
		t.Errorf("warnings of eve: %s", text)
	}
	if out := w.as("admin").mustPutMe(`{"watch": ["desk"]}`); out.Report != nil {
		t.Errorf("admin is told %s", out.Report)
	}
}

// TestMailToAddressOfXattr: an e-mail address that an XATTR has may be a recipient, as one that
// the route names, and is one if no user is called so. That such a mail has nobody to go to is told
// after the failure that it was about, with what its subject stands for.
func TestMailToAddressOfXattr(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mailto string
		ops    []string
		sam    string
	}{
		{"ops@example.org", []string{"ops@example.org"}, "Failed: Rates"},
		{"ops@example.org, more@example.org", []string{"ops@example.org", "more@example.org"}, "Failed: Rates"},
		{"root", nil, "2 things are wrong: Failed: Rates: The route is at fault"},
	} {
		w := mailsWorld(t)
		w.as("admin").mustPutParty(identity.User, "sam", `{"email": "sam@example.org", "password": "sam sam sam sam"}`)
		w.as("admin").mustPutRoute("job", `
title: Job
access: {start: [everyone]}
xattrs: {mailto: {title: Whom it tells}}
states: {open: {type: start}, done: {type: complete}, failed: {type: failed}}
actions:
  begin: {trigger: init}
  run:
    trigger: auto
    in: [open]
    to: done
    onFire: [{jq: {from: InputMessage, filter: .x, to: Rows}}]
    onError: {steps: [{mail: {to: ["xattr:mailto"], subject: "Broken: $__TITLE__;"}}], to: failed}
`)
		w.as("sam").startCase(fmt.Sprintf(`{"route": "job", "title": "Rates", "xattrDict": {"mailto": %q}}`, test.mailto))
		w.advance(time.Minute)
		var ops []string
		var told string
		for _, row := range w.outboxRows(outbox.MailLane) {
			var request machine.Request
			if err := json.Unmarshal(row.Request, &request); err != nil {
				t.Fatal(err)
			}
			if m := request.Mail; m.Subject == "Broken: Rates" {
				ops = append(ops, m.To...)
			} else {
				told = m.Subject + "\n" + m.Text
			}
		}
		if !slices.Equal(ops, test.ops) {
			t.Errorf("%s: the mail of the route goes to %q, want %q", test.mailto, ops, test.ops)
		}
		if !strings.HasPrefix(told, test.sam) {
			t.Errorf("%s: the starter is told\n%s", test.mailto, told)
		}
		if test.ops == nil && !strings.Contains(told, `the mail "Broken: Rates" of run has nobody to go to: no user or team is called root`) {
			t.Errorf("%s: the starter is told\n%s", test.mailto, told)
		}
	}
}

// TestOnlyFailedOutcomes: by notify: {outcome: failed} nobody is told of a case that has ended well,
// except who watches the route.
func TestOnlyFailedOutcomes(t *testing.T) {
	t.Parallel()
	w := mailsWorld(t)
	admin := w.as("admin")
	admin.mustPutParty(identity.User, "sam", `{"email": "sam@example.org", "password": "sam sam sam sam"}`)
	admin.mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
	admin.mustPutRoute("job", `
title: Job
access: {start: [everyone], read: [everyone], admin: [dora]}
notify: {outcome: failed}
xattrs: {fails: {type: boolean}}
states: {open: {type: start}, done: {type: complete}, failed: {type: failed}}
actions:
  begin: {trigger: init}
  break: {trigger: auto, in: [open], to: failed, guard: xattr.fails == true}
  finish: {trigger: auto, in: [open], to: done, guard: xattr.fails != true}
`)
	w.as("dora").mustPutMe(`{"watch": ["job"]}`)
	for _, fails := range []string{"false", "true"} {
		w.as("sam").startCase(`{"route": "job", "title": "Fails ` + fails + `", "xattrDict": {"fails": ` + fails + `}}`)
		w.advance(time.Minute)
	}
	for name, want := range map[string]string{"sam": "Fails true", "dora": "Fails false, Fails true"} {
		var told []string
		for _, subject := range w.sentTo(name + "@example.org") {
			told = append(told, subject[strings.Index(subject, "Fails"):])
		}
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("%s is told of %q, want %q", name, got, want)
		}
	}
}
