package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
)

// routeNightly is a job that runs a command and reports what came of it.
const routeNightly = `
title: Nightly backup
access: {start: [everyone], read: [everyone], admin: [dora]}
states: {running: {type: start}, done: {type: complete, title: Done}}
actions:
  run: {title: Run, past: Begun, trigger: init, sideEffects: [{exec: {command: sort, into: Answer}}]}
  finish:
    title: Finish
    past: Finished
    trigger: message
    message: Answer
    in: [running]
    to: done
    sideEffects: [{http: {url: "https://api.example.org/report", retry: {times: 4, every: PT3H, on: [network]}}}]
`

// diary is what happens, with everything that anybody is told.
type diary struct {
	*world
	outside *outsideWorld
	told    strings.Builder
	shown   map[string]bool // the kinds of mails of which the text was shown
	read    int
}

// until waits for an hour of a day of January 2000 and notes what was told.
func (k *diary) until(day, hour, minute int) {
	at := time.Date(2000, 1, day, hour, minute, 0, 0, time.UTC)
	await(at.Sub(clock.Real{}.Now()))
	k.clock.Set(clock.Real{}.Now())
	k.outside.mu.Lock()
	defer k.outside.mu.Unlock()
	var mails []mailed
	for ; k.read < len(k.outside.got); k.read++ {
		if m := k.outside.got[k.read].Mail; m != nil {
			to, _, _ := strings.Cut(m.To[0], "@")
			mails = append(mails, mailed{fmt.Sprintf("%s  to %-5s %s\n", k.outside.at[k.read].UTC().Format("Mon 2006-01-02 15:04"), to, m.Subject), m})
		}
	}
	slices.SortFunc(mails, func(a, b mailed) int { return strings.Compare(a.line[4:], b.line[4:]) })
	for _, m := range mails {
		k.told.WriteString(m.line)
		word, _, _ := strings.Cut(m.Subject, ": ")
		if k.shown[word] {
			continue
		}
		k.shown[word] = true
		for line := range strings.SplitSeq(strings.TrimRight(m.Text, "\n"), "\n") {
			k.told.WriteString(strings.TrimRight("        | "+line, " ") + "\n")
		}
	}
}

// mailed is a mail and the line of the golden file about it.
type mailed struct {
	line string
	*machine.Mail
}

// note notes what happens to the job.
func (k *diary) note(format string, args ...any) {
	fmt.Fprintf(&k.told, "\n%s  %s\n", clock.Real{}.Now().Format("Mon 2006-01-02 15:04"), fmt.Sprintf(format, args...))
}

// job says how the command and the service behave from now on.
func (k *diary) job(command, service func() error) {
	k.outside.set(func(_ context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
		switch {
		case d.Exec != nil:
			if err := command(); err != nil {
				return nil, err
			}
			return &outbox.Reply{MediaType: "text/plain", Content: []byte("12 GB")}, nil
		case d.HTTP != nil:
			return nil, service()
		}
		return nil, nil
	})
}

func works() error { return nil }

// TestBadWeek plays a nightly job's bad week: it fails, takes too long, hangs, loses
// its network, and its author leaves. Nothing of it is learned of by looking: the
// golden file has what everybody is told, and by when.
func TestBadWeek(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		w, stop := realTime(t, func(w *world) {
			w.config = func(c *engine.Config) { c.Outside, c.Channels = outside, engine.Channels{Mail: true} }
		})
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		k := &diary{world: w, outside: outside, shown: map[string]bool{}}
		admin := w.as("admin")
		admin.mustPutParty(identity.User, "admin", `{"email": "admin@example.org"}`)
		for _, name := range []string{"dora", "kim"} {
			admin.mustPutParty(identity.User, name, fmt.Sprintf(`{"email": "%s@example.org", "password": "%[1]s %[1]s %[1]s"}`, name))
		}
		admin.mustPutRoute("nightly", routeNightly)
		k.job(works, works)
		entry := w.as("kim").mustPutEntry("backup", `{"type": "crontab", "spec": "30 2 * * *", "route": "nightly", "title": "Backup"}`)
		k.play(entry.Name)
		k.compare("bad-week.txt", k.told.String())
	})
}

func (k *diary) play(entry string) {
	dora := k.as("dora")
	last := func() int64 {
		rows := k.form(try(k.as("admin").Schedules.Occurrences(k.Context(), k.as("admin").by(), k.as("admin").ref(entry).Entry)).must(k.world, "occurrences").Form)
		return k.as("admin").ref(rows.get("0/case")).CaseID
	}
	k.told.WriteString("What people are told of a nightly job in a bad week, with the whole of the first\nmail of each kind. kim wrote the schedule entry, dora administers the route.\n")
	k.note("The job works.")
	k.until(1, 12, 0)

	k.note("The disk will be full.")
	k.job(func() error {
		return &outbox.Failed{Kind: machine.FailureExit, Status: 3, Output: "writing part 7\ndisk full\n", Err: &outbox.Final{Reason: "backup ended with exit status 3: disk full"}}
	}, works)
	k.until(2, 10, 0)
	k.note("dora makes room and retries it.")
	k.job(works, works)
	dora.mustDo(last(), "run", "retry")
	k.until(2, 12, 0)

	k.note("It will take longer than it may.")
	k.job(func() error {
		return &outbox.Failed{Kind: machine.FailureTimeout, Err: &outbox.Final{Reason: "backup took longer than 2h"}}
	}, works)
	k.until(3, 12, 0)
	late := last()
	k.note("Nobody does anything. The next night it works.")
	k.job(works, works)
	k.until(4, 12, 0)

	k.note("It will hang: nothing is heard of it for six hours, then it is stopped.")
	k.job(func() error {
		<-time.NewTimer(6 * time.Hour).C
		return &outbox.Failed{Kind: machine.FailureTimeout, Err: &outbox.Final{Reason: "backup took longer than 6h"}}
	}, works)
	k.until(5, 12, 0)
	k.note("dora retries both, one after the other.")
	k.job(works, works)
	dora.mustDo(late, "run", "retry")
	k.until(5, 13, 0)
	dora.mustDo(last(), "run", "retry")
	k.until(5, 14, 0)

	k.note("The network will be down until the next noon: the report is tried again and again.")
	k.job(works, func() error { return fmt.Errorf("POST https://api.example.org: no route to host") })
	k.until(6, 12, 0)
	k.job(works, works)
	k.until(6, 20, 0)

	k.note("The network will be down for two days.")
	k.job(works, func() error { return fmt.Errorf("POST https://api.example.org: no route to host") })
	k.until(7, 18, 0)
	report := last()
	task := strings.TrimPrefix(dora.work(engine.WorklistEscalated, engine.Filter{}), fmt.Sprintf("%d.", report))
	k.until(8, 23, 0)
	k.note("dora gives it up: it is yesterday's. The newer one gets through when it is retried.")
	k.job(works, works)
	dora.mustDo(report, task, "abort")
	dora.mustDo(last(), strings.TrimPrefix(dora.work(engine.WorklistEscalated, engine.Filter{}), fmt.Sprintf("%d.", last())), "retry")
	k.until(9, 1, 0)

	k.note("kim leaves; the account is disabled.")
	k.as("admin").mustPutParty(identity.User, "kim", `{"disabled": true}`)
	k.until(10, 12, 0)
	k.note("The administrator gives the entry to dora.")
	k.as("admin").mustPutEntry(entry, `{"type": "crontab", "spec": "30 2 * * *", "route": "nightly", "title": "Backup", "context": "dora"}`)
	k.until(12, 12, 0)
	k.told.WriteString("\nThat is all that anybody was told.\n")
	text := strings.ReplaceAll(k.told.String(), k.as("admin").ref(entry).Entry.String(), "<entry>")
	k.told.Reset()
	k.told.WriteString(text)
}

func (k *diary) compare(name, told string) {
	k.Helper()
	path := filepath.Join("..", "testdata", "told", name)
	if *updateGolden {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			k.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(told), 0o644); err != nil {
			k.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		k.Fatalf("-update writes it: %v", err)
	}
	if diff := cmp.Diff(string(want), told); diff != "" {
		k.Errorf("what was told (-want +got; -update rewrites it):\n%s", diff)
	}
}
