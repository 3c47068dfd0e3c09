package machine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
)

const outboxRoute = `
roles: {clerk: {assign: [starter]}, boss: {assign: [admins]}}
states: {open: {type: start}, asked: {}, yes: {type: complete}, no: {type: denied}}
actions:
  begin: {trigger: init}
  ask: {in: [open, asked], role: clerk, to: asked, sideEffects: [{log: x}, {http: {url: 'https://example.org/$__XATTR_N__;', into: Answer}}]}
  answer: {trigger: message, message: Answer, in: [asked], decide: 'message["Answer"].ok ? "yes" : "no"', outputs: {yes: yes, no: no}}
`

func answer(o Outgoing, content string) Delivered {
	return Delivered{Seq: o.Seq, Step: o.Step, Attempts: 1, MediaType: "application/json", Content: []byte(content)}
}

// last is the text of the last log entry.
func (p *play) last() string { return p.log[len(p.log)-1].Text }

// An answer is used once, whatever comes again.
func TestDelivered(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, outboxRoute))
	p.script([]step{{"sam n=5", "active open: ask"}, {"sam ask", "active asked: ask | answer"}})
	o := p.c.Outbox[0]
	if o.Step != 2 || o.Name() != fmt.Sprintf("ask.%d-2", o.Seq) || !p.c.Sending() || !p.c.Busy(p.now) || p.outbox[0].Request.HTTP.URL != "https://example.org/5" {
		t.Fatalf("%+v %+v", o, p.outbox[0].Request.HTTP)
	}
	if err := p.event(answer(o, `{"ok": true}`)); err != nil {
		t.Fatal(err)
	}
	if got := p.state(); got != "completed yes:" || p.c.Outbox != nil || p.c.Sending() {
		t.Errorf("%s, %+v", got, p.c.Outbox)
	}
	entries := len(p.log)
	for _, e := range []Event{answer(o, `{"ok": false}`), Undelivered{Seq: o.Seq, Step: o.Step, Reason: "x"}, Recorded{Seq: o.Seq, Step: o.Step}} {
		if err := p.event(e); err != nil || len(p.log) != entries {
			t.Errorf("%T again: %v, %d entries more", e, err, len(p.log)-entries)
		}
	}
}

// What becomes of an answer depends on where the case is by then.
func TestDeliveredLate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		before []string
		kept   bool
		state  string
		after  string
		then   string
	}{
		{"active", nil, true, "completed yes:", "", "completed yes:"},
		{"suspended", []string{"admin !suspend"}, true, "suspended asked: ask | answer", "admin !resume", "completed yes:"},
		{"canceled", []string{"cancel"}, false, "canceled asked:", "", "canceled asked:"},
		{"completed", []string{"sam @Answer {\"ok\": false}"}, true, "completed no:", "", "completed no:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := started(t, parsed(t, outboxRoute))
			for _, step := range append([]string{"sam ask"}, tt.before...) {
				if err := p.do(step); err != nil {
					t.Fatal(err)
				}
			}
			p.messages = map[string][]byte{}
			if err := p.event(answer(p.c.Outbox[0], `{"ok": true}`)); err != nil {
				t.Fatal(err)
			}
			if got := p.state(); got != tt.state || (p.messages["Answer"] != nil) != tt.kept {
				t.Errorf("%s, kept %s; want %s", got, p.messages["Answer"], tt.state)
			}
			if err := p.do(tt.after); err != nil || p.state() != tt.then {
				t.Errorf("then %s (%v); want %s", p.state(), err, tt.then)
			}
		})
	}
}

// What failed for good waits for whoever administers the route, in whatever
// state the case is.
func TestUndelivered(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "cancel", `sam @Answer {"ok": true}`} {
		p := started(t, parsed(t, outboxRoute))
		for _, step := range []string{"sam ask", before} {
			if err := p.do(step); err != nil {
				t.Fatal(err)
			}
		}
		o := p.c.Outbox[0]
		fail := Undelivered{Seq: o.Seq, Step: o.Step, Attempts: 3, Reason: "a\nlong\x00 story" + strings.Repeat(".", 1000)}
		for range 2 { // the second one tells nothing new
			if err := p.event(fail); err != nil {
				t.Fatal(err)
			}
		}
		name := o.Name()
		if got := p.c.Undone(name); got == nil || got.Attempts != 3 || strings.ContainsAny(got.Fault, "\n\x00") || len(got.Fault) > 510 || len(p.c.Warnings) != 1 || p.c.Warnings[0].Timer != name || p.c.Sending() {
			t.Fatalf("%q: %+v %v", before, got, p.c.Warnings)
		}
		var form map[string]any
		if err := json.Unmarshal(UndoneForm(p.c, p.c.Undone(name), Beside{}), &form); err != nil || form["step"] != "http" || form["state"] != "escalated" || form["action"] != "ask" || form["attempts"] != 3.0 {
			t.Errorf("%v %v", form, err)
		}
		lists := func(who string) (n int) {
			for _, task := range Tasks(p.c, p.r, actorNamed(who)) {
				if task.Failed != nil && task.Lists&OnEscalated != 0 {
					n++
				}
			}
			return n
		}
		if lists("admin") != 1 || lists("sam") != 0 {
			t.Errorf("%q: it is on %d and %d lists", before, lists("admin"), lists("sam"))
		}
		for verb, kind := range map[string]errs.Kind{"sam !retry " + name: errs.NotAllowed, "sam !abort " + name: errs.NotAllowed, "admin !retry ask.0-2": errs.NotFound, "admin !abort x.y": errs.NotFound} {
			if err := p.do(verb); !errs.Is(err, kind) {
				t.Errorf("%s: %v", verb, err)
			}
		}
		if err := p.do("admin !retry " + name); err != nil || p.c.Warnings != nil || !p.c.Sending() || !slices.Contains(p.texts()[len(p.log)-2:], "admin Sent again: http") {
			t.Errorf("%v, %v, %s", err, p.c.Warnings, p.last())
		}
		if err := p.event(fail); err != nil || p.c.Undone(name).Attempts != 6 {
			t.Errorf("%v %+v", err, p.c.Outbox)
		}
		if err := p.do("admin !retry ask"); err != nil || !p.c.Sending() { // the action stands for what it asked for
			t.Errorf("%v %+v", err, p.c.Outbox)
		}
		if err := p.event(fail); err != nil {
			t.Fatal(err)
		}
		if err := p.do("admin !abort " + name); err != nil || p.c.Outbox != nil || p.c.Warnings != nil || !slices.Contains(p.texts()[len(p.log)-2:], "admin Gave up: http") || p.c.Shown() != p.c.Life {
			t.Errorf("%v, %v", err, p.c)
		}
	}
}

// While a case is suspended nothing of it is on a worklist, and nobody
// retries.
func TestUndeliveredWhileSuspended(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, outboxRoute))
	if err := p.do("sam ask"); err != nil {
		t.Fatal(err)
	}
	o := p.c.Outbox[0]
	if err := p.do("admin !suspend"); err != nil {
		t.Fatal(err)
	}
	if err := p.event(Undelivered{Seq: o.Seq, Step: o.Step, Attempts: 1, Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	if n := len(Tasks(p.c, p.r, actorNamed("admin"))) + len(Shares(p.c, p.r)); n != 0 {
		t.Errorf("%d entries", n)
	}
	if err := p.do("admin !retry " + o.Name()); !errs.Is(err, errs.CaseNotOpen) {
		t.Error(err)
	}
}

// An answer that is too long is a failure.
func TestDeliveredTooMuch(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, outboxRoute))
	if err := p.do("sam ask"); err != nil {
		t.Fatal(err)
	}
	if err := p.event(answer(p.c.Outbox[0], strings.Repeat(" ", MaxFact+1))); err != nil || !p.c.Outbox[0].Failed || p.messages["Answer"] != nil {
		t.Errorf("%v %+v", err, p.c.Outbox)
	}
}

// TestRequests looks at what steps ask for, and at what is wrong with them.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, step, want string // JSON, or the log's last line, or the error's kind
	}{
		{"mail", `mail: {to: [starter, "role:boss", core, nobody, x@example.org], subject: "a\nb $__PID__;", text: "t\n"}`, `{"mail":{"to":["x@example.org","sam@example.org","cy@example.org"],"subject":"a b 17","text":"t\n","thread":"5d3c0123456789abcdef0123456789ab","named":["x@example.org"],"members":["cy@example.org"]}}`},
		{"mail without a subject", `mail: {to: [ann]}`, `{"mail":{"to":["ann@example.org"],"subject":"A case","text":"","thread":"5d3c0123456789abcdef0123456789ab"}}`},
		{"mail to nobody", `mail: {to: [dan, bob]}`, "Nobody to send a mail to: A case"},
		{
			"http", `http: {url: "https://h.example/$__TITLE__;/?q=$m;", method: PUT, headers: {A: "x $__TITLE__;\t$m;"}, value: {a: "$__PID__;", b: [1]}}`,
			`{"http":{"method":"PUT","url":"https://h.example/A%20case/?q=a%26b%0Ac%2F","header":{"A":"x A case a\u0026b c/"},"type":"application/json","body":"eyJhIjoiMTciLCJiIjpbMV19"}}`,
		},
		{
			"http of values", `http: {url: "https://h.example/", headers: {N: 5, E: {cel: 'case.title + "\n!"'}, None: , Nor: {cel: "null"}}, value: {a: {cel: "[xattr.n, 1]"}, b: [{c: {cel: "{'d': actor}"}}, "$__PID__;", {cel: 5}, {cel: x, b: 1}]}}`,
			`{"http":{"method":"POST","url":"https://h.example/","header":{"E":"A case !","N":"5"},"type":"application/json","body":"` +
				base64.StdEncoding.EncodeToString([]byte(`{"a":[7,1],"b":[{"c":{"d":"sam"}},"17",{"cel":5},{"cel":"x","b":1}]}`)) + `"}}`,
		},
		{"http of a message", `http: {url: "https://h.example/", from: m}`, `{"http":{"method":"POST","url":"https://h.example/","type":"text/x","body":"YSZiCmMv"}}`},
		{"http with a type", `http: {url: "https://h.example/", from: m, headers: {content-type: text/y}, secret: s}`, `{"http":{"method":"POST","url":"https://h.example/","type":"text/y","body":"YSZiCmMv","secret":"s"}}`},
		{"http of what was written just now", `http: {url: "https://h.example/", from: new}`, `{"http":{"method":"POST","url":"https://h.example/","type":"application/json","body":"WzFd"}}`},
		{"http of nothing", `http: {url: "https://h.example/", from: none}`, "!route-fault"},
		{"http elsewhere", `http: {url: "https://h.example/a/$dots;/b"}`, "!route-fault"},
		{"http by an expression within", `http: {url: "https://h.example/", value: [{a: {cel: "xattr.none"}}]}`, "!route-fault"},
		{"http of what is too long", `http: {url: "https://h.example/", value: ["$long;", "$long;", 1]}`, "!route-fault"},
		{"http by an expression", `http: {url: "https://h.example/", value: {cel: "xattr.none"}}`, "!route-fault"},
		{"exec", `exec: {command: c, args: ["$__PID__;", 5, true, null, {cel: "1 + 1"}], from: m}`, `{"exec":{"name":"c","args":["17","5","true","","2"],"input":"YSZiCmMv","discards":true}}`},
		{"exec of nothing", `exec: {command: c, from: none}`, "!route-fault"},
		{"call", `call: {name: c, value: {cel: "[1, xattr.n]"}}`, `{"call":{"name":"c","case":"CASE","value":"WzEsN10="}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := started(t, parsed(t, `
roles: {clerk: {assign: [starter]}, boss: {assign: [admins]}}
states: {a: {type: start}, b: {}}
actions:
  begin: {trigger: init}
  ask: {in: [a], role: clerk, to: b, onFire: [{message: {label: new, value: [1]}}, {`+tt.step+`}]}
`))
			if err := p.do("sam n=7"); err != nil {
				t.Fatal(err)
			}
			p.messages["m"], p.messages["dots"], p.messages["long"] = []byte("a&b\nc/"), []byte(".."), bytes.Repeat([]byte("x"), MaxFact)
			p.types = map[string]string{"m": "text/x"}
			err := p.do("sam ask")
			var got string
			switch {
			case err != nil:
				got = "!" + string(errs.KindOf(err))
			case p.outbox == nil:
				got = p.log[len(p.log)-2].Text
			default:
				r := p.outbox[0].Request
				if r.Call != nil {
					if !strings.Contains(string(r.Call.Case), `"guid":"5d3c`) || !strings.Contains(string(r.Call.Case), `"xattr":{"n":7}`) {
						t.Errorf("told of the case: %s", r.Call.Case)
					}
					r.Call.Case = []byte{0x08, 0x04, 0x84} // "CASE" in base 64
				}
				form, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				got = string(form)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A case asks for no more than there is room for.
func TestOutboxIsBounded(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, strings.Replace(outboxRoute, "to: asked, side", "side", 1)))
	for range maxOutbox {
		if err := p.do("sam ask"); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.do("sam ask"); !errs.Is(err, errs.RouteFault) || len(p.c.Outbox) != maxOutbox {
		t.Errorf("%v with %d", err, len(p.c.Outbox))
	}
}

// Timers send as actions do, and what they sent bears their name.
func TestTimersReachOutside(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, `
roles: {clerk: {assign: [starter]}}
states: {a: {type: start}, b: {type: complete}}
actions:
  begin: {trigger: init}
  ask: {in: [a], role: clerk, to: b, dueIn: PT5S, onDue: [{mail: {to: [starter], subject: late}}]}
`))
	p.now = p.now.Add(5 * time.Second)
	if err := p.event(Due{}); err != nil || len(p.c.Outbox) != 1 {
		t.Fatalf("%v %+v", err, p.c.Outbox)
	}
	o := p.c.Outbox[0]
	if o.Source != "ask.due" || o.action() != "ask" {
		t.Errorf("%+v", o)
	}
	if err := p.event(Undelivered{Seq: o.Seq, Step: o.Step, Attempts: 1, Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	if err := p.do("admin !retry ask"); err != nil || !p.c.Sending() {
		t.Errorf("%v %+v", err, p.c.Outbox)
	}
}

// The rule call asks a callback; one that fails or knows nobody leaves the
// role to the next rule.
func TestCallRule(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rules, want, log string }{
		{"'call:one'", "ann", ""},
		{"'call:some'", "bob core everyone", "The callback some yields nobody, @admins, which is nobody"},
		{"'call:none', starter", "sam", ""},
		{"'call:broken', starter", "sam", "The callback broken yields nobody: it is broken"},
		{"starter, 'call:broken'", "sam", ""},
	} {
		p := started(t, parsed(t, "roles: {r: {assign: ["+tt.rules+"]}}\nstates: {a: {type: start}}\nactions: {begin: {trigger: init}}\n"))
		if got := strings.Join(p.c.RoleParties("r"), " "); got != tt.want {
			t.Errorf("%s: %s; want %s", tt.rules, got, tt.want)
		}
		if log := strings.Join(p.texts(), "\n"); tt.log != "" && !strings.Contains(log, tt.log) || tt.log == "" && strings.Contains(log, "callback") {
			t.Errorf("%s: the log is\n%s", tt.rules, log)
		}
	}
}

// What a parent's end takes with it can still hear from outside.
func TestOrphansHearFromOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, named(t, "top", `
roles: {r: {assign: [starter]}}
states: {a: {type: start}, b: {}}
actions:
  begin: {trigger: init}
  run: {in: [a], child: {route: sub, roles: {r: {from: r}}}}
  leave: {in: [a], role: r, to: b}
`), named(t, "sub", `
roles: {r: {}}
states: {a: {type: start}}
actions: {begin: {trigger: init, sideEffects: [{http: {url: 'https://h.example/', into: x}}]}}
access: {start: []}
`))
	id := w.start("top", nil)
	child := id + 1
	o := w.cases[child].Outbox[0]
	if err := w.perform(id, "sam", "leave"); err != nil {
		t.Fatal(err)
	}
	if got := w.cases[child]; got.Life != Canceled || len(got.Outbox) != 1 {
		t.Fatalf("%s with %+v", got.Life, got.Outbox)
	}
	if err := w.event(child, answer(o, "{}")); err != nil || w.cases[child].Outbox != nil {
		t.Errorf("%v %+v", err, w.cases[child].Outbox)
	}
}

// outboxAgrees checks what an event did to the outbox against what the case
// knows of it: each delivery is there exactly as long as its row.
func outboxAgrees(before *Case, out *Output) string {
	type key struct{ seq, step int64 }
	rows := map[key]bool{} // whether it is due
	for _, o := range before.Outbox {
		rows[key{o.Seq, o.Step}] = !o.Failed
	}
	for _, p := range out.Outbox {
		_, there := rows[key{p.Seq, p.Step}]
		switch {
		case there == (p.Request != nil):
			return fmt.Sprintf("the outbox cannot take %+v", p)
		case p.Over:
			delete(rows, key{p.Seq, p.Step})
		default:
			rows[key{p.Seq, p.Step}] = !p.Failed
		}
	}
	for _, o := range out.Case.Outbox {
		due, there := rows[key{o.Seq, o.Step}]
		if !there || due == o.Failed {
			return "the outbox has not what the case has: " + o.Name()
		}
		delete(rows, key{o.Seq, o.Step})
	}
	if len(rows) > 0 {
		return fmt.Sprintf("the case does not know of %v", rows)
	}
	for _, w := range out.Case.Warnings {
		if strings.HasPrefix(w.Text, "Not delivered") && out.Case.Undone(w.Timer) == nil {
			return "a warning outlives its delivery: " + w.Timer
		}
	}
	return ""
}
