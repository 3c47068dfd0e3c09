package machine

import (
	"fmt"
	"slices"

	"flowdrive/route"
)

// The keys whose expressions count as false if they cannot be evaluated
// (docs/contract/engine.md#failures).
const (
	keyGuard    = "guard"
	keyEnableIf = "enableIf"
	keyComplete = "complete"
)

// Unevaluated is an expression of a case that could not be evaluated when it was asked
// last. It counts as false, so that an action is not offered or not performed.
type Unevaluated struct {
	Name   string // tells it from the others of the case
	Action string
	Text   string // why, in a sentence without its end

	key    string
	number int64 // of the enablement, 0 for enableIf
}

// Unevaluated returns the expressions of an open case that could not be evaluated, in
// the order in which that was found.
func (c *Case) Unevaluated() (out []Unevaluated) {
	if c == nil || c.Life.Ended() {
		return nil
	}
	for i := range c.Warnings {
		w := &c.Warnings[i]
		for _, key := range []string{keyGuard, keyEnableIf, keyComplete} {
			if _, is := w.unevaluated(key); is {
				out = append(out, Unevaluated{Name: fmt.Sprintf("%s %s %d", key, w.Timer, w.Enablement), Action: w.Timer, Text: w.Text, key: key, number: w.Enablement})
			}
		}
	}
	return out
}

// End says how it is over, in the case as it is since: the expression was evaluated, or
// nobody asks it any more.
func (u *Unevaluated) End(c *Case, r *route.Route) FailureEnd {
	is := c.placeOf(u.number) >= 0
	if u.key == keyEnableIf {
		is = c.enablement(u.Action) != nil || slices.ContainsFunc(Refused(c, r), func(a *route.Action) bool { return a.Name == u.Action })
	}
	if is && !c.Life.Ended() {
		return FailureMended
	}
	return FailurePassed
}

// forgetEnableIf removes the warnings of enableIf of actions that are not wanted any
// more: it is not asked whether they may be enabled.
func (d failures) forgetEnableIf() {
	if d.c.Life != Active && d.c.Life != Completed || d.c.suspended() {
		return
	}
	p := pass{caseDecision: d.caseDecision, over: d.isOver()}
	d.dropWarnings(func(w Warning) bool {
		if _, is := w.unevaluated(keyEnableIf); !is {
			return false
		}
		action := d.route.Action(w.Timer)
		return action == unknown || !d.enabled[action] && !p.wanted(action)
	})
}
