package route

// repeatsInTime warns of timed actions that leave the case where it is: they are
// performed again after each timeout. One that says max is meant so, and so is one that
// a condition or a decision stops.
func (w *warner) repeatsInTime() {
	r := w.route
	if r.Model != FSM || r.intervenes() {
		return
	}
	for i := range r.Actions {
		a := &r.Actions[i]
		if a.Trigger != TriggerTime || a.Timeout == nil || a.Timeout.IsZero() || a.Decide != nil || a.isConditional() || len(a.Transitions) > 0 || w.action(i).Get("max").Given() {
			continue
		}
		for state := range r.States {
			if a.In.Has(state) && !r.States[state].Complete && !r.leaves(a, state) {
				w.warn(w.action(i), "performs itself again every %s as long as the case is in %q: max: 1 has it happen once; if it is to happen again and again, say max: unlimited", a.Timeout, r.States[state].Name)
				break
			}
		}
	}
}
