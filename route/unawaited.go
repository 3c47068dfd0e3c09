package route

import (
	"slices"

	"flowdrive/internal/document"
)

// unawaited warns of automatic actions that complete a case at once, although a step
// before them has asked for an answer: a delivery goes out after the commit, and the case
// does not wait for it.
func (w *warner) unawaited() {
	r := w.route
	warned := map[int]bool{}
	automatic := w.automatic()
	look := func(asks string, state int, steps ...[]Step) {
		label := answerOf(steps)
		if label == "" || state == NoState {
			return
		}
		for _, i := range automatic[state] {
			a := &r.Actions[i]
			if warned[i] || a.conditional() || a.To == NoState || !r.States[a.To].Complete {
				continue
			}
			warned[i] = true
			w.warn(w.trigger(i), "does not wait for the message %q, which a step of %s asks for: the case is complete before it is known whether that step fails. To wait, say trigger: message, with message: %[1]s", label, asks)
		}
	}
	for i := range r.States {
		look("the state "+r.States[i].Name, i, r.States[i].OnEnter)
	}
	for i := range r.Actions {
		a := &r.Actions[i]
		if i == r.Init {
			next := r.destinations(a, NoState)
			if len(next) == 0 {
				next = []int{r.Start}
			}
			for _, state := range next {
				look(a.Name, state, a.OnFire, a.SideEffects)
			}
			continue
		}
		for state := range r.States {
			if !a.enabled(state) {
				continue
			}
			for _, to := range r.destinations(a, state) {
				look(a.Name, to, a.OnFire, a.SideEffects)
			}
		}
	}
}

// trigger returns the trigger of an action, or the action if it says none.
func (w *warner) trigger(i int) document.Value {
	if v := w.action(i).Get("trigger"); v.Given() {
		return v
	}
	return w.action(i)
}

// answerOf returns the label of the first answer that the steps ask for, "" for none.
func answerOf(lists [][]Step) string {
	for _, step := range slices.Concat(lists...) {
		if step.Outside != nil && step.Outside.Into != "" {
			return step.Outside.Into
		}
	}
	return ""
}
