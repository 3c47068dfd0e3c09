package main

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	scheduleFolder = "/dav/Workflow/Schedule/"
	casesFolder    = "/dav/Workflow/Cases/"
)

// rounds calls f for each round, as often as there is time for, at least
// twice; with -short, twice. FLOWDRIVE_TORTURE is a time, such as 2h, for which it goes on
// instead.
func rounds(most int, limit time.Duration, f func(round int)) {
	begin := time.Now()
	if torture, err := time.ParseDuration(os.Getenv("FLOWDRIVE_TORTURE")); err == nil {
		for round := 0; time.Since(begin) < torture; round++ {
			f(round)
		}
		return
	}
	for round := range most {
		if round >= 2 && time.Since(begin) > limit {
			return
		}
		f(round)
	}
}

// entryForm is what these tests read of a schedule entry.
type entryForm struct {
	UUID, Title, Date   string
	IterationsPerformed int
}

// hex is the UUID as it is written in addresses.
func (f entryForm) hex() string {
	return strings.NewReplacer("{", "", "}", "", "-", "").Replace(f.UUID)
}

// TestKilledWhilePutting kills the server during 1,000 concurrent PUTs of
// schedule entries. Afterwards everything that was acknowledged is there,
// nothing is there twice, and what was not acknowledged can be put again
// under its key to be there once. Where the name is not kept only the key
// tells a repetition from another entry.
func TestKilledWhilePutting(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	data := t.TempDir()
	stored := 0
	p := startProgram(t, data)
	rounds(8, 12*time.Second, func(round int) {
		requests := putEntries(1000, round)
		n := p.performUntil(t, os.Kill, random, requests)
		p = startProgram(t, data)
		mustBeSound(t, data)
		held := p.checkEntries(t, requests, false)
		p.repeat(t, requests, "Location", "X-OpenGroupware-ScheduleEntryUUID")
		if got := p.checkEntries(t, requests, true); got != stored+len(requests) {
			t.Errorf("there are %d entries, not %d", got, stored+len(requests))
		}
		t.Logf("round %d: %d acknowledged, %d there after the crash", round, n, held-stored)
		stored += len(requests)
	})
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// putEntries returns requests that put schedule entries, whose titles are
// their keys. Every other one goes to a name that is not kept.
func putEntries(n, round int) []*request {
	requests := make([]*request, n)
	for i := range requests {
		title := fmt.Sprintf("entry-%d-of-round-%d", i, round)
		name := "request"
		if i%2 == 0 {
			name = fmt.Sprintf("e-%d-%d.json", round, i)
		}
		requests[i] = &request{
			path: scheduleFolder + name, key: title,
			body: fmt.Sprintf(`{"route": "collector", "type": "interval", "weeks": 9, "title": %q}`, title),
		}
	}
	return requests
}

// TestStoppedWhilePutting asks the server to stop in the middle of load: it
// ends well and soon, and what it did it also answered.
func TestStoppedWhilePutting(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	data := t.TempDir()
	stored := 0
	p := startProgram(t, data)
	rounds(4, 5*time.Second, func(round int) {
		requests := putEntries(1000, round)
		n := p.performUntil(t, syscall.SIGTERM, random, requests)
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("the server stopped with %d", code)
		}
		p = startProgram(t, data)
		if got := p.checkEntries(t, requests, false); got != stored+n {
			t.Errorf("%d requests were answered, and %d done", n, got-stored)
		}
		stored += n
	})
}

// checkEntries compares what was acknowledged with what there is, of which it
// returns the number.
func (p *program) checkEntries(t *testing.T, requests []*request, all bool) int {
	t.Helper()
	entries := get[[]entryForm](t, p, scheduleFolder+".contents")
	byTitle := make(map[string][]entryForm, len(entries))
	for _, e := range entries {
		byTitle[e.Title] = append(byTitle[e.Title], e)
	}
	var amiss faults
	for _, r := range requests {
		there := byTitle[r.key]
		switch {
		case len(there) > 1:
			amiss.add("%s: there are %d", r.key, len(there))
		case len(there) == 0 && r.answer != nil:
			amiss.add("%s: acknowledged and lost", r.key)
		case len(there) == 0 && all:
			amiss.add("%s: put again and not there", r.key)
		case r.answer != nil && path.Base(r.answer.header.Get("Location")) != there[0].hex()+".json":
			amiss.add("%s: acknowledged as %s and there as %s", r.key, r.answer.header.Get("Location"), there[0].hex())
		}
	}
	amiss.report(t)
	// Under the names that were given, and under their identities, the first
	// few are where they should be.
	for _, r := range requests[:20] {
		if r.answer == nil {
			continue
		}
		p.must(t, http.StatusOK, http.MethodGet, r.answer.header.Get("Location"), "")
		if path.Ext(r.path) == ".json" {
			if got := p.must(t, http.StatusOK, http.MethodGet, r.path, ""); string(got.body) != r.body {
				t.Errorf("GET %s: got %s, want %s", r.path, got.body, r.body)
			}
		}
	}
	return len(entries)
}

// logEntry is what these tests read of a case's log.
type logEntry struct {
	Seq             int
	Action, Comment string
}

// TestKilledWhilePerforming kills the server while actions are performed on a
// few cases by all connections at once: every performance that was
// acknowledged is in the log exactly once, where the answer said, and what
// was not acknowledged can be performed under its key to be there once.
func TestKilledWhilePerforming(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	data := t.TempDir()
	p := startProgram(t, data)
	const shared, own = 8, 100
	rounds(6, 12*time.Second, func(round int) {
		var births []*request
		for i := range shared + own {
			births = append(births, &request{
				path: casesFolder + "new.json", key: fmt.Sprintf("birth-%d-of-round-%d", i, round), body: `{"route": "bug"}`,
			})
		}
		p.perform(t, births, func(int) {})
		var requests []*request
		var bugs []string // the folders of the cases
		for i, birth := range births {
			if birth.answer == nil {
				t.Fatalf("%s: no answer", birth.key)
			}
			folder := strings.TrimSuffix(birth.answer.header.Get("Location"), ".json")
			bugs = append(bugs, folder)
			action, times := "comment", 60
			if i >= shared {
				action, times = "resolve", 1
			}
			for n := range times {
				key := fmt.Sprintf("%s-%d-of-case-%d-of-round-%d", action, n, i, round)
				requests = append(requests, &request{
					path: folder + "/Actions/" + action + ".json", key: key, body: fmt.Sprintf(`{"comment": %q}`, key),
				})
			}
		}
		random.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
		n := p.performUntil(t, os.Kill, random, requests)
		p = startProgram(t, data)
		mustBeSound(t, data)
		held := p.checkLogs(t, bugs, requests, false)
		p.repeat(t, requests, "X-Flowdrive-Log-Entry", "X-Flowdrive-Case-Status")
		p.checkLogs(t, bugs, requests, true)
		t.Logf("round %d: %d acknowledged of %d, %d in the logs after the crash", round, n, len(requests), held)
	})
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// checkLogs compares what was acknowledged with the logs of the cases, and
// returns how many of the requests they have.
func (p *program) checkLogs(t *testing.T, folders []string, requests []*request, all bool) (held int) {
	t.Helper()
	seqs := make(map[string][]int) // by comment
	for _, folder := range folders {
		for _, e := range get[[]logEntry](t, p, folder+"/log.json") {
			if e.Comment != "" {
				seqs[e.Comment] = append(seqs[e.Comment], e.Seq)
				held++
			}
		}
	}
	var amiss faults
	for _, r := range requests {
		there := seqs[r.key]
		switch {
		case len(there) > 1:
			amiss.add("%s: %d times in the log", r.key, len(there))
		case len(there) == 0 && r.answer != nil:
			amiss.add("%s: acknowledged and not in the log", r.key)
		case len(there) == 0 && all:
			amiss.add("%s: performed again and not in the log", r.key)
		case r.answer != nil && r.answer.header.Get("X-Flowdrive-Log-Entry") != fmt.Sprint(there[0]):
			amiss.add("%s: acknowledged as entry %s and logged as %d", r.key, r.answer.header.Get("X-Flowdrive-Log-Entry"), there[0])
		}
	}
	amiss.report(t)
	return held
}
