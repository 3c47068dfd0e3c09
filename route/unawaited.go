package route

import (
	"slices"

	"flowdrive/internal/document"
)

// unawaited warns of automatic actions that complete a case at once, although a step
// before them has asked for an answer or runs a command: a delivery goes out after the
// commit, and the case does not wait for it. An action that completes the case itself and
// runs a command is not better. If onError says what happens then, a command is meant to go
// on by itself.
func (w *warner) unawaited() {
	r := w.route
	warned := map[int]bool{}
	automatic := w.automatic()
	look := func(asks string, on *OnError, state int, steps ...[]Step) {
		label, command := answerOf(steps), ""
		if label == "" && on == nil {
			command = commandOf(steps)
		}
		if label == "" && command == "" || state == NoState {
			return
		}
		for _, i := range automatic[state] {
			a := &r.Actions[i]
			if warned[i] || a.conditional() || a.To == NoState || !r.States[a.To].Complete {
				continue
			}
			warned[i] = true
			if label == "" {
				w.warn(w.trigger(i), "does not wait for the command %q, which a step of %s runs: the case is complete before it is known whether it fails, and stays complete. To wait, give that step into: Answer, and say trigger: message, with message: Answer. If that is meant, say what is done if it fails: onError", command, asks)
				continue
			}
			w.warn(w.trigger(i), "does not wait for the message %q, which a step of %s asks for: the case is complete before it is known whether that step fails. To wait, say trigger: message, with message: %[1]s", label, asks)
		}
	}
	for i := range r.Actions {
		w.completesBefore(i)
	}
	for i := range r.States {
		look("the state "+r.States[i].Name, r.OnError, i, r.States[i].OnEnter)
	}
	for i := range r.Actions {
		a := &r.Actions[i]
		if i == r.Init {
			next := r.destinations(a, NoState)
			if len(next) == 0 {
				next = []int{r.Start}
			}
			for _, state := range next {
				look(a.Name, r.handler(a), state, a.OnFire, a.SideEffects)
			}
			continue
		}
		for state := range r.States {
			if !a.enabled(state) {
				continue
			}
			for _, to := range r.destinations(a, state) {
				look(a.Name, r.handler(a), to, a.OnFire, a.SideEffects)
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

// completesBefore warns of an action that completes the case while its command still runs.
func (w *warner) completesBefore(i int) {
	r := w.route
	a := &r.Actions[i]
	command := commandOf([][]Step{a.OnFire, a.SideEffects})
	if command == "" || r.handler(a) != nil || a.To == NoState || !r.States[a.To].Complete {
		return
	}
	w.warn(w.action(i).Get("to"), "completes the case before it is known whether the command %q fails, and the case stays complete. To wait, lead to a state that is not complete, give the step into: Answer, and complete the case by an action with trigger: message and message: Answer. If that is meant, say what is done if it fails: onError", command)
}

// handler returns what is done if something of the action fails, nil for nothing.
func (r *Route) handler(a *Action) *OnError {
	if a.OnError != nil {
		return a.OnError
	}
	return r.OnError
}

// commandOf returns the name of the first command that the steps run, "" for none.
func commandOf(lists [][]Step) string {
	for _, step := range slices.Concat(lists...) {
		if step.Outside != nil && step.Outside.Exec != nil {
			return step.Outside.Exec.Name
		}
	}
	return ""
}
