package diagram

import (
	"slices"

	"flowdrive/route"
)

// failures adds where onError leads (docs/contract/routes.md#what-fails): the arrows of an
// action from the states in which a case is when the action fails, and those of the route,
// for all actions that say nothing of it, from each such state.
func (b *builder) failures() {
	var of []int // states, of the actions without onError
	for i := range b.r.Actions {
		a := &b.r.Actions[i]
		on, own := handlerOf(b.r, a)
		if on == nil {
			continue
		}
		if a.Always {
			b.g.Below = append(b.g.Below, Label{Icon: OnFailure, Text: failsText(a) + ": to " + stateTitle(b.r, on.To), Action: a.Name})
			continue
		}
		for _, state := range b.whenFails(a) {
			switch {
			case own:
				b.fails(state, on.To, a.Name, Label{Icon: OnFailure, Text: failsText(a), Action: a.Name})
			case !slices.Contains(of, state):
				of = append(of, state)
			}
		}
	}
	for _, state := range of {
		b.fails(state, b.r.OnError.To, "", Label{Icon: OnFailure, Text: "if something fails"})
	}
}

// handlerOf returns the onError that leads somewhere if the action fails, nil for none, and
// whether it is the action's own.
func handlerOf(r *route.Route, a *route.Action) (on *route.OnError, own bool) {
	switch {
	case !mayFail(a):
		return nil, false
	case a.OnError != nil:
		on, own = a.OnError, true
	default:
		on = r.OnError
	}
	if on == nil || on.To == route.NoState {
		return nil, false
	}
	return on, own
}

// failsText stands on the arrow of what an action leads to if it fails.
func failsText(a *route.Action) string { return "if " + titleOr(a.Title, a.Name) + " fails" }

func (b *builder) fails(from, to int, action string, l Label) {
	if from == to {
		l.Icon = Again
		b.line(from, l)
		return
	}
	b.edge(at(from), at(to), Way{Action: action, From: b.name(from), To: b.name(to), Fails: true}, l)
}

// mayFail reports whether an action may fail without anybody who is told at once: it has
// something delivered, or the engine performs it.
func mayFail(a *route.Action) bool { return delivers(a) || failsAtOnce(a) }

// delivers reports whether the performance of an action has something delivered, which
// may fail afterwards.
func delivers(a *route.Action) bool { return hasOutside(a.OnFire) || hasOutside(a.SideEffects) }

// failsAtOnce reports whether an action may fail while the case is in a state in which the
// action is enabled. What a person does is refused instead.
func failsAtOnce(a *route.Action) bool {
	if hasOutside(a.OnEnable) || a.Child != nil {
		return true
	}
	if a.Trigger == route.TriggerInit || a.Trigger == route.TriggerUser && a.Timeout == nil {
		return false // a case whose init action fails has not started
	}
	return a.Decide != nil || slices.ContainsFunc(slices.Concat(a.OnFire, a.SideEffects), func(s route.Step) bool { return s.Outside == nil })
}

func hasOutside(steps []route.Step) bool {
	return slices.ContainsFunc(steps, func(s route.Step) bool { return s.Outside != nil })
}

// whenFails returns the states in which a case is when the action fails: those in which it
// is enabled, and those that it leads to, as far as the one or the other is possible.
func (b *builder) whenFails(a *route.Action) []int {
	from := b.sources(a)
	if a.Trigger == route.TriggerInit {
		from = nil
	}
	if a.Child != nil && a.Child.While != route.NoState {
		from = []int{a.Child.While}
	}
	var out []int
	if failsAtOnce(a) {
		out = append(out, from...)
	}
	if !delivers(a) {
		return out
	}
	to, stays := b.ends(a)
	if stays {
		to = append(to, from...)
	}
	for _, state := range to {
		if !slices.Contains(out, state) {
			out = append(out, state)
		}
	}
	return out
}

// ends returns the states that an action leads to, and whether it may leave the case where
// it is.
func (b *builder) ends(a *route.Action) (to []int, stays bool) {
	stays = a.Decide == nil && len(a.Transitions) == 0
	add := func(state int) {
		if state == route.NoState {
			stays = true
		} else if !slices.Contains(to, state) {
			to = append(to, state)
		}
	}
	if a.To != route.NoState {
		stays = false
		add(a.To)
	}
	for _, o := range a.Outputs {
		add(o.To)
	}
	for _, i := range a.Transitions {
		add(b.r.Transitions[i].To)
	}
	return to, stays
}
