package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
)

// mailRoom is an outside that keeps what was told to whom.
type mailRoom struct {
	outsideWorld
	down map[string]error // by address, destination, or "mail"
	told []string
}

func (m *mailRoom) deliver(_ context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var to, text string
	if d.News != nil {
		var p notice.Payload
		if err := json.Unmarshal(d.News.Body, &p); err != nil {
			return nil, err
		}
		to, text = d.News.Destination, p.Data.Text
	} else {
		if to, text = d.Mail.To[0], d.Mail.Subject; m.down["mail"] != nil {
			return nil, m.down["mail"]
		}
	}
	if err := m.down[to]; err != nil {
		return nil, err
	}
	m.told = append(m.told, to+": "+text)
	return nil, nil
}

// set makes an address fail; nil mends it.
func (m *mailRoom) set(to string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down[to] = err
}

// ofWays returns what was told of ways of telling people since it was last asked.
func (m *mailRoom) ofWays() (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range m.told {
		if strings.Contains(line, ": Notices ") {
			out = append(out, line)
		}
	}
	m.told = nil
	slices.Sort(out)
	return out
}

// TestServerEndsWhileANoticeIsSent: the notice is sent again, and nobody is told that it
// was not delivered.
func TestServerEndsWhileANoticeIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := make(chan struct{})
		room := &mailRoom{down: map[string]error{}}
		room.answer = func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
			<-hung
			return nil, errors.New("the machine is gone")
		}
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) { c.Outside, c.Channels = room, engine.Channels{Mail: true} }
		})
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
		w.as("admin").mustPutParty(identity.User, "bob", `{"email": "bob@example.org"}`)
		w.as("admin").mustPutRoute("desk", routeTold)
		w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
		await(time.Second)
		sent := len(room.seen())
		if sent == 0 {
			t.Fatal("nothing is under way")
		}
		room.mu.Lock()
		room.answer = room.deliver
		room.mu.Unlock()
		stopOther := reboot(t, w, room, engine.Channels{Mail: true})
		if len(room.told) < sent {
			t.Errorf("only %q arrived of %d", room.told, sent)
		}
		for _, line := range room.told {
			if strings.Contains(line, "not delivered") || strings.Contains(line, "Notices ") {
				t.Errorf("told %q", line)
			}
		}
		close(hung)
		stopOther()
		stop()
	})
}

// TestWaysOfTelling: administrators are told once of a destination, a mailbox or the
// mail server that does not take notices, by the others, and once when it does
// again.
func TestWaysOfTelling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		room.answer = room.deliver
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) {
				c.Outside = room
				c.Channels = engine.Channels{Mail: true, Destinations: []notice.Destination{
					{ID: "slack-1", Name: "slack at hooks.slack.com"}, {ID: "ntfy-2", Name: "ntfy at ntfy.sh", Least: notice.Serious},
				}}
			}
		})
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
		w.as("admin").mustPutRoute("desk", routeTold)
		start := func() []string {
			w.clock.Set(clock.Real{}.Now())
			w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
			await(time.Second)
			return room.ofWays()
		}
		all := func(text string, to ...string) (lines []string) {
			for _, each := range to {
				lines = append(lines, each+": Notices "+text)
			}
			return lines
		}
		const slack, box, server = "slack at hooks.slack.com", "the mailbox bob@example.org of bob", "the mail server"

		room.set("slack-1", &outbox.Final{Reason: "POST https://hooks.slack.com answered 404 Not Found"})
		same(t, "a destination fails for good", start(), all("do not arrive: "+slack, "ntfy-2", "root@example.org"))
		same(t, "it fails again", start(), []string(nil))
		room.set("slack-1", nil)
		same(t, "it is mended", start(), all("arrive again: "+slack+" (4 were given up)", "ntfy-2", "root@example.org", "slack-1"))
		same(t, "it works", start(), []string(nil))

		room.set("bob@example.org", &outbox.Final{Reason: "550"})
		same(t, "a mailbox fails", start(), all("do not arrive: "+box, "ntfy-2", "root@example.org", "slack-1"))
		same(t, "it fails again", start(), []string(nil))
		room.set("bob@example.org", nil)
		same(t, "it is mended", start(), all("arrive again: "+box+" (2 were given up)", "ntfy-2", "root@example.org", "slack-1"))

		// An address that nobody has any more cannot be mended.
		room.set("bob@example.org", &outbox.Final{Reason: "550"})
		same(t, "a mailbox fails again", start(), all("do not arrive: "+box, "ntfy-2", "root@example.org", "slack-1"))
		await(24 * time.Hour)
		same(t, "it fails for another day", start(), all("still do not arrive: "+box, "ntfy-2", "root@example.org", "slack-1"))
		w.clock.Set(clock.Real{}.Now())
		w.as("bob").mustPutMe(`{"email": "bob@example.com"}`)
		await(time.Second)
		same(t, "bob has another", room.ofWays(), all("are not sent any more: the mailbox bob@example.org", "ntfy-2", "root@example.org", "slack-1"))
		same(t, "bob is told there", start(), []string(nil))
		room.set("bob@example.org", nil)
		w.clock.Set(clock.Real{}.Now())
		w.as("bob").mustPutMe(`{"email": "bob@example.org"}`)

		// What may pass by itself is told within an hour, and not by mail if it is
		// the mail server.
		room.set("slack-1", errors.New("POST https://hooks.slack.com answered 503 Service Unavailable"))
		same(t, "a destination is overloaded", start(), []string(nil))
		await(20 * time.Minute)
		same(t, "for 20 minutes", room.ofWays(), []string(nil))
		await(40 * time.Minute)
		same(t, "for an hour", room.ofWays(), all("do not arrive: "+slack, "ntfy-2", "root@example.org"))
		room.set("slack-1", nil)
		await(2 * time.Hour)
		same(t, "it is mended", room.ofWays(), all("arrive again: "+slack, "ntfy-2", "root@example.org"))
		room.set("mail", errors.New("connection refused"))
		same(t, "the mail server fails", start(), []string(nil))
		await(20 * time.Minute)
		same(t, "for 20 minutes", room.ofWays(), []string(nil))
		await(40 * time.Minute)
		same(t, "for an hour", room.ofWays(), all("do not arrive: "+server, "ntfy-2", "slack-1"))
		await(3 * time.Hour)
		same(t, "for hours", room.ofWays(), []string(nil))
		room.set("mail", nil)
		await(2 * time.Hour)
		same(t, "it is mended", room.ofWays(), all("arrive again: "+server, "ntfy-2", "slack-1"))
	})
}

// TestNoticesInOrder: a destination and a mailbox that did not answer for a while learn
// first that something has failed, then that it is over, and of one end once
// (docs/contract/routes.md#what-a-service-is-told).
func TestNoticesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		working := false
		var told []string // to the destination: type, and what is over
		room.answer = func(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
			if d.Exec != nil {
				if !working {
					return nil, &outbox.Final{Reason: "disk full"}
				}
				return &outbox.Reply{MediaType: "application/json", Content: []byte(`{}`)}, nil
			}
			reply, err := room.deliver(ctx, d)
			if d.News != nil && err == nil {
				var p notice.Payload
				if err := json.Unmarshal(d.News.Body, &p); err != nil {
					return nil, err
				}
				line := d.News.Destination + " " + p.Type
				if p.Data.Trouble != nil {
					line += fmt.Sprintf(" %v %s", p.Data.Trouble.Ended, p.Data.Trouble.How)
				}
				for _, o := range p.Data.Over {
					line += fmt.Sprintf(" (%s %v %s)", o.Text, o.Ended, o.How)
				}
				told = append(told, line)
			}
			return reply, err
		}
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) {
				c.Outside = room
				c.Channels = engine.Channels{Mail: true, Destinations: []notice.Destination{
					{ID: "all", Name: "all at example.org"}, {ID: "serious", Name: "serious at example.org", Least: notice.Serious},
				}}
			}
		})
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutParty(identity.User, "dora", `{"email": "dora@example.org", "password": "dora dora dora"}`)
		w.as("admin").mustPutRoute("job", "context: dora\n"+strings.TrimPrefix(strings.Replace(fmt.Sprintf(routeTrier, ""), ", onError: {steps: [], to: failed}", "", 1), "\n"))
		for _, to := range []string{"all", "serious", "sam@example.org", "dora@example.org"} {
			room.set(to, errors.New("connection refused"))
		}
		id := w.as("sam").startCase(`{"route": "job", "title": "One"}`)
		await(30 * time.Minute)
		working = true
		w.clock.Set(clock.Real{}.Now())
		w.as("dora").mustDo(id, "run", "retry")
		await(time.Second)
		for _, to := range []string{"all", "serious", "sam@example.org", "dora@example.org"} {
			room.set(to, nil)
		}
		await(2 * time.Hour)
		of := func(lines []string, to string) (out []string) {
			for _, line := range lines {
				if strings.HasPrefix(line, to) {
					out = append(out, line)
				}
			}
			return out
		}
		same(t, "who wants all", of(told, "all"), []string{"all case.failed false ", "all case.completed (disk full true mended)"})
		same(t, "who wants failures", of(told, "serious"), []string{"serious case.failed false ", "serious case.mended true mended"})
		same(t, "sam", of(room.told, "sam"), []string{"sam@example.org: Failed: One: disk full", "sam@example.org: Done: One"})
		same(t, "dora", of(room.told, "dora"), []string{"dora@example.org: Failed: One: disk full", "dora@example.org: Mended: One"})
	})
}

// TestUndeliveredNoticesAreTold: who did not get mails, because the mail server was away for
// longer than they are tried, is told which when it is there again, once
// (docs/contract/routes.md#what-was-not-delivered).
func TestUndeliveredNoticesAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &mailRoom{down: map[string]error{}}
		var texts []string
		room.answer = func(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
			reply, err := room.deliver(ctx, d)
			if d.Mail != nil && err == nil && strings.Contains(d.Mail.Subject, "not delivered to you") {
				room.mu.Lock()
				defer room.mu.Unlock()
				texts = append(texts, strings.Join(strings.Fields(d.Mail.Text), " "))
			}
			return reply, err
		}
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) { c.Outside, c.Channels = room, engine.Channels{Mail: true} }
		})
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("desk", routeTold)
		told := func() (lines []string) {
			await(time.Minute)
			room.mu.Lock()
			defer room.mu.Unlock()
			for _, line := range room.told {
				if strings.Contains(line, "not delivered to you") {
					lines = append(lines, line)
				}
			}
			room.told = nil
			slices.Sort(lines)
			return lines
		}
		room.set("mail", errors.New("connection refused"))
		w.as("sam").startCase(`{"route": "desk", "title": "One"}`)
		await(time.Minute)
		w.clock.Set(clock.Real{}.Now())
		w.as("sam").startCase(`{"route": "desk", "title": "Two"}`)
		await(30 * time.Hour)
		same(t, "while it is away", told(), []string(nil))
		room.set("mail", nil)
		w.clock.Set(clock.Real{}.Now())
		w.as("sam").startCase(`{"route": "desk", "title": "Three"}`)
		await(2 * time.Hour)
		same(t, "when it is back", told(), []string{"ann@example.org: 2 notices were not delivered to you", "bob@example.org: 2 notices were not delivered to you"})
		slices.Sort(texts)
		for _, piece := range []string{"00:00 UTC: To do: Check it (One) 2000-01-01 00:01 UTC: To do: Check it (Two)", "What you have to do: /", "They are not sent again."} {
			if len(texts) != 2 || !strings.Contains(texts[1], piece) {
				t.Errorf("no %q in %q", piece, texts)
			}
		}
		w.clock.Set(clock.Real{}.Now())
		w.as("sam").startCase(`{"route": "desk", "title": "Four"}`)
		same(t, "once", told(), []string(nil))
	})
}
