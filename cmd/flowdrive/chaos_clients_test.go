package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// crowd are the clients of a chaos. They remember what they have asked and were told.
type crowd struct {
	c       *chaos
	service *service
	random  *rand.Rand
	shared  []string // folders of cases that all comment on

	mu      sync.Mutex
	all     []*request // all requests under a key that were acknowledged
	entries []*request
	logged  []*request // comments
	hooked  []string   // cases that call the service
	births  []*request // of cases that do not
	files   map[string]string
	fired   map[string]bool // entries that fire, by UUID
	races   int
	done    int // acknowledgements
	away    int // answers 503
	slowest time.Duration
	amiss   faults
}

func newCrowd(t *testing.T, c *chaos, s *service) *crowd {
	t.Helper()
	k := &crowd{c: c, service: s, random: rand.New(rand.NewPCG(c.random.Uint64(), 0)), files: map[string]string{}, fired: map[string]bool{}}
	c.front.must(t, http.StatusCreated, http.MethodPut, "/dav/Workflow/Routes/hook.yaml", strings.ReplaceAll(hookRoute, "SERVICE", s.URL))
	c.front.must(t, http.StatusCreated, http.MethodPut, "/dav/Workflow/Routes/flip.json", flipRoute)
	for range 3 {
		at := c.front.must(t, http.StatusCreated, http.MethodPut, casesFolder+"new.json", `{"route": "bug"}`).header.Get("Location")
		k.shared = append(k.shared, strings.TrimSuffix(at, ".json"))
	}
	return k
}

// fault notes what is wrong.
func (k *crowd) fault(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.amiss.add(format, args...)
}

// ask makes a request. What is no answer is nil, as 503 is.
func (k *crowd) ask(ctx context.Context, method, at, body string, headers ...string) *answer {
	begin := time.Now()
	a, err := k.c.front.do(ctx, method, at, body, headers...)
	if err != nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.slowest = max(k.slowest, time.Since(begin))
	if a.status != http.StatusServiceUnavailable {
		return a
	}
	k.away++
	if after, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || after < 1 || after > 30 {
		k.amiss.add("%s %s: %v with Retry-After %q", method, at, a, a.header.Get("Retry-After"))
	}
	return nil
}

// insist repeats a request under its key until it is answered, and returns the answer, nil
// if the test is over.
func (k *crowd) insist(ctx context.Context, r *request) *answer {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if a := k.ask(ctx, http.MethodPut, r.path, r.body, "Idempotency-Key", r.key); a != nil {
			return a
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// put insists on a request that has to be done, and notes that it was.
func (k *crowd) put(ctx context.Context, r *request) bool {
	a := k.insist(ctx, r)
	if a == nil {
		return false
	}
	if a.status >= http.StatusMultipleChoices {
		k.fault("PUT %s %.200s: %v", r.path, r.body, a)
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r.answer = a
	k.all = append(k.all, r)
	k.done++
	return true
}

// keep makes requests of all kinds, one after the other, until a round ends. The last one is
// insisted on beyond that.
func (k *crowd) keep(ctx, round context.Context, name string, random *rand.Rand) {
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for n := 0; round.Err() == nil; n++ {
		key := fmt.Sprintf("%s-%d", name, n)
		switch random.IntN(7) {
		case 0:
			r := &request{path: scheduleFolder + "request", key: key, body: fmt.Sprintf(`{"route": "collector", "type": "interval", "weeks": 9, "title": %q}`, key)}
			if random.IntN(2) == 0 {
				r.path = scheduleFolder + key + ".json"
			}
			k.note(k.put(ctx, r), func() { k.entries = append(k.entries, r) })
		case 1:
			r := &request{path: k.shared[random.IntN(len(k.shared))] + "/Actions/comment.json", key: key, body: fmt.Sprintf(`{"comment": %q}`, key)}
			k.note(k.put(ctx, r), func() { k.logged = append(k.logged, r) })
		case 2:
			r := &request{path: casesFolder + "new.json", key: key, body: `{"route": "hook"}`}
			k.note(k.put(ctx, r), func() { k.hooked = append(k.hooked, r.answer.header.Get("Location")) })
		case 3:
			r := &request{path: casesFolder + "new.json", key: key, body: fmt.Sprintf(`{"route": "bug", "title": %q}`, key)}
			k.note(k.put(ctx, r), func() { k.births = append(k.births, r) })
		case 4:
			r := &request{path: "/dav/Documents/admin/" + key + ".bin", key: key, body: strings.Repeat(key+" ", 1+random.IntN(20000))}
			k.note(k.put(ctx, r), func() { k.files[r.path] = r.body })
		case 5:
			r := &request{path: "/attachfs/" + key + ".bin", key: key, body: strings.Repeat(key+" ", 1+random.IntN(20000))}
			k.note(k.put(ctx, r), func() {
				k.files["/attachfs/view/"+r.answer.header.Get("X-OpenGroupware-AttachmentUUID")] = r.body
			})
		case 6:
			k.race(ctx, key)
		}
		select {
		case <-round.Done():
		case <-tick.C:
		}
	}
}

// started waits until a case has been started, which the server does soon after it has
// acknowledged it.
func (k *crowd) started(ctx context.Context, at string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if a := k.ask(ctx, http.MethodGet, at, ""); a != nil && !strings.Contains(string(a.body), `"state": "queued"`) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// note notes what was done.
func (k *crowd) note(done bool, as func()) {
	if !done {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	as()
}

// race has three clients do at the same time what can be done once. One of them has done it.
func (k *crowd) race(ctx context.Context, key string) {
	birth := &request{path: casesFolder + "new.json", key: key, body: `{"route": "flip"}`}
	if !k.put(ctx, birth) {
		return
	}
	k.started(ctx, birth.answer.header.Get("Location"))
	at := strings.TrimSuffix(birth.answer.header.Get("Location"), ".json") + "/Actions/end.json"
	var won, told atomic.Int32
	var said [3]*answer
	var racers sync.WaitGroup
	for i := range 3 {
		racers.Go(func() {
			a := k.insist(ctx, &request{path: at, body: `{}`, key: fmt.Sprintf("%s-%d", key, i)})
			said[i] = a
			switch {
			case a == nil:
				return
			case a.status < http.StatusMultipleChoices:
				won.Add(1)
			case a.status >= http.StatusInternalServerError:
				k.fault("PUT %s: %v", at, a)
			}
			told.Add(1)
		})
	}
	racers.Wait()
	if told.Load() == 3 && won.Load() != 1 {
		k.fault("%s was done by %d of three: %v", at, won.Load(), said)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.races++
}

// begin has all clients work on a round. What it returns ends the round when they have an
// answer to what they have asked, and returns how many operations of its histories were judged.
func (k *crowd) begin(t *testing.T, round int, moment *atomic.Int64) (end func() int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range 4 {
		random := rand.New(rand.NewPCG(k.random.Uint64(), 1))
		clients.Go(func() { k.keep(t.Context(), ctx, fmt.Sprintf("r%d-c%d", round, i), random) })
	}
	clients.Go(func() {
		for i := range 2 {
			r := &request{path: scheduleFolder + "request", key: fmt.Sprintf("fires-%d-%d", round, i), body: fmt.Sprintf(`{"route": "collector", "type": "interval", "seconds": 1, "repeat": %d}`, repeats)}
			k.note(k.put(t.Context(), r), func() { k.fired[r.answer.header.Get("X-OpenGroupware-ScheduleEntryUUID")] = true })
		}
	})
	h := &historian{p: k.c.front, several: true, moment: moment}
	k.remember(ctx, t, h, round, &clients)
	return func() int {
		stop()
		clients.Wait()
		k.report(t)
		return h.judge(t, round)
	}
}

// remember has clients make histories of a few documents and cases.
func (k *crowd) remember(ctx context.Context, t *testing.T, h *historian, round int, clients *sync.WaitGroup) {
	t.Helper()
	const documents = 3
	var keys []string
	for i := range documents {
		keys = append(keys, fmt.Sprintf("/dav/Documents/admin/h%d-%d.txt", round, i))
	}
	for i := range 2 {
		made := &request{path: casesFolder + "new.json", key: fmt.Sprintf("flip-%d-%d", round, i), body: `{"route": "flip"}`}
		if !k.put(t.Context(), made) {
			k.report(t)
		}
		key := made.answer.header.Get("Location")
		k.started(t.Context(), key)
		keys = append(keys, key)
		h.history = append(h.history, porcupine.Operation{Input: step{key: key, kind: "write", value: "a"}, Output: became{}, Call: h.moment.Add(1), Return: h.moment.Add(1)})
	}
	for i := range 5 {
		o := &operator{historian: h, id: i, random: rand.New(rand.NewPCG(k.random.Uint64(), uint64(i))), tags: map[string][2]string{}}
		clients.Go(func() {
			tick := time.NewTicker(40 * time.Millisecond)
			defer tick.Stop()
			for ctx.Err() == nil {
				n := o.random.IntN(len(keys))
				if err := o.act(t.Context(), keys[n], n >= documents); err != nil {
					k.fault("%v", err)
				}
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
		})
	}
}

// await waits until so many more requests were acknowledged.
func (k *crowd) await(t *testing.T, more int) {
	t.Helper()
	count := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.done
	}
	want := count() + more
	eventually(t, func() string {
		if got := count(); got < want {
			return fmt.Sprintf("%d requests were acknowledged, not %d", got, want)
		}
		return ""
	})
}

func (k *crowd) report(t *testing.T) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.amiss.report(t)
}

// check compares what was acknowledged with what there is.
func (k *crowd) check(t *testing.T) {
	t.Helper()
	p := k.c.front
	for uuid := range k.fired {
		eventually(t, func() string {
			if a, err := p.do(t.Context(), http.MethodGet, scheduleFolder+uuid+".json", ""); err != nil || a.status != http.StatusNotFound {
				return "entry " + uuid + " has not ended"
			}
			return ""
		})
	}
	if got := p.checkEntries(t, k.entries, true); got != len(k.entries) {
		t.Errorf("there are %d entries, not %d", got, len(k.entries))
	}
	p.checkLogs(t, k.shared, k.logged, true)
	calls := p.heardOnce(t, k.service, k.hooked)
	for at, want := range k.files {
		if got := p.must(t, http.StatusOK, http.MethodGet, at, ""); string(got.body) != want {
			t.Errorf("%s has %d bytes, not %d as acknowledged", at, len(got.body), len(want))
		}
	}
	var cases, made []caseForm
	cases = get[[]caseForm](t, p, casesFolder+".contents")
	ids := map[string]bool{}
	for _, c := range cases {
		if c.ScheduleUUID != nil {
			made = append(made, c)
			continue
		}
		ids[strconv.FormatInt(c.ID, 10)] = true
	}
	asked := 0
	for _, r := range k.all {
		if r.path != casesFolder+"new.json" {
			continue
		}
		asked++
		if id := strings.TrimSuffix(path.Base(r.answer.header.Get("Location")), ".json"); !ids[id] {
			t.Errorf("case %s was acknowledged and is not there", id)
		}
	}
	if want := asked + len(k.shared); len(ids) != want {
		t.Errorf("there are %d cases, not %d", len(ids), want)
	}
	p.checkFirings(t, &sown{limited: k.fired}, made)
	t.Logf("%d entries, %d comments, %d cases, %d of which made %d calls, %d contents", len(k.entries), len(k.logged), len(ids), len(k.hooked), calls, len(k.files))
}
