package route

import (
	"slices"
	"strings"

	"flowdrive/internal/document"
)

// repeats warns of actions that have children again as soon as these are finished:
// what they lead to is where they are enabled.
func (w *warner) repeats() {
	r := w.route
	for i := range r.Actions {
		a := &r.Actions[i]
		if a.Child == nil || a.Max > 0 || a.isConditional() || len(a.Transitions) > 0 {
			continue
		}
		const without = "starts its cases again, without end, as soon as they are finished: say "
		if r.Model == Dependency && !a.Final { // there max is 1 unless the route says otherwise
			w.warn(w.action(i).Get("child"), without+"max: 1, or after or guard")
		}
		for state := range r.States {
			if a.begins(state) && a.returns(r, state) {
				w.warn(w.action(i).Get("child"), without+"to, or max: 1")
				break
			}
		}
	}
}

// isConditional reports whether more than the state decides when the action is
// enabled and performed.
func (a *Action) isConditional() bool {
	return a.Guard != nil || a.EnableIf != nil || len(a.After) > 0
}

// begins reports whether the action is enabled by a case that comes into the state.
func (a *Action) begins(state int) bool {
	return a.Always || a.In.Has(state) || a.EnabledIn.Has(state)
}

// returns reports whether the action of children, when it is performed, leaves the
// case in a state in which it is enabled again, however it decides.
func (a *Action) returns(r *Route, state int) bool {
	if a.Child.While != NoState {
		state = a.Child.While
	}
	to := []int{a.To}
	if a.Decide != nil {
		to = nil
		for _, output := range a.Outputs {
			to = append(to, output.To)
		}
	}
	return !slices.ContainsFunc(to, func(next int) bool {
		if next == NoState {
			next = state
		}
		return r.States[next].Complete || !a.begins(next)
	})
}

// endless warns of a route all of whose cases start another one of it: as a child
// or by a step, directly or over other routes.
func (w *warner) endless(starts []newCase) {
	budget := 50 // of routes that are followed; what is not found with it is not proven
	for _, target := range unique(w.route.Others()) {
		if !w.returnsTo(target, map[string]bool{}) {
			continue
		}
		if over, found := w.cycle(target, nil, &budget); found {
			w.warnEndless(starts, target, over)
		}
	}
}

// unique returns the names without those that differ from an earlier one in case
// alone.
func unique(names []string) (out []string) {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if folded := strings.ToLower(name); !seen[folded] {
			seen[folded] = true
			out = append(out, name)
		}
	}
	return out
}

// returnsTo reports whether the route of that name, or one that it names, names the
// route that is judged.
func (w *warner) returnsTo(name string, seen map[string]bool) bool {
	of := w.find(name)
	if of == nil || seen[strings.ToLower(name)] {
		return false
	}
	seen[strings.ToLower(name)] = true
	return of == w.route || slices.ContainsFunc(unique(of.Others()), func(next string) bool { return w.returnsTo(next, seen) })
}

// cycle returns the routes over which each case of the last route of the path leads
// to one of the route that is judged, by way of the target.
func (w *warner) cycle(target string, path []*Route, budget *int) (over []*Route, found bool) {
	from := w.route
	if len(path) > 0 {
		from = path[len(path)-1]
	}
	if *budget--; *budget < 0 || !from.alwaysStarts(target) {
		return nil, false
	}
	of := w.find(target)
	if of == w.route {
		return path, true
	}
	if of == nil || slices.Contains(path, of) {
		return nil, false
	}
	for _, next := range unique(of.Others()) {
		if over, found := w.cycle(next, append(slices.Clone(path), of), budget); found {
			return over, true
		}
	}
	return nil, false
}

func (w *warner) warnEndless(starts []newCase, target string, over []*Route) {
	detail := "every case of this route starts another one of it"
	if len(over) > 0 {
		names := make([]string, len(over))
		for i, r := range over {
			names[i] = r.Name
		}
		detail = "every case of this route leads to another one of it, over " + clipList(names)
	}
	const advice = ", without end: the engine stops them, as a failure. Let an enableIf or if decide, or let the case end otherwise"
	var at document.Value
	for i := range w.route.Actions {
		if child := w.route.Actions[i].Child; child != nil && strings.EqualFold(child.Route, target) {
			at = w.action(i).Get("child").Get("route")
			break
		}
	}
	for _, s := range starts {
		if at.Node == nil && strings.EqualFold(s.step.Route, target) {
			at = s.at.Get("route")
		}
	}
	at.Faults = w.root.Faults
	w.warn(at, "%s%s", detail, advice)
}

// following finds out whether the cases of a route start cases of the target.
type following struct {
	*Route
	target string
	fires  []bool // by action: a case of the target has been started when it is performed
}

// alwaysStarts reports whether no case of the route comes to its end without
// starting a case of the target.
func (r *Route) alwaysStarts(target string) bool {
	f := following{r, target, make([]bool, len(r.Actions))}
	always := f.starting(r.SideEffects)
	for i := range r.Actions {
		a := &r.Actions[i]
		f.fires[i] = always || f.begets(a) || f.starting(a.OnFire, a.SideEffects)
	}
	if r.Init != NoAction && f.fires[r.Init] {
		return true
	}
	if r.Model == Dependency {
		return f.byItself()
	}
	return f.ends(true) && !f.ends(false) || f.atOnce()
}

// starting reports whether one of the steps starts a case of the target, whatever
// the case is like.
func (f following) starting(lists ...[]Step) bool {
	return slices.ContainsFunc(lists, func(steps []Step) bool {
		return slices.ContainsFunc(steps, func(s Step) bool {
			return s.Start != nil && s.If == nil && strings.EqualFold(s.Start.Route, f.target)
		})
	})
}

// begets reports whether the action has children of the target. How many a role of
// another name makes of them is not known: there may be none.
func (f following) begets(a *Action) bool {
	return a.Child != nil && strings.EqualFold(a.Child.Route, f.target) &&
		!slices.ContainsFunc(a.Child.Roles, func(m ChildRole) bool { return m.Each != PerRole && m.Role != m.From })
}

// firing reports whether a case of the target has been started when the action has
// been performed in the state.
func (f following) firing(action, state int) bool {
	return f.fires[action] || slices.ContainsFunc(f.Actions[action].Transitions, func(t int) bool {
		return f.Transitions[t].From == state && f.starting(f.Transitions[t].OnFollow)
	})
}

// entering reports whether a case of the target is started when a case comes into the
// state.
func (f following) entering(state int) bool {
	if f.starting(f.States[state].OnEnter) {
		return true
	}
	first := true // of the automatic actions: what comes after it may be gone by then
	for i := range f.Actions {
		a := &f.Actions[i]
		if a.Trigger == TriggerInit || !a.Always && !a.In.Has(state) && !a.EnabledIn.Has(state) {
			continue
		}
		if !a.isConditional() && (f.begets(a) || f.starting(a.OnEnable) || a.Trigger == TriggerAuto && first && f.firing(i, state)) {
			return true
		}
		first = first && a.Trigger != TriggerAuto
	}
	return false
}

// initial returns the states in which a case can begin.
func (f following) initial() []int {
	if to := f.destinations(&f.Actions[f.Init], NoState); len(to) > 0 {
		return to
	}
	return []int{f.Start}
}

// ends reports whether a case can come into a complete state; without starting, only
// by what starts no case of the target.
func (f following) ends(starting bool) bool {
	var seen StateSet
	next := f.initial()
	for ; len(next) > 0; next = next[1:] {
		state := next[0]
		if seen.Has(state) || !starting && f.entering(state) {
			continue
		}
		if seen.Add(state); f.States[state].Complete {
			return true
		}
		for i := range f.Actions {
			if a := &f.Actions[i]; a.enabled(state) && (starting || !f.firing(i, state)) {
				next = append(next, f.destinations(a, state)...)
			}
		}
	}
	return false
}

// atOnce reports whether a case of a route without an end starts a case of the
// target in its first state.
func (f following) atOnce() bool {
	return !slices.ContainsFunc(f.initial(), func(state int) bool {
		if f.entering(state) {
			return false
		}
		some := false
		for i := range f.Actions {
			if a := &f.Actions[i]; a.enabled(state) {
				if some = f.firing(i, state); !some {
					return true
				}
			}
		}
		return !some
	})
}

// byItself reports whether a case of the dependency model starts a case of the target
// if nobody does anything.
func (f following) byItself() bool {
	performed := map[int]bool{f.Init: true}
	for more := true; more; {
		more = false
		for i := range f.Actions {
			a := &f.Actions[i]
			if performed[i] || a.Guard != nil || a.EnableIf != nil || slices.ContainsFunc(a.After, func(after After) bool { return !performed[after.Action] || after.Min > 1 }) {
				continue
			}
			if f.begets(a) || f.starting(a.OnEnable) {
				return true
			}
			if a.Trigger != TriggerUser && a.Trigger != TriggerMessage {
				if f.fires[i] {
					return true
				}
				performed[i], more = true, true
			}
		}
	}
	return false
}
