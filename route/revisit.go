package route

import (
	"slices"
	"strings"

	"flowdrive/internal/document"
)

// revisits warns of actions that lead to the state in which alone they are enabled, if
// nothing begins there again: the enablements of a state go on over another visit of it.
func (w *warner) revisits() {
	r := w.route
	for i := range r.Actions {
		a := &r.Actions[i]
		if a.Trigger != TriggerUser && a.Trigger != TriggerMessage || a.To == NoState || r.beginsAgain(a.To) {
			continue
		}
		only := true
		for state := range r.States {
			only = only && a.enabled(state) == (state == a.To)
		}
		if only {
			w.warn(w.action(i).Get("to"), "has no effect: the case is in the state %q already. Leave it out, or name another state", r.States[a.To].Name)
		}
	}
}

// beginsAgain reports whether something of the state depends on when it was entered.
func (r *Route) beginsAgain(state int) bool {
	s := &r.States[state]
	if slices.ContainsFunc(r.Actions, func(a Action) bool { return len(a.Resolutions) > 0 }) {
		return true // a case that comes back to where it began, or was resolved, has no resolution any more
	}
	return len(s.OnEnter) > 0 || s.Timeout != nil || len(s.Out) > 0 || s.Complete ||
		slices.ContainsFunc(r.Actions, func(a Action) bool { return a.enabled(state) && (a.Choice != "" || a.Child != nil) })
}

// endings warns of a route whose cases never end by what it says: no complete state can be
// reached. States from which none can be are dead ends, or lead to each other.
func (w *warner) endings() {
	r := w.route
	reached := w.reachable()
	stays := func(i int) bool { // a dead end is told as such
		return !slices.ContainsFunc(r.Actions, func(a Action) bool { return r.leaves(&a, i) })
	}
	var out StateSet
	for i := range r.States {
		if r.States[i].Complete || stays(i) {
			out.Add(i)
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range r.States {
			if out.Has(i) {
				continue
			}
			if slices.ContainsFunc(r.Actions, func(a Action) bool {
				return a.enabled(i) && slices.ContainsFunc(r.destinations(&a, i), out.Has)
			}) {
				out.Add(i)
				changed = true
			}
		}
	}
	if r.OnError != nil && r.OnError.To != NoState && out.Has(r.OnError.To) || r.hasStep(func(s *Step) bool { return s.Verb == StepCancel }) {
		return // a case may end by what fails, or by a step
	}
	var circling []string
	first := document.Value{}
	for i := range r.States {
		if !reached.Has(i) || out.Has(i) {
			continue
		}
		if circling == nil {
			first = w.state(i)
		}
		circling = append(circling, r.States[i].Name)
	}
	if circling != nil {
		w.warn(first, "the cases never end: no actions lead from %s to a complete state (type: complete, denied, cancelled or failed)", strings.Join(circling, ", "))
	}
}
