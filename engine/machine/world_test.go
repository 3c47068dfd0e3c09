package machine

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// world is a store of cases as the shell keeps one: it answers what the core
// asks for, and stores what it decides.
type world struct {
	t      failer
	now    time.Time
	routes map[string]*Definition
	cases  map[int64]*Case
	logs   map[int64][]LogEntry
	plans  map[Enablement]*Plan
	batch  int // of children, 0: as it is
	teams  map[string][]string
	next   int64
	scans  int // how often all children were asked for
	units  int // transactions
	most   int // cases that one of them changed
	loops  int // events that ended one

	tells    bool                // notices are asked for
	watchers map[string][]string // of routes, by name
	notices  []string            // since they were last looked at
}

func newWorld(t failer, routes ...*route.Route) *world {
	w := &world{
		t: t, now: startOfTests(), routes: map[string]*Definition{}, cases: map[int64]*Case{}, logs: map[int64][]LogEntry{},
		plans: map[Enablement]*Plan{}, next: 17,
		teams: map[string][]string{"core": {"bob", "cy"}, "everyone": {"admin", "ann", "bob", "cy", "sam"}, "empty": nil},
	}
	for i, r := range routes {
		w.routes[r.Name] = &Definition{ID: int64(i + 1), Version: 1, Route: r}
	}
	return w
}

// route compiles a definition under a name.
func named(t failer, name, text string) *route.Route {
	t.Helper()
	r := parsed(t, text)
	r.Name = name
	return r
}

// seed makes the seed of a case, and returns its id.
func (w *world) seed(routeName string) int64 {
	def := w.routes[routeName]
	id := w.next
	w.next++
	w.cases[id] = &Case{
		ID: id, GUID: fmt.Sprintf("%032x", id), RouteID: def.ID, RouteName: def.Route.Name, RouteVersion: def.Version,
		Title: "A case", ContextID: 10100, Context: "sam", Starter: "sam", Priority: 200,
	}
	return id
}

// create makes a case and returns its id.
func (w *world) create(routeName string, change func(*Case)) int64 {
	w.t.Helper()
	id := w.seed(routeName)
	if change != nil {
		change(w.cases[id])
	}
	if err := w.event(id, Create{}); err != nil {
		w.t.Fatalf("create: %v", err)
	}
	return id
}

// start makes a case and starts it.
func (w *world) start(routeName string, change func(*Case)) int64 {
	w.t.Helper()
	id := w.create(routeName, change)
	if err := w.event(id, Start{}); err != nil {
		w.t.Fatalf("start: %v", err)
	}
	w.run()
	return id
}

func (w *world) input(id int64, e Event) Input {
	c := w.cases[id]
	return Input{Route: w.definitionOf(c), Case: c, Event: e, Now: w.now, Facts: factsOfTests(), Tell: w.tells, batch: w.batch}
}

func (w *world) definitionOf(c *Case) *route.Route {
	for _, def := range w.routes {
		if def.ID == c.RouteID {
			return def.Route
		}
	}
	w.t.Fatalf("no route %d", c.RouteID)
	return nil
}

// event decides on an event, and stores what it does.
func (w *world) event(id int64, e Event) error {
	w.t.Helper()
	out, err := w.decide(w.input(id, e))
	if err != nil {
		return err
	}
	w.store(out)
	if text := showNotices(out.Notices); text != "" {
		w.notices = append(w.notices, text)
	}
	return nil
}

// decide decides as the shell does, and that equal inputs give equal outputs.
func (w *world) decide(in Input) (*Output, error) {
	w.t.Helper()
	for range 1000 {
		out, needs, err := Decide(in)
		if len(needs) == 0 {
			w.again(in, out, err)
			return out, err
		}
		for _, need := range needs {
			w.answer(&in.Facts, need)
		}
	}
	w.t.Fatal("needs without end")
	return nil, nil
}

// again decides once more.
func (w *world) again(in Input, out *Output, err error) {
	w.t.Helper()
	second, _, errAgain := Decide(in)
	if fmt.Sprint(err) != fmt.Sprint(errAgain) || err == nil && !bytes.Equal(all(in.Route, out), all(in.Route, second)) {
		w.t.Fatalf("%#v twice: %v %v", in.Event, err, errAgain)
	}
}

// all is everything of an output.
func all(r *route.Route, out *Output) []byte {
	b := render(r, out)
	for i := range out.Others {
		other := &out.Others[i]
		b = append(b, render(other.Route, &other.Output)...)
		b = fmt.Append(b, other.New, other.From == nil, len(other.Plans))
	}
	return fmt.Append(b, len(out.Plans), showNotices(out.Notices))
}

func set[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

func (w *world) answer(facts *Facts, need Need) {
	switch {
	case need.Party != "":
		parties := maps.Clone(facts.Parties)
		parties[need.Party] = UserParty
		if _, team := w.teams[need.Party]; team {
			parties[need.Party] = TeamParty
		}
		facts.Parties = parties
	case need.Members != "":
		members, team := w.teams[need.Members]
		if !team {
			members = []string{need.Members}
		}
		set(&facts.Members, need.Members, members)
	case need.Admins != 0:
		set(&facts.Admins, need.Admins, []string{"admin"})
	case need.Watchers != 0:
		var watchers []string
		for name, def := range w.routes {
			if def.ID == need.Watchers {
				watchers = w.watchers[name]
			}
		}
		set(&facts.Watchers, need.Watchers, watchers)
	case need.Route != "":
		set(&facts.Routes, need.Route, w.routes[need.Route])
	case need.Right != StartRight{}:
		set(&facts.Rights, need.Right, StartAnswer{May: w.routes[need.Right.Route] != nil, Administers: true})
	case need.Told != MemberRight{}:
		set(&facts.Told, need.Told, true)
	case need.New > 0:
		for i := int64(len(facts.New)); i < int64(need.New); i++ {
			facts.New = append(facts.New, Identity{w.next + i, fmt.Sprintf("%032x", w.next+i)})
		}
	case need.Room:
		facts.Room = new(int64(1 << 30))
	case need.Size != InputRef{}:
		set(&facts.Sizes, need.Size, Size{})
	case need.Message != "":
		set(&facts.Messages, need.Message, nil)
	case need.Case != 0:
		var relative *RelatedCase
		if c := w.cases[need.Case]; c != nil {
			relative = &RelatedCase{Route: w.definitionOf(c), Case: c}
		}
		set(&facts.Cases, need.Case, relative)
	case need.ChildIDs.Case != 0:
		var ids []int64
		for _, c := range w.childrenOf(need.ChildIDs.Enablement) {
			if c.Life != Closed && c.Life != Canceled && c.ID > need.ChildIDs.After && len(ids) < cmp.Or(w.batch, Batch) {
				ids = append(ids, c.ID)
			}
		}
		set(&facts.ChildIDs, need.ChildIDs, ids)
	case need.Children.Case != 0:
		w.scans++
		var list []Child
		for _, c := range w.childrenOf(need.Children) {
			list = append(list, ChildOf(c))
		}
		set(&facts.Children, need.Children, list)
	case need.Plan.Case != 0:
		set(&facts.Plans, need.Plan, w.plans[need.Plan])
	default:
		w.t.Fatalf("needs %+v", need)
	}
}

func (w *world) childrenOf(of Enablement) []*Case {
	var all []*Case
	for _, c := range w.cases {
		if c.Parent == of.Case && c.ParentEnablement == of.Number {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *Case) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (w *world) store(out *Output) {
	w.units++
	w.most = max(w.most, 1+len(out.Others))
	w.keep(out)
	for i := range out.Others {
		w.keep(&out.Others[i].Output)
		w.next = max(w.next, out.Others[i].Case.ID+1)
	}
}

func (w *world) keep(out *Output) {
	c := out.Case
	stored, err := ReadMarking(c.Marking())
	if err != nil {
		w.t.Fatalf("the marking of case %d: %v", c.ID, err)
	}
	if !bytes.Equal(stored.Marking(), c.Marking()) {
		w.t.Fatalf("the marking of case %d is read as another", c.ID)
	}
	w.cases[c.ID] = stored
	w.logs[c.ID] = append(w.logs[c.ID], out.Log...)
	if slices.ContainsFunc(out.Log, func(l LogEntry) bool { return l.Kind == LogError && strings.Contains(l.Text, "without end") }) {
		w.loops++
	}
	for row, plan := range out.Plans {
		w.plans[Enablement{c.ID, row}] = plan
	}
}

// run does what is due now, and starts what is queued.
func (w *world) run() {
	w.t.Helper()
	const most = 10_000
	for range most {
		id, e := w.upcoming()
		if id == 0 {
			return
		}
		if err := w.event(id, e); err != nil {
			w.t.Fatalf("%T of case %d: %v", e, id, err)
		}
	}
	w.t.Fatal("due without end")
}

// upcoming returns what is to be done now: what is due, else a start; id 0 for
// nothing.
func (w *world) upcoming() (id int64, e Event) {
	for _, next := range slices.Sorted(maps.Keys(w.cases)) {
		c := w.cases[next]
		if due := c.NextDue(); !due.IsZero() && (!due.After(w.now) || !due.After(c.Modified)) { // a clock may go back
			return next, Due{}
		}
		if c.Life == Queued && id == 0 {
			id, e = next, Start{}
		}
	}
	return id, e
}

// perform lets a person perform an action.
func (w *world) perform(id int64, who, action string) error {
	w.t.Helper()
	err := w.event(id, Perform{Action: action, Actor: actorNamed(who)})
	if err == nil {
		w.run()
	}
	return err
}

func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.now = w.now.Add(d)
	w.run()
}

// show says where a case and its children are, as in
// "active voting | vote; 18 active open, 19 completed approved".
func (w *world) show(id int64) string {
	c := w.cases[id]
	r := w.definitionOf(c)
	out := strings.TrimSpace(fmt.Sprintf("%s %s", c.Life, c.Status))
	if pending := enabledFor(c, r, engine); len(pending) > 0 {
		out += " | " + strings.Join(pending, " ")
	}
	var children []string
	for i := range c.Children {
		l := &c.Children[i]
		children = append(children, strings.TrimSpace(fmt.Sprintf("%d %s %s", l.ID, l.Life, l.Status)))
	}
	if children != nil {
		out += "; " + strings.Join(children, ", ")
	}
	return out
}

func refusal(err error) string {
	if err == nil {
		return ""
	}
	return string(errs.KindOf(err))
}

func tip(tb testing.TB) *world {
	tb.Helper()
	return newWorld(tb, named(tb, "tip", `
roles: {submitter: {assign: [starter]}, voter: {assign: ['team:core', starter]}}
states: {proposed: {type: start}, voting: {}, withdrawn: {type: cancelled}, approved: {type: complete}, rejected: {type: denied}}
actions:
  propose: {trigger: init}
  vote:
    in: [proposed]
    child: {route: tip-vote, roles: {voter: {from: voter, each: per_user}}, while: voting, complete: "tally.status.rejected > 2"}
    decide: >-
      tally.status.rejected == 0 && tally.status.approved > 0 ? "approved"
      : (3 * tally.status.approved >= 2 * (tally.total - tally.canceled) && tally.total > tally.canceled ? "approved" : "rejected")
    outputs: {approved: approved, rejected: rejected}
  withdraw: {in: [proposed, voting], role: submitter, to: withdrawn}
`), named(tb, "tip-vote", `
roles: {voter: {}}
states: {open: {type: start}, approved: {type: complete}, rejected: {type: denied}, abstained: {type: complete}}
actions:
  open: {trigger: init}
  approve: {in: [open], type: approve, role: voter, to: approved}
  reject: {in: [open], role: voter, to: rejected}
  abstain: {in: [open], role: voter, to: abstained}
  no-vote: {trigger: time, in: [open], timeout: P7D, to: abstained}
access: {start: []}
`))
}
