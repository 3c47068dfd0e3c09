package engine_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
)

// pings returns the heartbeat addresses that were called since the last call, by the
// last part of their path.
func (k *inbox) pings() (called []string) {
	k.outside.mu.Lock()
	defer k.outside.mu.Unlock()
	for _, d := range k.outside.got[k.read:] {
		if d.HTTP != nil {
			called = append(called, d.HTTP.URL[strings.LastIndex(d.HTTP.URL, "/")+1:]+d.HTTP.URLSecret)
		}
	}
	k.read = len(k.outside.got)
	return called
}

// aboutBeats returns the lines that are about heartbeats.
func aboutBeats(lines []string) (out []string) {
	for _, line := range lines {
		if strings.Contains(line, ": Heartbeats ") {
			out = append(out, line)
		}
	}
	return out
}

// hourly is an entry that creates a case of the route "job" in each hour, and calls
// addresses.
func hourly(heartbeat string) string {
	date := clock.Real{}.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05")
	return `{"type": "interval", "hours": 1, "date": "` + date + `", "route": "job", "title": "Nightly", "heartbeat": ` + heartbeat + `}`
}

const allBeats = `{"done": "https://hc.example.org/ok", "started": "https://hc.example.org/start", "failed": "https://hc.example.org/fail"}`

// TestHeartbeat: the addresses of an entry are called as its cases start, are complete
// or fail, and nothing is called for other cases of the route.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	withInbox(t, strings.Replace(routeTrier, "%s", "", 1), func(k *inbox) {
		k.works(nil)
		sam := k.as("sam")
		sam.mustPutEntry("nightly.json", hourly(allBeats))
		k.wait(time.Hour + time.Minute)
		same(t, "a good case", k.pings(), []string{"start", "ok"})
		sam.startCase(`{"route": "job"}`)
		k.wait(time.Minute)
		same(t, "a case that nobody waits for", k.pings(), []string(nil))

		sam.mustPutEntry("nightly.json", hourly(`{"secret": "key"}`))
		sam.entry("nightly.json").wants("heartbeat", `{"done":{"secret":"key"},"started":null,"failed":null}`)
		k.wait(time.Hour + time.Minute)
		same(t, "an address that is a secret", k.pings(), []string{"key"})
	})
}

// TestHeartbeatOfAnEndedEntry: the last case of an entry is heard of, too.
func TestHeartbeatOfAnEndedEntry(t *testing.T) {
	t.Parallel()
	withInbox(t, routeAuto, func(k *inbox) {
		k.works(nil)
		date := clock.Real{}.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05")
		k.as("sam").mustPutEntry("once.json", `{"type": "simple", "date": "`+date+`", "route": "job", "heartbeat": "https://hc.example.org/once"}`)
		k.wait(time.Hour + time.Minute)
		same(t, "called", k.pings(), []string{"once"})
	})
}

// TestHeartbeatOfFailures: a case that fails, that is canceled, and that cannot be created
// calls the address for that.
func TestHeartbeatOfFailures(t *testing.T) {
	t.Parallel()
	withInbox(t, `
access: {start: [everyone], read: [everyone], admin: [dora]}
states: {running: {type: start}, done: {type: complete}}
actions:
  run: {title: Run, trigger: init, sideEffects: [{exec: {command: sort}}]}
  finish: {trigger: auto, in: [running], to: done}
`, func(k *inbox) {
		k.works(&outbox.Final{Reason: "disk full"})
		k.as("sam").mustPutEntry("nightly.json", hourly(`{"failed": "https://hc.example.org/fail"}`))
		k.outside.set(nil)
		k.wait(time.Hour + time.Minute)
		k.pings()
		k.as("dora").mustPutRoute("job", strings.Replace(routeAuto, "start: [everyone]", "start: [dora], admin: [dora]", 1))
		k.wait(time.Hour)
		same(t, "no case", k.pings(), []string{"fail"})
	})
}

// TestHeartbeatAway: an address that does not answer delays nothing. The newest sign of
// life takes the place of older ones, the log has one line of it, and administrators are
// told once, and once when it works again.
func TestHeartbeatAway(t *testing.T) {
	t.Parallel()
	withInbox(t, routeAuto, func(k *inbox) {
		k.as("admin").mustPutParty(identity.User, "admin", `{"email": "root@example.org"}`)
		k.works(errors.New("connection refused"))
		k.as("sam").mustPutEntry("nightly.json", hourly(allBeats))
		k.wait(time.Hour + 10*time.Minute)
		got, _ := k.news()
		const away = "root: Heartbeats do not arrive: the heartbeat address of a schedule entry, at hc.example.org"
		same(t, "told", aboutBeats(got), []string{away})
		for range 5 {
			k.wait(time.Hour)
		}
		got, _ = k.news()
		same(t, "told again", aboutBeats(got), []string(nil))
		same(t, "lines in the log", k.log.count("a destination fails"), 1)
		k.works(nil)
		k.wait(time.Hour)
		got, texts := k.news()
		const back = "root: Heartbeats arrive again: the heartbeat address of a schedule entry, at hc.example.org"
		same(t, "told that it works", aboutBeats(got), []string{back})
		if text := texts[back]; !strings.Contains(text, "takes heartbeats again") || strings.Contains(text, "/ok") {
			t.Error(text)
		}
	})
}

// TestHeartbeatRefused: what cannot be an address, or must not be called, is refused with
// its place.
func TestHeartbeatRefused(t *testing.T) {
	t.Parallel()
	outside := &outsideWorld{}
	w := newWorld(t, reaching(outside, nil))
	for doc, want := range map[string]string{
		`"http://169.254.169.254/"`:           "/heartbeat range",
		`{"failed": "https://intern/"}`:       "/heartbeat/failed range",
		`{"secret": "unknown"}`:               "/heartbeat not-found",
		`"ftp://hc.example.org/"`:             "/heartbeat format",
		`{"dnoe": "https://hc.example.org/"}`: "/heartbeat/dnoe unknown-field",
		`{}`:                                  "/heartbeat required",
		`7`:                                   "/heartbeat type",
		`{"done": {"secret": ""}}`:            "/heartbeat/done/secret format",
		`{"done": {}}`:                        "/heartbeat/done/secret required",
		`["https://hc.example.org/"]`:         "/heartbeat type",
		`{"secret": "key", "done": "https://x.example.org"}`: "/heartbeat/done unknown-field",
	} {
		_, err := w.as("sam").putEntry("nightly.json", nightly(`, "heartbeat": `+doc))
		if got := strings.Join(faultsOf(err), "\n"); got != want {
			t.Errorf("%s: got %q, want %q", doc, got, want)
		}
	}
}

// TestHeartbeatOfASandbox: nothing leaves a sandbox; what would be called is a message of
// the case.
func TestHeartbeatOfASandbox(t *testing.T) {
	t.Parallel()
	outside := &outsideWorld{}
	w := newWorld(t, reaching(outside, nil))
	w.as("sam").mustPutEntry("nightly.json", nightly(`, "heartbeat": `+allBeats))
	w.advanceTo(sunday)
	id, err := strconv.ParseInt(w.cases()[0].get("id"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := w.Cases.Messages(t.Context(), w.as("admin").by(), id)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, m := range messages {
		if moment := m.Label[strings.LastIndex(m.Label, "-")+1:]; strings.HasPrefix(m.Label, "Heartbeat-") {
			kept = append(kept, moment+" "+w.as("admin").content(id, m.Label))
		}
	}
	slices.Sort(kept)
	same(t, "kept", kept, []string{
		`done {"kind":"http","method":"POST","url":"https://hc.example.org/ok","headers":{},"body":null}`,
		`started {"kind":"http","method":"POST","url":"https://hc.example.org/start","headers":{},"body":null}`,
	})
	same(t, "sent", len(outside.seen()), 0)
}
