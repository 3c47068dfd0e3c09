package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"flowdrive/internal/mailbox"
)

// attemptRoute does something outside when a case starts, and waits for its answer.
const attemptRoute = `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, heard: {type: complete, title: Heard}}
actions:
  begin: {trigger: init, past: Begun, sideEffects: [STEP]}
  hear: {trigger: message, message: Answer, in: [open], to: heard}
`

// attempts is a server that is killed between an attempt and its record, and what its
// command and its service have noticed of it.
type attempts struct {
	*testing.T
	folder string
	box    *mailbox.Server
	s      *service
	start  func() *program
	p      *program
	kills  atomic.Bool // the service kills the server at its next call
	mails  atomic.Bool // the mail server kills it when it has taken the next mail
	holds  chan struct{}
}

// newAttempts starts the server. Its command notes each run with its key in the file
// runs; it kills the server if there is a file armed, and waits while there is one
// called hold. All of them are in the folder of the test.
func newAttempts(t *testing.T, step string) *attempts {
	t.Helper()
	a := &attempts{T: t, folder: t.TempDir(), holds: make(chan struct{})}
	a.box = mailbox.Start(t, mailbox.Options{Took: func() {
		if a.mails.CompareAndSwap(true, false) {
			killAt(a.p, time.Now().Add(300*time.Millisecond)) // the case is acknowledged by then
		}
	}})
	a.s = startService(t, func(w http.ResponseWriter, _ string) {
		if a.kills.CompareAndSwap(true, false) {
			killAt(a.p, time.Now().Add(300*time.Millisecond)) // the case is acknowledged by then
		}
		<-a.holds
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, "{}")
	})
	script := fmt.Sprintf(`#!/bin/sh
cd %q
echo "$IDEMPOTENCY_KEY" >> runs
if rm armed 2> /dev/null; then sleep 0.3; kill -9 $PPID; fi
while [ -e hold ]; do sleep 0.05; done
echo '{}'
`, a.folder)
	a.write("job", script, 0o700)
	a.write("flowdrive.yaml", fmt.Sprintf("allow-host: %q\nsmtp: smtp://%s\nmail-from: Flowdrive <flow@example.org>\ncommands: {job: {path: %q}}\n",
		strings.TrimPrefix(a.s.URL, "http://"), a.box.Address, filepath.Join(a.folder, "job")), 0o600)
	a.start = func() *program {
		return startServe(t, childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(a.folder, "data"), "--log-level", "error", "--config", filepath.Join(a.folder, "flowdrive.yaml")))
	}
	a.p = a.start()
	a.p.must(t, http.StatusNoContent, http.MethodPut, "/dav/Admin/Users/admin.json", `{"email": "root@example.org"}`)
	step = strings.ReplaceAll(step, "SERVICE", a.s.URL)
	a.p.must(t, http.StatusCreated, http.MethodPut, "/dav/Workflow/Routes/attempt.yaml", strings.Replace(attemptRoute, "STEP", step, 1))
	return a
}

func (a *attempts) write(name, content string, mode os.FileMode) {
	a.Helper()
	if err := os.WriteFile(filepath.Join(a.folder, name), []byte(content), mode); err != nil {
		a.Fatal(err)
	}
}

// startCase returns the path of a new case.
func (a *attempts) startCase() string {
	a.Helper()
	return a.p.must(a.T, http.StatusCreated, http.MethodPut, casesFolder+"new.json", `{"route": "attempt"}`).header.Get("Location")
}

// runs returns the keys with which the command was run, or the service called.
func (a *attempts) runs() (keys []string) {
	a.Helper()
	for _, call := range a.s.seen() {
		keys = append(keys, call.header.Get("Idempotency-Key"))
	}
	content, err := os.ReadFile(filepath.Join(a.folder, "runs"))
	if err != nil && !os.IsNotExist(err) {
		a.Fatal(err)
	}
	return append(keys, strings.Fields(string(content))...)
}

// becomes waits until a case is in a state, and checks how many attempts were made in
// all, with how many keys.
func (a *attempts) becomes(at, state string, tries, keys int) {
	a.Helper()
	eventually(a.T, func() string {
		if c := get[struct{ State string }](a.T, a.p, at); c.State != state {
			return fmt.Sprintf("%s is %s", at, c.State)
		}
		return ""
	})
	runs := a.runs()
	if n := len(runs); n != tries {
		a.Errorf("%d attempts, not %d", n, tries)
	}
	slices.Sort(runs)
	if n := len(slices.Compact(runs)); n != keys {
		a.Errorf("%d keys, not %d", n, keys)
	}
}

// says checks what the log of a case has of what became of the attempts.
func (a *attempts) says(at, text string, times int) {
	a.Helper()
	log := string(a.p.must(a.T, http.StatusOK, http.MethodGet, strings.TrimSuffix(at, ".json")+"/log.txt", "").body)
	if n := strings.Count(log, text); n != times {
		a.Errorf("%d times %q in %s", n, text, log)
	}
}

// told checks the subjects of the mails that have been sent, of which a mail that was
// under way when the server was killed may be there twice.
func (a *attempts) told(want ...string) {
	a.Helper()
	var subjects []string
	eventually(a.T, func() string {
		subjects = nil
		for _, m := range a.box.Mails() {
			subjects = append(subjects, m.Subject)
		}
		slices.Sort(subjects)
		if subjects = slices.Compact(subjects); len(subjects) < len(want) {
			return fmt.Sprintf("only %q were sent", subjects)
		}
		return ""
	})
	if !slices.Equal(subjects, want) {
		a.Errorf("told %q, want %q", subjects, want)
	}
}

// again starts the server after it was killed.
func (a *attempts) again() {
	a.Helper()
	<-a.p.dead
	a.p = a.start()
}

const endedUnknown = "the server ended while it ran, or could not record its end; what became of it is not known"

// TestKilledDuringACommand kills the server after a command has done its work and
// before that is recorded. Nobody knows then what became of it: it is not run again,
// the case has failed, and people are told why; unless its step allows another run.
func TestKilledDuringACommand(t *testing.T) {
	t.Parallel()
	a := newAttempts(t, "{exec: {command: job, into: Answer}}")
	a.write("armed", "", 0o600)
	at := a.startCase()
	a.again()
	a.becomes(at, "failed", 1, 1)
	a.says(at, "Not delivered: exec: "+endedUnknown, 1)
	a.told("Failed: attempt: " + endedUnknown)
	a.p.must(t, http.StatusNoContent, http.MethodPut, strings.TrimSuffix(at, ".json")+"/Actions/begin.json", `{"do": "retry"}`)
	a.becomes(at, "completed", 2, 1) // somebody knows now that it may be run again

	b := newAttempts(t, "{exec: {command: job, into: Answer, retry: {times: 1, every: PT1S, on: [interrupted]}}}")
	b.write("armed", "", 0o600)
	at = b.startCase()
	b.again()
	b.becomes(at, "completed", 2, 1)
	b.says(at, "Attempt 1 failed: exec: "+endedUnknown, 1)
	b.told("Heard: attempt")
}

// TestKilledBeforeAndAfterAnAttempt kills the server when an attempt has not begun, and
// when its end is recorded: it is made once, and nobody is told of a failure.
func TestKilledBeforeAndAfterAnAttempt(t *testing.T) {
	t.Parallel()
	for step, lost := range map[string]string{
		"{exec: {command: job, into: Answer}}":     "failed",
		`{http: {url: "SERVICE/x", into: Answer}}`: "completed",
	} {
		a := newAttempts(t, step)
		a.write("hold", "", 0o600)
		var first []string
		for range 4 { // as many as there is room for
			first = append(first, a.startCase())
		}
		eventually(t, func() string {
			if n := len(a.runs()); n != 4 {
				return fmt.Sprintf("%d have begun", n)
			}
			return ""
		})
		last := a.startCase()
		a.p.kill()
		if n := len(a.runs()); n != 4 {
			t.Fatalf("%s: %d attempts before the end", step, n)
		}
		if err := os.Remove(filepath.Join(a.folder, "hold")); err != nil {
			t.Fatal(err)
		}
		close(a.holds)
		a.again()
		again := 5 // a command that was under way is not run again
		if lost == "completed" {
			again = 9 // a service that was is called again, by the same key
		}
		for _, at := range append(first, last) {
			want := lost
			if at == last {
				want = "completed"
			}
			eventually(t, func() string {
				if c := get[struct{ State string }](t, a.p, at); c.State != want {
					return fmt.Sprintf("%s: %s is %s", step, at, c.State)
				}
				return ""
			})
		}
		a.becomes(last, "completed", again, 5)
		a.says(last, endedUnknown, 0)

		// Its end is recorded: another end of the server changes nothing.
		a.p.kill()
		a.again()
		done := a.startCase()
		a.becomes(done, "completed", again+1, 6)
		a.becomes(last, "completed", again+1, 6)
		if lost == "failed" {
			a.told("Failed: attempt: "+endedUnknown, "Heard: attempt")
		} else {
			a.told("Heard: attempt")
		}
	}
}

// TestKilledDuringARequest kills the server while a service answers: it is called again
// by the same key, its answer is used once, and nobody is told of a failure.
func TestKilledDuringARequest(t *testing.T) {
	t.Parallel()
	a := newAttempts(t, `{http: {url: "SERVICE/x", into: Answer}}`)
	a.kills.Store(true)
	close(a.holds)
	at := a.startCase()
	a.again()
	a.becomes(at, "completed", 2, 1)
	a.says(at, "wrote Answer", 1)
	a.told("Heard: attempt")
}

// TestKilledDuringAMail kills the server when the mail server has taken a mail, and before
// that is recorded: it is sent again as the same mail, and nobody is told of a failure.
func TestKilledDuringAMail(t *testing.T) {
	t.Parallel()
	a := newAttempts(t, "{mail: {to: [admin], subject: Asked, text: Hello}}")
	a.mails.Store(true)
	at := a.startCase()
	a.again()
	outbox := strings.TrimSuffix(at, ".json") + "/Outbox/.contents"
	eventually(t, func() string {
		sent := get[[]struct{ State string }](t, a.p, outbox)
		if len(sent) != 1 || sent[0].State != "delivered" {
			return fmt.Sprintf("the outbox has %v", sent)
		}
		return ""
	})
	a.told("Asked")
	ids := map[string]bool{}
	for _, m := range a.box.Mails() {
		ids[m.Header.Get("Message-ID")] = true
	}
	if n := len(a.box.Mails()); n != 2 || len(ids) != 1 {
		t.Errorf("%d mails with the ids %v", n, ids)
	}
	if c := get[struct{ State string }](t, a.p, at); c.State != "active" {
		t.Errorf("the case is %s", c.State)
	}
}
