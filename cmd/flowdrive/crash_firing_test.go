package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"
)

// occurrence is what these tests read of what became of an instant.
type occurrence struct {
	Instant    time.Time
	Outcome    string
	Case       *int64
	LagSeconds float64
}

// caseForm is what these tests read of a case.
type caseForm struct {
	ID           int64
	State        string
	ScheduleUUID *string
	ScheduledFor *time.Time
}

// sown are the schedule entries of TestKilledWhileFiring by UUID, in 32 hex
// digits.
type sown struct {
	endless map[string]time.Time // with the start of the grid
	limited map[string]bool
	simple  map[string]bool
}

// repeats is how often the limited entries fire.
const repeats = 8

// TestKilledWhileFiring kills the server in real time around the instants at
// which its entries are due, and while it catches up after a start. All the
// time missed is within the grace of the entries; so at the end each instant
// has had exactly one case, whatever died in the middle.
func TestKilledWhileFiring(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	data := t.TempDir()
	p := startProgram(t, data)
	entries := sow(t, p)
	rounds(16, 20*time.Second, func(round int) {
		p.sowSimple(t, &entries, round)
		if round%3 == 2 {
			// The start has found what was missed meanwhile.
			killAt(p, time.Now().Add(time.Duration(random.IntN(30))*time.Millisecond))
		} else {
			killAt(p, nearSecond(random))
		}
		p = startProgram(t, data)
	})
	caughtUp := time.Now()
	for uuid, start := range entries.endless {
		eventually(t, func() string {
			got := get[[]occurrence](t, p, scheduleFolder+uuid+"/occurrences.json")
			if want := int(caughtUp.Sub(start).Seconds()); len(got) < want {
				return fmt.Sprintf("entry %s has fired %d times, not %d", uuid, len(got), want)
			}
			return ""
		})
		p.must(t, http.StatusNoContent, http.MethodDelete, scheduleFolder+uuid+".json", "")
	}
	eventually(t, func() string {
		if left := get[[]entryForm](t, p, scheduleFolder+".contents"); len(left) > 0 {
			return fmt.Sprintf("%d entries have not ended", len(left))
		}
		return ""
	})
	// What a kill left queued is finished.
	var cases []caseForm
	eventually(t, func() string {
		cases = get[[]caseForm](t, p, casesFolder+".contents")
		for _, c := range cases {
			if c.State != "completed" {
				return fmt.Sprintf("case %d is %s", c.ID, c.State)
			}
		}
		return ""
	})
	p.checkFirings(t, &entries, cases)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// sow stores the entries that fire every second.
func sow(t *testing.T, p *program) sown {
	t.Helper()
	entries := sown{endless: map[string]time.Time{}, limited: map[string]bool{}, simple: map[string]bool{}}
	for i := range 40 {
		if i%4 == 0 {
			body := fmt.Sprintf(`{"route": "collector", "type": "interval", "seconds": 1, "repeat": %d}`, repeats)
			a := p.must(t, http.StatusCreated, http.MethodPut, scheduleFolder+"request", body)
			entries.limited[a.header.Get("X-OpenGroupware-ScheduleEntryUUID")] = true
			continue
		}
		a := p.must(t, http.StatusCreated, http.MethodPut, scheduleFolder+"request", `{"route": "collector", "type": "interval", "seconds": 1}`)
		form := get[entryForm](t, p, a.header.Get("Location"))
		start, err := time.Parse("2006-01-02T15:04:05", form.Date)
		if err != nil {
			t.Fatal(err)
		}
		entries.endless[form.hex()] = start
	}
	return entries
}

// sowSimple stores entries that fire once, at the nearest minute: at once, or
// some rounds later.
func (p *program) sowSimple(t *testing.T, entries *sown, round int) {
	t.Helper()
	now := time.Now().UTC()
	minute := now.Truncate(time.Minute)
	if now.Sub(minute) > 45*time.Second {
		minute = minute.Add(time.Minute) // the last one would be near the end of its grace
	}
	requests := make([]*request, connections)
	for i := range requests {
		requests[i] = &request{
			path: scheduleFolder + "request", key: fmt.Sprintf("simple-%d-%d", round, i),
			body: fmt.Sprintf(`{"route": "collector", "type": "simple", "date": %q}`, minute.Format(time.RFC3339)),
		}
	}
	p.perform(t, requests, func(int) {})
	for _, r := range requests {
		if r.answer != nil {
			entries.simple[r.answer.header.Get("X-OpenGroupware-ScheduleEntryUUID")] = true
		}
	}
}

// nearSecond is an instant around the next full second that is not too near:
// when the entries are due.
func nearSecond(random *rand.Rand) time.Time {
	second := time.Now().Add(20 * time.Millisecond).Truncate(time.Second).Add(time.Second)
	return second.Add(time.Duration(random.IntN(40)-5) * time.Millisecond)
}

// killAt kills the server at the instant.
func killAt(p *program, instant time.Time) {
	<-time.After(time.Until(instant))
	p.kill()
}

// firing is an instant of an entry.
type firing struct {
	uuid    string
	instant time.Time
}

// checkFirings compares the instants that entries had with their occurrences
// and with the cases.
func (p *program) checkFirings(t *testing.T, entries *sown, cases []caseForm) {
	t.Helper()
	var amiss faults
	made := make(map[firing]int64, len(cases))
	for _, c := range cases {
		if c.ScheduleUUID == nil || c.ScheduledFor == nil {
			amiss.add("case %d does not say what it was scheduled by", c.ID)
			continue
		}
		f := firing{entryForm{UUID: *c.ScheduleUUID}.hex(), *c.ScheduledFor}
		if other, twice := made[f]; twice {
			amiss.add("cases %d and %d are of one instant: %v", other, c.ID, f)
		}
		made[f] = c.ID
	}
	told, late := 0, 0
	check := func(uuid string) []occurrence {
		list := get[[]occurrence](t, p, scheduleFolder+uuid+"/occurrences.json")
		slices.Reverse(list) // oldest first
		for i, o := range list {
			told++
			if o.LagSeconds > 0.1 {
				late++
			}
			if o.Outcome != "fired" || o.Case == nil {
				amiss.add("entry %s: %v was %s", uuid, o.Instant, o.Outcome)
			} else if id := made[firing{uuid, o.Instant}]; id != *o.Case {
				amiss.add("entry %s: %v made case %d, and there is case %d", uuid, o.Instant, *o.Case, id)
			}
			if i > 0 && !o.Instant.Equal(list[i-1].Instant.Add(time.Second)) {
				amiss.add("entry %s: after %v comes %v", uuid, list[i-1].Instant, o.Instant)
			}
		}
		return list
	}
	for uuid, start := range entries.endless {
		if list := check(uuid); len(list) == 0 || !list[0].Instant.Equal(start.Add(time.Second)) {
			amiss.add("entry %s: from %v on, it fired at %v", uuid, start, list)
		}
	}
	for uuid := range entries.limited {
		if n := len(check(uuid)); n != repeats {
			amiss.add("entry %s fired %d times, not %d", uuid, n, repeats)
		}
	}
	for uuid := range entries.simple {
		if n := len(check(uuid)); n != 1 {
			amiss.add("simple entry %s fired %d times", uuid, n)
		}
	}
	if told != len(cases) {
		amiss.add("the entries tell of %d cases, and there are %d", told, len(cases))
	}
	amiss.report(t)
	t.Logf("%d cases, %d of them more than 0.1 s after their instant", len(cases), late)
}
