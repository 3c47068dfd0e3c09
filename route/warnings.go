package route

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// codeWarning marks what is legal and probably not meant.
const codeWarning errs.Code = "warning"

// warnings returns what is legal in a route and probably not meant
// (docs/contract/routes.md#7-errors-and-warnings), in the order of the
// document.
func warnings(c *compiler) []errs.Fault {
	r := c.route
	w := warner{route: r, root: document.Root(c.node, &document.Faults{}), others: c.others}
	w.roles()
	w.needs()
	if r.Model == FSM {
		w.states()
		w.endings()
		w.revisits()
		w.loops()
		w.unawaited()
	}
	w.actions()
	w.types()
	w.dependencies()
	w.uses(c.uses)
	w.starts(c.starts)
	w.outsides(c.outsides)
	w.children()
	w.parentRoles()
	w.tallies()
	w.repeats()
	w.repeatsInTime()
	w.forms()
	w.formTypes()
	w.titles()
	w.endless(c.starts)
	all := merge(nil, w.root.Faults.List())
	return all[:min(len(all), mostFaults)]
}

type warner struct {
	route  *Route
	root   document.Value
	others Others
}

func (w *warner) warn(v document.Value, format string, args ...any) {
	v.Fail(codeWarning, format, args...)
}

func (w *warner) state(i int) document.Value {
	return w.root.Get("states").Get(w.route.States[i].Name)
}

func (w *warner) action(i int) document.Value {
	return w.root.Get("actions").Get(w.route.Actions[i].Name)
}

// enabled reports whether the action is enabled in the state.
func (a *Action) enabled(state int) bool {
	return a.Trigger != TriggerInit && (a.Always || a.In.Has(state) || a.EnabledIn.Has(state) || a.Child != nil && a.Child.While == state)
}

// destinations returns the states that performing the action in the state
// can lead to.
func (r *Route) destinations(a *Action, state int) []int {
	var out []int
	if a.To != NoState {
		out = append(out, a.To)
	}
	for _, output := range a.Outputs {
		if output.To != NoState {
			out = append(out, output.To)
		}
	}
	if a.Child != nil && a.Child.While != NoState {
		out = append(out, a.Child.While)
	}
	if a.OnError != nil && a.OnError.To != NoState {
		out = append(out, a.OnError.To)
	}
	for _, t := range a.Transitions {
		if r.Transitions[t].From == state && r.Transitions[t].To != NoState {
			out = append(out, r.Transitions[t].To)
		}
	}
	return out
}

// leaves reports whether the action leads from the state to another one.
func (r *Route) leaves(a *Action, state int) bool {
	return a.enabled(state) && slices.ContainsFunc(r.destinations(a, state), func(to int) bool { return to != state })
}

// roles warns of roles that no one can fill: no rule yields a party, no step
// assigns the role, no one may be chosen, and no parent fills it. A route that no
// one may start is a child of another, which fills its roles.
func (w *warner) roles() {
	r := w.route
	if r.Access.Start != nil && len(r.Access.Start) == 0 {
		return
	}
	filled := r.filled(w.parents(), true)
	for i := range r.Roles {
		if name := r.Roles[i].Name; !filled[name] {
			w.warn(w.root.Get("roles").Get(name), "no one can fill this role: no rule in assign yields a user, and there is no pick. If the cases are children of another route, say access: {start: []}")
		}
	}
}

// filled returns the roles that somebody can fill: rules and steps of the route, its
// parents and, if there is one who may pick, the starter.
func (r *Route) filled(parents []*Route, picks bool) map[string]bool {
	filled := map[string]bool{}
	r.hasStep(func(s *Step) bool {
		if s.Verb == StepAssign && s.Role != "" {
			filled[s.Role] = true
		}
		return false // look at all of them
	})
	for _, parent := range parents {
		for i := range parent.Actions {
			if child := parent.Actions[i].Child; child != nil && strings.EqualFold(child.Route, r.Name) {
				for _, role := range child.Roles {
					filled[role.Role] = true
				}
			}
		}
	}
	for range r.Roles { // a chain of roles is at most as long as there are roles
		before := len(filled)
		for i := range r.Roles {
			role := &r.Roles[i]
			if picks && len(role.Pick) > 0 || slices.ContainsFunc(role.Assign, func(rule Rule) bool { return rule.Kind != RuleRole || filled[rule.Arg] }) {
				filled[role.Name] = true
			}
		}
		if len(filled) == before {
			break
		}
	}
	return filled
}

// states warns of states that no case comes to, and of such as no case comes
// out of without being complete.
func (w *warner) states() {
	r := w.route
	reached := w.reachable()
	for i := range r.States {
		s := &r.States[i]
		if !reached.Has(i) {
			w.warn(w.state(i), "no action leads to this state")
			continue
		}
		if !s.Complete && !slices.ContainsFunc(r.Actions, func(a Action) bool { return r.leaves(&a, i) }) {
			w.warn(w.state(i), "is a dead end: it is not complete, and no action leads out of it")
		}
	}
}

// reachable returns the states that actions lead to from the start.
func (w *warner) reachable() StateSet {
	r := w.route
	var reached StateSet
	next := r.destinations(&r.Actions[r.Init], NoState)
	if len(next) == 0 {
		next = []int{r.Start}
	}
	if r.OnError != nil && r.OnError.To != NoState {
		next = append(next, r.OnError.To)
	}
	if init := r.Actions[r.Init].OnError; init != nil && init.To != NoState {
		next = append(next, init.To)
	}
	for _, state := range next {
		reached.Add(state)
	}
	for len(next) > 0 {
		state := next[0]
		next = next[1:]
		for i := range r.Actions {
			if a := &r.Actions[i]; a.enabled(state) {
				for _, to := range r.destinations(a, state) {
					if !reached.Has(to) {
						reached.Add(to)
						next = append(next, to)
					}
				}
			}
		}
	}
	return reached
}

// actions warns of actions that are never enabled, of actions that reopen a
// complete state without saying so, and of parties in actions that the engine
// performs. A state of the type failed is there to be left.
func (w *warner) actions() {
	r := w.route
	for i := range r.Actions {
		a, v := &r.Actions[i], w.action(i)
		if a.Trigger == TriggerInit {
			w.ineffective(v, "the action is performed once, when the case starts", "role", "allowed", "timeout", "type", "distinct", "resolutions", "enableIf", "guard", "after", "max", "onEnable", "onUnEnable")
			w.ineffective(v, "nobody is asked when a case starts; what a start gives is declared in xattrs, with required: true if it must", "form")
			continue
		}
		if a.Trigger != TriggerUser {
			w.ineffective(v, "only the engine performs the action", "role", "allowed", "form", "resolutions", "distinct", "type", "onDue", "onOfferTimeout")
		}
		for _, timer := range [][2]string{{"onDue", "dueIn"}, {"onOfferTimeout", "offerTimeout"}} {
			if a.Trigger == TriggerUser && v.Get(timer[0]).Given() && !v.Get(timer[1]).Given() {
				w.warn(v.Get(timer[0]), "has no effect unless somebody sets that timer of the task: there is no %s", timer[1])
			}
		}
		if r.Model == Dependency {
			continue
		}
		enabled := false
		var complete []string
		for state := range r.States {
			enabled = enabled || a.enabled(state)
			if s := &r.States[state]; s.Complete && s.Type != StateFailed && a.Type != typeRestart && r.leaves(a, state) {
				complete = append(complete, s.Name)
			}
		}
		if !enabled {
			w.warn(v, "is never enabled: it names no state in in or enabledIn, and is not always")
		}
		if len(complete) > 0 {
			w.warn(v, "leads out of a complete state (%s): if it is to reopen the case, say type: restart", strings.Join(complete, ", "))
		}
	}
}

// types warns of actions that submission by type cannot tell apart: they have
// one type, one role and one state.
func (w *warner) types() {
	type place struct {
		typ, role string
		state     int
	}
	r := w.route
	first := map[place]int{}
	for i := range r.Actions {
		a := &r.Actions[i]
		if a.Type == "" || a.Trigger != TriggerUser {
			continue
		}
		for _, role := range a.Roles {
			states := []int{NoState}
			if r.Model == FSM {
				states = nil
				for state := range r.States {
					if a.enabled(state) {
						states = append(states, state)
					}
				}
			}
			for _, state := range states {
				key := place{a.Type, role, state}
				other, taken := first[key]
				if !taken {
					first[key] = i
				} else if other != i {
					w.warn(w.action(i).Get("type"), "%q has the same type, role and state: submitting by type performs the first of them", r.Actions[other].Name)
					break
				}
			}
		}
	}
}

// dependencies warns of actions that wait for more than can be.
func (w *warner) dependencies() {
	for i := range w.route.Actions {
		for _, after := range w.route.Actions[i].After {
			other := &w.route.Actions[after.Action]
			if other.Max > 0 && after.Min > other.Max {
				w.warn(w.action(i).Get("after"), "is never fulfilled: %q can be performed %d times, not %d", other.Name, other.Max, after.Min)
			}
		}
	}
}

// ineffective warns of keys that change nothing.
func (w *warner) ineffective(v document.Value, why string, keys ...string) {
	for _, key := range keys {
		if v.Get(key).Given() {
			w.warn(v.Get(key), "has no effect: %s", why)
		}
	}
}

// mostWork bounds the search for automatic loops, by the actions that wait at
// each step. What is not found within it is not proven.
const mostWork = 1_000_000

// loops warns of automatic actions that follow each other without end. From a
// state at rest the engine performs automatic actions in the order of their
// enablement (docs/contract/engine.md#a-pass), so following it is exact: there
// is a loop if a state and its waiting actions come back as they were.
func (w *warner) loops() {
	r := w.route
	if r.intervenes() {
		return
	}
	automatic := w.automatic()
	known := map[string]bool{}  // situations that were followed to their end
	warned := map[string]bool{} // loops by the actions in them
	work := 0
	for state := range r.States {
		at := situation{state: state, waiting: slices.Clone(automatic[state])}
		path := map[string]int{}
		var performed []int
		for len(at.waiting) > 0 && at.certain(r) && work < mostWork {
			work += len(at.waiting)
			key := at.key()
			if from, again := path[key]; again {
				w.loop(performed[from:], warned)
				break
			}
			if known[key] {
				break
			}
			known[key] = true
			path[key] = len(performed)
			performed = append(performed, at.perform(r, automatic))
		}
	}
}

// automatic returns, for each state, what performs itself at once in it.
func (w *warner) automatic() [][]int {
	r := w.route
	out := make([][]int, len(r.States))
	for i := range r.Actions {
		a := &r.Actions[i]
		if a.Trigger != TriggerAuto && (a.Timeout == nil || !a.Timeout.IsZero()) {
			continue
		}
		for state := range r.States {
			if a.enabled(state) {
				out[state] = append(out[state], i)
			}
		}
	}
	return out
}

// conditional reports whether more than the state decides what the action
// does and when.
func (a *Action) conditional() bool {
	return a.Guard != nil || a.EnableIf != nil || a.Decide != nil || len(a.After) > 0 || a.Max > 0 || a.Choice != "" || len(a.Transitions) > 0 || a.Child != nil
}

// intervenes reports whether some step has a hand in what is performed.
func (r *Route) intervenes() bool {
	return r.hasStep(func(s *Step) bool { return s.Action != NoAction || s.Verb == StepCancel })
}

// hasStep reports whether any handler has such a step.
func (r *Route) hasStep(such func(*Step) bool) bool {
	has := func(lists ...[]Step) bool {
		return slices.ContainsFunc(lists, func(steps []Step) bool {
			return slices.ContainsFunc(steps, func(s Step) bool { return such(&s) })
		})
	}
	return has(r.SideEffects, r.OnTimeout, r.OnError.steps()) ||
		slices.ContainsFunc(r.Timers, func(t Timer) bool { return has(t.OnExpire) }) ||
		slices.ContainsFunc(r.States, func(s State) bool { return has(s.OnEnter, s.OnTimeout) }) ||
		slices.ContainsFunc(r.Transitions, func(t Transition) bool { return has(t.OnFollow) }) ||
		slices.ContainsFunc(r.Actions, func(a Action) bool {
			return has(a.OnEnable, a.OnUnEnable, a.OnFire, a.SideEffects, a.OnOfferTimeout, a.OnDue, a.OnError.steps())
		})
}

// certain reports whether nothing that waits is conditional: what will be
// performed is known.
func (s *situation) certain(r *Route) bool {
	return !slices.ContainsFunc(s.waiting, func(i int) bool { return r.Actions[i].conditional() })
}

// situation is a state with the automatic actions that wait in it, in the
// order in which they became enabled.
type situation struct {
	state   int
	waiting []int
}

func (s *situation) key() string {
	key := binary.AppendUvarint(make([]byte, 0, 2*len(s.waiting)+2), uint64(s.state))
	for _, action := range s.waiting {
		key = binary.AppendUvarint(key, uint64(action))
	}
	return string(key)
}

// perform does the first action that waits and returns it. What is not enabled
// in the state that follows is let go of, and what is becomes enabled.
func (s *situation) perform(r *Route, automatic [][]int) int {
	first := s.waiting[0]
	if to := r.Actions[first].To; to != NoState {
		s.state = to
	}
	stays := make(map[int]bool, len(s.waiting))
	var waiting []int
	for _, action := range s.waiting[1:] {
		if r.Actions[action].enabled(s.state) {
			stays[action] = true
			waiting = append(waiting, action)
		}
	}
	for _, action := range automatic[s.state] {
		if !stays[action] {
			waiting = append(waiting, action)
		}
	}
	s.waiting = waiting
	return first
}

// loop warns of a loop, once for the same actions.
func (w *warner) loop(performed []int, warned map[string]bool) {
	members := slices.Compact(slices.Sorted(slices.Values(performed)))
	if key := fmt.Sprint(members); !warned[key] {
		warned[key] = true
		names := make([]string, len(members))
		for i, action := range members {
			names[i] = w.route.Actions[action].Name
		}
		w.warn(w.action(members[0]), "is part of a loop that never ends by itself: %s", strings.Join(names, ", "))
	}
}
