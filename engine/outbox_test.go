package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/store"
)

// outsideWorld is an outside that keeps what it is given, and answers as the
// test says. Its hosts are those of example.org.
type outsideWorld struct {
	mu     sync.Mutex
	got    []outbox.Delivery
	at     []time.Time
	flying map[string]int // by host or kind
	most   map[string]int
	answer func(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) // nil: nothing
	refuse string                                                               // why no command is allowed, "" for none
	lost   string                                                               // an address that was allowed
}

func kindOf(d *outbox.Delivery) string {
	switch {
	case d.Mail != nil:
		return "mail"
	case d.HTTP != nil:
		return d.HTTP.URL
	case d.Exec != nil:
		return "exec " + d.Exec.Name
	}
	return "call"
}

func (o *outsideWorld) Deliver(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
	o.mu.Lock()
	o.got, o.at = append(o.got, *d), append(o.at, clock.Real{}.Now())
	if o.flying == nil {
		o.flying, o.most = map[string]int{}, map[string]int{}
	}
	kind := kindOf(d)
	o.flying[kind]++
	o.most[kind] = max(o.most[kind], o.flying[kind])
	answer := o.answer
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.flying[kind]--
	}()
	if answer == nil {
		return nil, nil
	}
	return answer(ctx, d)
}

func (o *outsideWorld) seen() []outbox.Delivery {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.got)
}

func (o *outsideWorld) set(answer func(context.Context, *outbox.Delivery) (*outbox.Reply, error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answer = answer
}

func (*outsideWorld) RefusesURL(url string) string {
	if strings.Contains(url, ".example.org") {
		return ""
	}
	return "is not allowed"
}

func (o *outsideWorld) RefusesAddress(address string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.HasSuffix(address, "@example.org") && address != o.lost {
		return ""
	}
	return "is not allowed"
}

func (o *outsideWorld) RefusesCommand(name string) string {
	if o.refuse != "" {
		return o.refuse
	}
	if name == "sort" {
		return ""
	}
	return "is not allowed"
}

func (*outsideWorld) RefusesSecret(_ *outbox.Author, _ route.ReachKind, name string) string {
	if name == "key" {
		return ""
	}
	return "is none"
}

func reaching(o *outsideWorld, callbacks map[string]outbox.CallbackFunc) func(*world) {
	return func(w *world) {
		w.config = func(c *engine.Config) { c.Outside, c.Callbacks = o, callbacks }
	}
}

// replies answers every delivery with a JSON.
func replies(content string) func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
	return func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
		return &outbox.Reply{MediaType: "application/json", Content: []byte(content)}, nil
	}
}

const routeReach = `
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, asked: {}, yes: {type: complete}, no: {type: denied}}
actions:
  begin: {trigger: init}
  ask:
    in: [open]
    role: clerk
    to: asked
    sideEffects:
      - {mail: {to: [starter, "role:clerk", ann, office@example.org], subject: "Case $__PID__;", text: {cel: '"Hello " + actor'}}}
      - {http: {url: "https://api.example.org/orders/$__XATTR_NAME__;?q=$__XATTR_NAME__;", headers: {X-Case: "$__TITLE__;"}, value: {id: 1, name: "$__XATTR_NAME__;"}, secret: key, into: Answer}}
      - {exec: {command: sort, args: ["-n", {cel: "1 + 1"}], from: InputMessage, into: Sorted}}
      - {call: {name: find, value: {cel: 'xattr.name'}, into: Found}}
  answer:
    trigger: message
    message: Answer
    in: [asked]
    decide: 'message["Answer"].ok == true ? "yes" : "no"'
    outputs: {yes: yes, no: no}
`

const startReach = `{"route": "reach", "title": "A title", "xattrDict": {"name": "a/b c"}, "input": "2\n1\n"}`

// In a sandbox nothing leaves the machine: what would have is recorded as
// messages of the case, before the request is answered.
func TestOutboxOfASandbox(t *testing.T) {
	t.Parallel()
	outside := &outsideWorld{}
	w := newWorld(t, reaching(outside, map[string]outbox.CallbackFunc{"find": func(context.Context, outbox.CallbackInput) (json.RawMessage, error) {
		return nil, errors.New("nobody asks in a sandbox")
	}}))
	w.as("admin").mustPutRoute("reach", routeReach)
	sam := w.as("sam")
	id := sam.startCase(startReach)
	try(sam.perform(id, "ask", `{}`)).must(w, "ask")
	sam.caseForm(id).wants("status", `"asked"`, "state", `"active"`)
	labels := map[string]string{}
	messages, err := w.Cases.Messages(t.Context(), sam.by(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if label, _, is := strings.Cut(m.Label, "-"); is && label == "Outbox" {
			var kind struct{ Kind string }
			content := sam.content(id, m.Label)
			if err := json.Unmarshal([]byte(content), &kind); err != nil {
				t.Fatal(err)
			}
			labels[kind.Kind] = content
			if m.MediaType != "application/json" {
				t.Errorf("%s is %s", m.Label, m.MediaType)
			}
		}
	}
	same(t, "recorded", labels, map[string]string{
		"mail": fmt.Sprintf(`{"kind":"mail","to":["office@example.org","sam@example.org","ann@example.org"],"subject":"Case %d","text":"Hello sam"}`, id),
		"http": `{"kind":"http","method":"POST","url":"https://api.example.org/orders/a%2Fb%20c?q=a%2Fb%20c","headers":{"X-Case":"A title"},"type":"application/json","body":{"id":1,"name":"a/b c"},"secret":"key"}`,
		"exec": `{"kind":"exec","command":"sort","args":["-n","2"],"input":"2\n1\n"}`,
		"call": `{"kind":"call","name":"find","value":"a/b c"}`,
	})
	same(t, "sent", len(outside.seen()), 0)
	if _, err := sam.putLabel(id, "Answer", `{"ok": false}`); err != nil {
		t.Fatal(err)
	}
	sam.caseForm(id).wants("status", `"no"`, "warnings", `[]`)
	var recorded []string
	for _, text := range sam.logTexts(id) {
		if _, what, is := strings.Cut(text, "Recorded instead of sent: "); is {
			kind, _, _ := strings.Cut(what, ",")
			recorded = append(recorded, kind)
		}
	}
	same(t, "recorded in the order of the steps", recorded, []string{"mail", "http", "exec", "call"})
}

// What a route asks of the outside is done after the commit, and the answer
// decides where the case goes.
func TestOutboxDelivers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{answer: replies(`{"ok": true}`)}
		var asked []outbox.CallbackInput
		w, stop := realTime(t, reaching(outside, map[string]outbox.CallbackFunc{"find": func(_ context.Context, in outbox.CallbackInput) (json.RawMessage, error) {
			asked = append(asked, in)
			return json.RawMessage(`["x"]`), nil
		}}))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("reach", routeReach)
		sam := w.as("sam")
		id := sam.startCase(startReach)
		await(10 * time.Second)
		before := w.db.Stats().Statements
		await(time.Hour)
		same(t, "statements while idle", w.db.Stats().Statements-before, 0)
		w.clock.Set(clock.Real{}.Now())
		try(sam.perform(id, "ask", `{}`)).must(w, "ask")
		await(time.Second)
		sam.caseForm(id).wants("status", `"yes"`, "warnings", `[]`)
		same(t, "the callback's answer", sam.content(id, "Found"), `["x"]`)
		same(t, "the command's answer", sam.content(id, "Sorted"), `{"ok": true}`)
		guid := unquote(sam.caseForm(id).get("guid"))
		keys := map[string]string{}
		for _, d := range outside.seen() {
			keys[kindOf(&d)] = d.Key
			if d.Attempt != 1 || !strings.HasPrefix(d.Key, guid+"-") {
				t.Errorf("%+v", d)
			}
		}
		same(t, "deliveries", len(keys), 3)
		same(t, "asked", len(asked), 1)
		same(t, "value", string(asked[0].Value), `"a/b c"`)
		w.form(asked[0].Case).wants("guid", fmt.Sprintf("%q", guid), "route", `"reach"`, "status", `"asked"`, "xattr/name", `"a/b c"`)
		w.view(func(r store.Reader) error {
			lanes, err := r.Outbox().Lanes()
			same(t, "left in the outbox", len(lanes), 0)
			return err
		})
		await(5 * time.Minute) // when it would have been looked after, the outbox is found empty
		before = w.db.Stats().Statements
		await(time.Hour)
		same(t, "statements while idle", w.db.Stats().Statements-before, 0)
	})
}

// What a route names that is outside is judged when it is stored.
func TestRoutesThatReachTooFar(t *testing.T) {
	t.Parallel()
	route := func(step string) string {
		return "roles: {r: {assign: [starter]}}\nstates: {a: {type: start}, b: {type: complete}}\nactions:\n  begin: {trigger: init}\n  go: {in: [a], role: r, to: b, onFire: [" + step + "]}\n"
	}
	const at = "/actions/go/onFire/0/"
	for _, tt := range []struct{ step, bare, set string }{
		{"{http: {url: 'https://api.example.org/x'}}", at + "http/url range", ""},
		{"{http: {url: 'https://other.example/x'}}", at + "http/url range", at + "http/url range"},
		{"{http: {url: 'https://api.example.org/x', secret: other}}", at + "http/url range", ""},
		{"{mail: {to: [starter]}}", "", ""},
		{"{mail: {to: [office@example.com]}}", at + "mail/to/0 range", at + "mail/to/0 range"},
		{"{mail: {to: [Sam@Example.org]}}", "", ""}, // a user's
		{"{mail: {to: [office@example.org]}}", at + "mail/to/0 range", ""},
		{"{exec: {command: sort}}", at + "exec/command not-found", ""},
		{"{exec: {command: rm}}", at + "exec/command not-found", at + "exec/command not-found"},
		{"{exec: {command: rm, into: 'no label'}}", at + "exec/into format, " + at + "exec/command not-found", at + "exec/into format, " + at + "exec/command not-found"},
		{"{call: {name: find}}", at + "call/name not-found", ""},
		{"{call: {name: lose}}", at + "call/name not-found", at + "call/name not-found"},
	} {
		for _, set := range []bool{false, true} {
			w, want := newWorld(t), tt.bare
			if set {
				find := func(context.Context, outbox.CallbackInput) (json.RawMessage, error) { return nil, nil }
				w, want = newWorld(t, reaching(&outsideWorld{}, map[string]outbox.CallbackFunc{"find": find})), tt.set
			}
			_, err := w.as("sam").putRoute("reach", route(tt.step))
			if got := strings.Join(faultsOf(err), ", "); got != want || (err == nil) != (want == "") {
				t.Errorf("%s: %s (%v); want %s", tt.step, got, err, want)
			}
		}
	}
}

// A domain that an administrator takes back gets no mails of routes that were
// stored before: the others get theirs, and the case says who does not.
func TestDomainTakenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("reach", `
access: {start: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  tell:
    in: [open]
    role: clerk
    sideEffects: [{mail: {to: [starter, office@example.org], subject: All}}, {mail: {to: [office@example.org], subject: Alone}}]
`)
		sam := w.as("sam")
		outside.lost = "office@example.org"
		id := sam.startCase(`{"route": "reach"}`)
		sam.mustPerform(id, "tell")
		await(time.Second)
		var to []string
		for _, d := range outside.seen() {
			if d.Mail != nil {
				to = append(to, strings.Join(d.Mail.To, " "))
			}
		}
		same(t, "who got a mail", to, []string{"sam@example.org"})
		for i := range 2 {
			sam.caseForm(id).wants(fmt.Sprintf("warnings/%d/text", i), `"Not delivered: mail: office@example.org: is not allowed"`)
		}
	})
}

// An endpoint that fails is tried again with growing pauses for a day; then
// it is an entry of the worklist of those who may retry, and a warning.
func TestUndelivered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{answer: func(context.Context, *outbox.Delivery) (*outbox.Reply, error) { return nil, errors.New("no\nanswer") }}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		admin, sam := w.as("admin"), w.as("sam")
		admin.mustPutRoute("hook", `
access: {start: [everyone], read: [everyone]}
roles: {clerk: {assign: [starter]}}
states: {open: {type: start}, asked: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  ask: {in: [open], role: clerk, to: asked, sideEffects: [{http: {url: "https://api.example.org/", into: Answer}}]}
  answer: {trigger: message, message: Answer, in: [asked], to: done}
`)
		id := sam.startCase(`{"route": "hook"}`)
		sam.mustPerform(id, "ask")
		await(30 * time.Hour)
		outside.mu.Lock()
		at := slices.Clone(outside.at)
		outside.mu.Unlock()
		took := at[len(at)-1].Sub(at[0])
		if len(at) != 33 || took < 20*time.Hour || took > 28*time.Hour {
			t.Errorf("%d attempts in %s", len(at), took)
		}
		for i := 1; i < len(at); i++ {
			pause := min(time.Hour, 5*time.Second<<min(i-1, 20))
			if got := at[i].Sub(at[i-1]); got < pause*4/5 || got > pause*6/5+time.Second {
				t.Errorf("attempt %d came after %s; want about %s", i+1, got, pause)
			}
		}
		for i, d := range outside.seen() {
			if d.Key != outside.seen()[0].Key || d.Attempt != i+1 {
				t.Errorf("attempt %d is %+v", i+1, d)
			}
		}
		name := strings.TrimPrefix(admin.work(engine.WorklistEscalated, engine.Filter{}), fmt.Sprintf("%d.", id))
		if started := sam.work(engine.WorklistEscalated, engine.Filter{}); !strings.HasPrefix(name, "ask.") || started != fmt.Sprintf("%d.%s", id, name) {
			t.Fatalf("escalated is %q; for sam, who started the case, %q", name, started)
		}
		admin.taskForm(id, name).wants("case", fmt.Sprint(id), "action", `"ask"`, "state", `"escalated"`, "step", `"http"`, "error", `"no answer"`, "attempts", "33",
			"warnings/0/timer", fmt.Sprintf("%q", name), "warnings/0/text", `"Not delivered: http: no answer"`)
		sam.caseForm(id).wants("status", `"asked"`, "warnings/0/text", `"Not delivered: http: no answer"`)

		w.clock.Set(clock.Real{}.Now())
		w.refused(sam.do(id, name, "retry"), errs.NotAllowed)
		w.refused(admin.do(id, name, "perform"), errs.ActionNotEnabled)
		w.refused(admin.do(id, name, "skip"), errs.ActionNotEnabled)
		w.refused(admin.do(id, "ask.1-1", "retry"), errs.NotFound)
		outside.set(replies(`{}`))
		admin.mustDo(id, name, "retry")
		sam.caseForm(id).wants("warnings", "[]")
		same(t, "escalated", admin.work(engine.WorklistEscalated, engine.Filter{}), "")
		await(time.Second)
		sam.caseForm(id).wants("status", `"done"`, "state", `"completed"`)
		w.refused(admin.do(id, name, "retry"), errs.NotFound)

		// One that never can be is told at once, and can be given up.
		outside.set(func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
			return nil, &outbox.Final{Reason: "never"}
		})
		id = sam.startCase(`{"route": "hook"}`)
		sam.mustPerform(id, "ask")
		await(time.Second)
		sam.caseForm(id).wants("warnings/0/text", `"Not delivered: http: never"`)
		admin.mustDo(id, "ask", "retry") // the action stands for what it asked for
		await(time.Second)
		name = strings.TrimPrefix(admin.work(engine.WorklistEscalated, engine.Filter{}), fmt.Sprintf("%d.", id))
		admin.taskForm(id, name).wants("attempts", "2")
		admin.mustDo(id, name, "abort")
		sam.caseForm(id).wants("warnings", "[]", "status", `"asked"`)
		same(t, "escalated", admin.work(engine.WorklistEscalated, engine.Filter{}), "")
		w.view(func(r store.Reader) error {
			_, err := r.Outbox().Get(outside.seen()[34].Key)
			w.refused(err, errs.NotFound)
			return nil
		})
	})
}

// A slow host does not keep others waiting, and has no more than its share.
func TestSlowHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside := &outsideWorld{}
		outside.answer = func(ctx context.Context, d *outbox.Delivery) (*outbox.Reply, error) {
			if !strings.Contains(d.HTTP.URL, "slow") {
				return nil, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		w, stop := realTime(t, reaching(outside, nil))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		for _, host := range []string{"slow", "fast"} {
			w.as("admin").mustPutRoute(host, `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}}
actions: {begin: {trigger: init, sideEffects: [{http: {url: "https://`+host+`.example.org/"}}]}}
`)
		}
		const many = 50
		for range many {
			w.as("sam").startCase(`{"route": "slow"}`)
		}
		for range many {
			w.as("sam").startCase(`{"route": "fast"}`)
		}
		await(3 * time.Second)
		count := map[string]int{}
		for _, d := range outside.seen() {
			count[d.HTTP.URL]++
		}
		same(t, "attempts", count, map[string]int{"https://slow.example.org/": 4, "https://fast.example.org/": many})
		await(11 * time.Second)
		outside.mu.Lock()
		defer outside.mu.Unlock()
		same(t, "at the same time", outside.most["https://slow.example.org/"], 4)
		if outside.most["https://fast.example.org/"] > 4 {
			t.Errorf("%d at the same time", outside.most["https://fast.example.org/"])
		}
	})
}

// TestDeliveryThatCannotBegin: one that cannot be stored as begun does not keep those waiting that
// are begun in the same unit. It is made seconds later, and nothing counts as lost.
func TestDeliveryThatCannotBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outside, faulty := &outsideWorld{}, atomic.Bool{}
		db := &spy{before: func(w write) error {
			if row, ok := w.row.(*store.OutboxRow); ok && faulty.Load() && strings.Contains(row.Lane, "api1") {
				return errors.New("a fault of the disk")
			}
			return nil
		}}
		w, stop := realTime(t, reaching(outside, nil), spied(db))
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("four", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}}
actions:
  begin:
    trigger: init
    sideEffects:
      - {http: {url: "https://api1.example.org/"}}
      - {http: {url: "https://api2.example.org/"}}
      - {http: {url: "https://api3.example.org/"}}
`)
		faulty.Store(true)
		id := w.as("sam").startCase(`{"route": "four"}`)
		await(5 * time.Second)
		same(t, "attempts of the others", len(outside.seen()), 2)
		faulty.Store(false)
		await(5 * time.Second)
		same(t, "attempts", len(outside.seen()), 3)
		for _, d := range outside.seen() {
			same(t, "attempt", d.Attempt, 1)
		}
		w.as("sam").caseForm(id).wants("warnings", "[]")
	})
}

// What was under way when a server ended is done again at its next start, by
// the same key; what it answered is used once.
func TestOutboxAfterACrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := make(chan struct{})
		outside := &outsideWorld{answer: func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
			<-hung
			return nil, errors.New("the machine is gone")
		}}
		w, stop := realTime(t, reaching(outside, nil))
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("hook", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, sideEffects: [{http: {url: "https://api.example.org/", into: Answer}}]}
  answer: {trigger: message, message: Answer, in: [open], to: done}
`)
		id := w.as("sam").startCase(`{"route": "hook"}`)
		await(time.Second)
		same(t, "attempts", len(outside.seen()), 1)
		row := outside.seen()[0]

		// Another process begins on the same data: the first has lost its power.
		other := engine.New(engine.Config{Store: w.db, Clock: clock.Real{}, Outside: outside})
		if err := other.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		outside.set(replies(`{}`))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = other.Run(ctx) })
		await(10 * time.Second) // longer than the pause after an attempt whose end is not known
		same(t, "keys", outside.seen()[1].Key, row.Key)
		same(t, "attempt", outside.seen()[1].Attempt, 2)
		w.as("sam").caseForm(id).wants("status", `"done"`)
		cancel()
		wg.Wait()
		close(hung)
		await(time.Minute)
		w.as("sam").caseForm(id).wants("status", `"done"`, "warnings", "[]")
		if log := strings.Join(w.as("sam").logTexts(id), "\n"); strings.Count(log, "Delivered") != 1 {
			t.Errorf("the log is\n%s", log)
		}
		same(t, "attempts", len(outside.seen()), 2)
		stop()
	})
}

// TestEndOnAFullDisk: what a command has done while nothing can be stored is recorded when
// something can be. It does not count as lost, and it is not done again.
func TestEndOnAFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ends := make(chan struct{})
		outside := &outsideWorld{answer: func(context.Context, *outbox.Delivery) (*outbox.Reply, error) {
			<-ends
			return &outbox.Reply{MediaType: "text/plain", Content: []byte("fine")}, nil
		}}
		disk := &fullDisk{}
		w, stop := realTime(t, reaching(outside, nil), func(w *world) {
			inner := w.config
			w.config = func(c *engine.Config) {
				inner(c)
				disk.Store, c.Store = c.Store, disk
			}
		})
		defer stop()
		w.clock.Set(clock.Real{}.Now())
		w.as("admin").mustPutRoute("job", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, sideEffects: [{http: {url: "https://api.example.org/", into: Answer}}]}
  answer: {trigger: message, message: Answer, in: [open], to: done}
`)
		id := w.as("sam").startCase(`{"route": "job"}`)
		await(time.Second)
		disk.full.Store(true)
		close(ends)
		await(10 * time.Minute) // longer than the lease
		disk.full.Store(false)
		await(10 * time.Second)
		w.as("sam").caseForm(id).wants("status", `"done"`, "warnings", "[]")
		same(t, "attempts", len(outside.seen()), 1)
	})
}

// fullDisk is a store in which nothing can be stored for a time.
type fullDisk struct {
	store.Store

	full atomic.Bool
}

func (d *fullDisk) Update(ctx context.Context, f func(store.Tx) error) error {
	if d.full.Load() {
		return errs.New(errs.Full, "The disk is full.")
	}
	return d.Store.Update(ctx, f)
}
