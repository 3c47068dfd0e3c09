package machine

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// start is when every test begins.
func startOfTests() time.Time { return time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC) }

// act is an action as the tests write it: states are named, in a list with
// blanks.
type act struct {
	name, in, enabledIn, to string
	trigger                 route.Trigger
	always                  bool
	roles                   []string
	allowed                 []route.Allowed
	timeout                 string
	title, past             string
}

// failer is what testing.TB and rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// makeRoute compiles a route. States are names, the first is the start;
// "closed!" is a complete one. The init action is "open" unless there is
// one.
func makeRoute(tb failer, roles []route.Role, states string, acts ...act) *route.Route {
	tb.Helper()
	r := &route.Route{Name: "test", Title: "Test", Model: route.FSM, Priority: route.DefaultPriority, Roles: roles}
	for i, name := range strings.Fields(states) {
		s := route.State{Name: strings.TrimSuffix(name, "!"), Type: route.StateNormal}
		if i == 0 {
			s.Type = route.StateStart
		}
		if strings.HasSuffix(name, "!") {
			s.Type, s.Complete = route.StateComplete, true
		}
		r.States = append(r.States, s)
	}
	if !slices.ContainsFunc(acts, func(a act) bool { return a.trigger == route.TriggerInit }) {
		acts = append([]act{{name: "open", past: "Opened", trigger: route.TriggerInit, to: r.States[0].Name}}, acts...)
	}
	for i, a := range acts {
		out := route.Action{
			Name: a.name, Title: a.title, Past: a.past, Trigger: a.trigger, Always: a.always,
			In: stateSet(tb, r, a.in), EnabledIn: stateSet(tb, r, a.enabledIn),
			Roles: a.roles, Allowed: a.allowed, To: route.NoState,
		}
		if a.trigger == "" {
			out.Trigger = route.TriggerUser
		}
		if a.trigger == route.TriggerInit {
			r.Init = i
		}
		if a.to != "" {
			out.To = r.State(a.to)
		}
		if a.timeout != "" {
			d, err := clock.ParseDuration(a.timeout)
			if err != nil {
				tb.Fatal(err)
			}
			out.Timeout = &d
		}
		r.Actions = append(r.Actions, out)
	}
	return r
}

func stateSet(tb failer, r *route.Route, names string) (set route.StateSet) {
	tb.Helper()
	for _, name := range strings.Fields(names) {
		i := r.State(name)
		if i == route.NoState {
			tb.Fatalf("no state %q", name)
		}
		set.Add(i)
	}
	return set
}

func role(name string, rules ...route.Rule) route.Role { return route.Role{Name: name, Assign: rules} }

func rule(kind route.RuleKind, arg string) route.Rule { return route.Rule{Kind: kind, Arg: arg} }

func allowRoles(names ...string) (out []route.Allowed) {
	for _, n := range names {
		out = append(out, route.Allowed{Kind: route.AllowedRole, Name: n})
	}
	return out
}

// bug is a bug report: opened, resolved, closed and reopened, with two actions
// that are enabled in every state.
func bug(tb testing.TB) *route.Route {
	tb.Helper()
	both := allowRoles("submitter", "assignee")
	return makeRoute(tb, []route.Role{
		role("submitter", rule(route.RuleStarter, "")),
		role("assignee", rule(route.RuleUser, "admin")),
	},
		"open resolved closed!",
		act{name: "open", past: "Opened", trigger: route.TriggerInit, to: "open"},
		act{name: "comment", past: "Commented", always: true, allowed: both},
		act{name: "edit", past: "Edited", always: true, allowed: both},
		act{name: "resolve", past: "Resolved", in: "open", enabledIn: "resolved", roles: []string{"assignee"}, to: "resolved"},
		act{name: "reopen", past: "Reopened", enabledIn: "resolved closed", allowed: allowRoles("submitter"), to: "open"},
		act{name: "close", past: "Closed", in: "resolved", roles: []string{"submitter"}, to: "closed"},
	)
}

// everybody allows an action to all.
func everybody() []route.Allowed { return []route.Allowed{{Kind: route.AllowedEveryone}} }

// people of the tests: sam, ann and bob; bob is in the team core; admin
// administers the route.
func actorNamed(name string) Actor {
	a := Actor{Name: name, Contexts: []string{name, "everyone"}, RouteAdmin: name == "admin"}
	if name == "bob" || name == "cy" {
		a.Contexts = append(a.Contexts, "core")
	}
	return a
}

func factsOfTests() Facts {
	return Facts{Parties: map[string]PartyKind{
		"sam": UserParty, "ann": UserParty, "bob": UserParty, "cy": UserParty, "dan": UserParty, "admin": UserParty, "core": TeamParty, "everyone": TeamParty, "nobody": NoParty,
	}}
}

func membersOfTests() map[string][]string {
	return map[string][]string{
		"sam": {"sam"}, "ann": {"ann"}, "bob": {"bob"}, "cy": {"cy"}, "dan": {}, "admin": {"admin"}, "core": {"bob", "cy"},
		"everyone": {"admin", "ann", "bob", "cy", "sam"}, "nobody": nil,
	}
}

func emailsOfTests() map[string]string {
	return map[string]string{"sam": "sam@example.org", "ann": "ann@example.org", "cy": "cy@example.org", "admin": "Sam@example.org"}
}

// calledOfTests is what the callbacks of the tests yield.
func calledOfTests(call Call) Called {
	switch call.Name {
	case "one":
		return Called{Names: []string{"ann"}}
	case "some":
		return Called{Names: []string{"nobody", "bob", "core", "@admins", "everyone", "bob"}}
	case "none":
		return Called{}
	}
	return Called{Fault: "it is\nbroken"}
}

func seed() *Case {
	return &Case{
		ID: 17, GUID: "5d3c0123456789abcdef0123456789ab", RouteID: 12, RouteName: "test", RouteVersion: 3,
		Title: "A case", ContextID: 10100, Context: "sam", Starter: "sam", Priority: 200,
	}
}

// play is one case on its way. Every event is checked against what must
// always hold.
type play struct {
	broke, mended []Failure // of the last event
	t             testing.TB
	r             *route.Route
	c             *Case
	now           time.Time
	log           []LogEntry

	messages  map[string][]byte // as the shell would store them
	types     map[string]string
	outbox    []Posting
	performed string // by the last event
	room      *int64 // how much the starter may store; nil: as much as is asked for
}

// parsed compiles a route as people write it.
func parsed(tb failer, text string) *route.Route {
	tb.Helper()
	n, err := document.ParseYAML([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	r, _, err := route.Parse("test", n)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// resolve decides as the shell does: what the core needs is looked up.
func resolve(tb failer, in Input, messages map[string][]byte) (*Output, error) {
	tb.Helper()
	for range 50 {
		out, needs, err := Decide(in)
		if len(needs) == 0 {
			return out, err
		}
		facts := in.Facts
		facts.Members, facts.Messages = maps.Clone(facts.Members), maps.Clone(facts.Messages)
		facts.Emails, facts.Called = maps.Clone(facts.Emails), maps.Clone(facts.Called)
		for _, need := range needs {
			switch {
			case need.Room:
				facts.Room = new(int64(1 << 30))
			case need.Size != InputRef{}:
				set(&facts.Sizes, need.Size, Size{})
			case need.Message != "":
				set(&facts.Messages, need.Message, messages[need.Message])
			case need.Members != "":
				set(&facts.Members, need.Members, membersOfTests()[need.Members])
			case need.Email != "":
				set(&facts.Emails, need.Email, emailsOfTests()[need.Email])
			case need.Admins != 0:
				facts.Admins = map[int64][]string{need.Admins: {"admin"}}
			case need.Call.Name != "":
				set(&facts.Called, need.Call, calledOfTests(need.Call))
			default:
				tb.Fatalf("%T needs %v", in.Event, needs)
			}
		}
		in.Facts = facts
	}
	tb.Fatal("needs without end")
	return nil, nil
}

func newPlay(tb testing.TB, r *route.Route) *play {
	tb.Helper()
	p := &play{t: tb, r: r, c: seed(), now: startOfTests(), messages: map[string][]byte{}}
	if err := p.event(Create{}); err != nil {
		tb.Fatal(err)
	}
	return p
}

// started returns a case on which Start was tried.
func started(tb testing.TB, r *route.Route) *play {
	tb.Helper()
	p := newPlay(tb, r)
	if err := p.event(Start{}); err != nil {
		tb.Fatal(err)
	}
	return p
}

func (p *play) event(e Event) error {
	p.t.Helper()
	in := Input{Route: p.r, Case: p.c, Event: e, Now: p.now, Facts: factsOfTests()}
	in.Facts.Types = p.types
	before := string(p.c.Marking())
	in.Facts.Room = p.room
	out, err := resolve(p.t, in, p.messages)
	if got := string(p.c.Marking()); got != before {
		p.t.Fatalf("%T changed the case it was given:\n got %s\nwant %s", e, got, before)
	}
	if err != nil {
		return err
	}
	if err := consistent(p.r, p.c, out); err != "" {
		p.t.Fatalf("after %T: %s", e, err)
	}
	p.c, p.performed = out.Case, out.Performed
	p.broke, p.mended = out.Failures, out.Mended
	p.log = append(p.log, out.Log...)
	p.outbox = append(p.outbox, out.Outbox...)
	for _, m := range out.Messages {
		p.messages[m.Label] = m.Content
	}
	return nil
}

// do carries out a step as the tables write it: "start", "due", "wake",
// "cancel", "+1s" (time passes), "+1s due", "sam resolve", "sam resolve
// fixed" (a resolution), "admin !skip resolve", "sam !delegate resolve ann", "sam !suspend 48h", "sam @label content" (writes
// a message) or "sam n=5" (changes an XATTR).
func (p *play) do(step string) error {
	p.t.Helper()
	if rest, ok := strings.CutPrefix(step, "+"); ok {
		wait, rest, _ := strings.Cut(rest, " ")
		d, err := time.ParseDuration(wait)
		if err != nil {
			p.t.Fatal(err)
		}
		p.now = p.now.Add(d)
		step = rest
	}
	actor, action, performs := strings.Cut(step, " ")
	switch {
	case step == "":
		return nil
	case performs:
		return p.by(actorNamed(actor), action)
	case step == "start":
		return p.event(Start{})
	case step == "due":
		return p.event(Due{})
	case step == "wake":
		return p.event(Wake{Actor: actorNamed("sam"), Label: "InputMessage"})
	case step == "cancel":
		return p.event(Cancel{Actor: actorNamed("sam")})
	}
	p.t.Fatalf("no such step: %q", step)
	return nil
}

// by does what a person does.
func (p *play) by(actor Actor, what string) error {
	p.t.Helper()
	word, rest, _ := strings.Cut(what, " ")
	if key, value, is := strings.Cut(what, "="); is {
		v := label.Value{Kind: document.Number, Text: value}
		if value == "" || value[0] > '9' {
			v = label.Text(value)
		}
		dict := p.c.Xattrs.Set(key, v)
		return p.event(Edit{Actor: actor, Xattrs: &dict})
	}
	if name, is := strings.CutPrefix(word, "@"); is {
		p.messages[name] = []byte(rest)
		return p.event(Wake{Actor: actor, Label: name})
	}
	switch word {
	case "!skip":
		action, output, _ := strings.Cut(rest, " ")
		return p.event(Skip{Action: action, Actor: actor, Output: output})
	case "!abort":
		return p.event(Abort{Action: rest, Actor: actor})
	case "!suspend":
		e := Suspend{Actor: actor}
		if rest != "" {
			d, err := time.ParseDuration(rest)
			if err != nil {
				p.t.Fatal(err)
			}
			e.Until = p.now.Add(d)
		}
		return p.event(e)
	case "!resume":
		return p.event(Resume{Actor: actor})
	case "!reopen":
		return p.event(Reopen{Actor: actor})
	case "!cancel":
		return p.event(Cancel{Actor: actor})
	case "!retry":
		return p.event(Retry{Action: rest, Actor: actor})
	case "!accept":
		return p.event(Accept{Action: rest, Actor: actor})
	case "!release":
		return p.event(Release{Action: rest, Actor: actor})
	case "!reject":
		return p.event(Reject{Action: rest, Actor: actor})
	case "!delegate":
		action, to, _ := strings.Cut(rest, " ")
		return p.event(Delegate{Action: action, Actor: actor, To: to})
	}
	return p.event(Perform{Action: word, Actor: actor, Resolution: rest})
}

// state renders the case as the tables expect it: life and status, then what
// people may do, then after "|" what is pending.
func (p *play) state() string {
	out := string(p.c.Life) + " " + p.c.Status + ":"
	for _, a := range enabledFor(p.c, p.r, people) {
		out += " " + a
	}
	if pending := enabledFor(p.c, p.r, engine); len(pending) > 0 {
		out += " | " + strings.Join(pending, " ")
	}
	return out
}

// texts renders the log: actor and text of each entry.
func (p *play) texts() (out []string) {
	for _, e := range p.log {
		actor := "-"
		if e.Actor != nil {
			actor = *e.Actor
		}
		out = append(out, actor+" "+e.Text)
	}
	return out
}

type step struct{ do, want string }

// script runs the steps; want is a state, or a kind of error after "!".
func (p *play) script(steps []step) {
	p.t.Helper()
	for i, s := range steps {
		err := p.do(s.do)
		got := p.state()
		if err != nil {
			got = "!" + string(errs.KindOf(err))
		}
		if got != s.want {
			p.t.Fatalf("step %d, %q:\n got %s\nwant %s\n err %v", i+1, s.do, got, s.want, err)
		}
	}
}

// consistent returns what is wrong with an Output, "" for nothing: what
// holds after every event (docs/contract/engine.md#7-what-must-hold).
func consistent(r *route.Route, before *Case, out *Output) string {
	c := out.Case
	if c == before {
		return "the output is the very case that was given"
	}
	if diff := cmp.Diff(before, c); (diff != "") != (c.Version == before.Version+1) || (diff != "") != (c.Revision == before.Revision+1) {
		return "version and revision do not count the change: " + diff
	}
	if len(out.Log) != int(c.LogSeq-before.LogSeq) {
		return "the log has other entries than numbers"
	}
	for i, e := range out.Log {
		if e.Seq != before.LogSeq+int64(i)+1 || !e.Time.Equal(c.Modified) || e.Text == "" {
			return "a log entry is wrong: " + string(LogText([]LogEntry{e}))
		}
	}
	if c.Modified.Before(before.Modified) {
		return "modified went back"
	}
	if wrong := outboxAgrees(before, out); wrong != "" {
		return wrong
	}
	if wrong := timersAgree(r, before, out); wrong != "" {
		return wrong
	}
	read, err := ReadMarking(c.Marking())
	if err != nil {
		return err.Error()
	}
	if diff := cmp.Diff(c, read); diff != "" {
		return "the marking is not the case (-case +read): " + diff
	}
	return rowsAgree(r, c)
}

// rowsAgree checks the rows against the rest of the case, with a model of its
// own (docs/contract/engine.md#wanted).
func rowsAgree(r *route.Route, c *Case) string {
	wanted := map[string]bool{}
	if (c.SuspendedSelf || !c.SuspendedUntil.IsZero()) && c.Life != Suspended {
		return "a mark outlives the suspension"
	}
	if c.Life == Suspended {
		return suspendedAgrees(r, c)
	}
	if c.Life == Active || c.Life == Completed {
		if wrong := lifeAgrees(r, c); wrong != "" {
			return wrong
		}
		for i := range r.Actions {
			wanted[r.Actions[i].Name] = isWanted(r, c, &r.Actions[i])
		}
	}
	last := int64(0)
	for _, e := range c.Enabled {
		if !wanted[e.Action] {
			return e.Action + " is enabled and not wanted, or twice"
		}
		delete(wanted, e.Action)
		if e.Number <= last || e.Number > c.LastNumber {
			return e.Action + " has a row out of order"
		}
		last = e.Number
		if e.State == Escalated && !e.Due.IsZero() {
			return e.Action + " is escalated and due"
		}
		if wrong := offerAgrees(r, &e); wrong != "" {
			return e.Action + wrong
		}
	}
	for name, w := range wanted {
		if w && r.Actions[r.Action(name)].EnableIf == nil {
			return name + " is wanted and not enabled"
		}
	}
	for _, w := range c.Warnings {
		if w.Enablement != 0 && !slices.ContainsFunc(c.Enabled, func(e Enabled) bool { return e.Number == w.Enablement }) {
			return "a warning outlives its row: " + w.Text
		}
	}
	return ""
}

// suspendedAgrees checks a suspended case: its rows are as the last pass left
// them, each of an action of the route, and nothing is due but its date.
func suspendedAgrees(r *route.Route, c *Case) string {
	seen := map[string]bool{}
	for _, e := range c.Enabled {
		if seen[e.Action] || r.Action(e.Action) == route.NoAction {
			return e.Action + " has two rows, or is nothing of the route"
		}
		seen[e.Action] = true
	}
	if !c.NextDue().Equal(c.SuspendedUntil) || !c.SuspendedSelf {
		return "a suspended case is due " + c.NextDue().String()
	}
	return ""
}

// offerAgrees checks what is known of a task against its state.
func offerAgrees(r *route.Route, e *Enabled) string {
	user := r.Actions[r.Action(e.Action)].Trigger == route.TriggerUser
	switch accepted := e.State == Accepted; {
	case accepted != (e.By != "") || !accepted && (e.For != "" || e.Withdrew != nil):
		return " is " + string(e.State) + " and accepted by " + e.By
	case !user && (accepted || e.To != "" || e.Rejected != nil):
		return " is the engine's and a task of people"
	}
	return ""
}

func lifeAgrees(r *route.Route, c *Case) string {
	complete := false
	if r.Model == route.FSM {
		complete = r.States[r.State(c.Status)].Complete
	} else {
		finals := 0
		for _, a := range r.Actions {
			if a.Final {
				finals++
				complete = complete || c.count(a.Name) > 0
			}
		}
		complete = complete || finals == 0 && len(c.Enabled) == 0
		complete = complete || finals == 0 && c.Life == Completed
	}
	if complete != (c.Life == Completed) || complete == c.Completed.IsZero() {
		return "life " + string(c.Life) + " in " + c.Status
	}
	return ""
}

func isWanted(r *route.Route, c *Case, a *route.Action) bool {
	status := r.State(c.Status)
	here := a.Always || a.In.Has(status) || a.EnabledIn.Has(status)
	if r.Model == route.Dependency {
		here = c.Life != Completed || a.Always
	}
	for _, after := range a.After {
		here = here && c.count(r.Actions[after.Action].Name) >= after.Min
	}
	return here && a.Trigger != route.TriggerInit && (a.Max == 0 || c.count(a.Name) < a.Max) &&
		!slices.Contains(c.Withdrawn, a.Name) && (len(a.Transitions) == 0 || !slices.Contains(c.Done, a.Name))
}
