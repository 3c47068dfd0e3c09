package route

import (
	"slices"
	"strings"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// The names of the timers that every case has (docs/contract/timers.md#kinds);
// no user-defined timer can have them.
const (
	TimerCase  = "case"
	TimerState = "state"
)

// The timers of an action are called <action>.<what>.
const (
	TimerDue     = "due"
	TimerOffer   = "offer"
	TimerTimeout = "timeout"
)

// ActionTimer returns the name of a timer of the action.
func ActionTimer(action, what string) string { return action + "." + what }

// SplitTimer returns the action and the kind of an action's timer; ok is
// false for the name of any other.
func SplitTimer(name string) (action, what string, ok bool) { return strings.Cut(name, ".") }

// Timer returns the index of the user-defined timer, or NoTimer.
func (r *Route) Timer(name string) int {
	for i := range r.Timers {
		if r.Timers[i].Name == name {
			return i
		}
	}
	return NoTimer
}

// KnowsTimer reports whether cases can have a timer of that name.
func (r *Route) KnowsTimer(name string) bool {
	action, what, ofAction := SplitTimer(name)
	if !ofAction {
		return name == TimerCase || name == TimerState || r.Timer(name) != NoTimer
	}
	return r.Action(action) != NoAction && (what == TimerDue || what == TimerOffer || what == TimerTimeout)
}

// NoTimer is the index of no timer.
const NoTimer = -1

// IsTask reports whether the action is a task of people, which has timers of
// its own (docs/contract/engine.md#5-tasks).
func (a *Action) IsTask() bool { return a.Trigger == TriggerUser && a.Child == nil }

// IsTimed reports whether the action performs itself after a time.
func (a *Action) IsTimed() bool {
	return a.Timeout != nil && a.Trigger != TriggerAuto && a.Trigger != TriggerInit
}

// TimerLimit returns the limit that the definition gives the timer of the
// whole case.
func (r *Route) TimerLimit() Limit { return limitOf(r.Timeout) }

// TimerLimit returns the limit that the definition gives a visit of the
// state.
func (s *State) TimerLimit() Limit { return limitOf(s.Timeout) }

// DefaultLimit returns the limit that the definition gives the timer.
func (t *Timer) DefaultLimit() Limit { return limitOf(t.Limit) }

// TimerLimit returns the limit that the definition gives a timer of the
// action: TimerDue, TimerOffer or TimerTimeout.
func (a *Action) TimerLimit(what string) Limit {
	switch what {
	case TimerDue:
		return limitOf(a.DueIn)
	case TimerOffer:
		return limitOf(a.OfferTimeout)
	case TimerTimeout:
		return limitOf(a.Timeout)
	}
	return Limit{}
}

// readTimers reads the user-defined timers, and the timer of the case.
func (c *compiler) readTimers() {
	c.route.Timeout = positive(c.duration(c.root.Get("timeout")))
	c.route.OnTimeout = c.steps(c.root.Get("onTimeout"))
	v := c.root.Get("timers")
	if !isKind(v, document.Object) {
		return
	}
	c.checkNames(v, "timer")
	for i := range v.Node.Members {
		name, member := v.Member(i)
		if name == TimerCase || name == TimerState {
			c.faults.AddKey(&v.Node.Members[i], member.Pointer, errs.CodeConflict, "is the name of a timer that every case has; call this one something else")
		}
		c.route.Timers = append(c.route.Timers, Timer{Name: name, Limit: c.duration(member.Get("limit")), OnExpire: c.steps(member.Get("onExpire"))})
	}
}

// readTaskTimers reads the timers of a task.
func (c *compiler) readTaskTimers(a *Action, v document.Value) {
	a.OfferTimeout, a.DueIn = positive(c.duration(v.Get("offerTimeout"))), positive(c.duration(v.Get("dueIn")))
	a.OnOfferTimeout, a.OnDue = c.steps(v.Get("onOfferTimeout")), c.steps(v.Get("onDue"))
}

// shortestReminder bounds how often people are reminded: each time is an entry
// in the log, and a mail.
const shortestReminder = time.Minute

// readRemind reads after how long assignees are reminded.
func (c *compiler) readRemind(v document.Value) {
	c.route.Remind = positive(c.duration(v))
	if d := c.route.Remind; d != nil && d.Exact < shortestReminder {
		v.Fail(errs.CodeRange, "must be at least PT1M: everyone who has a task gets each reminder")
	}
}

// ReminderLimit returns after how long assignees of an open task are reminded.
func (r *Route) ReminderLimit() Limit { return limitOf(r.Remind) }

// positive returns the duration, or nil for 0, which means no limit for a time
// within which something must be done.
func positive(d *clock.Duration) *clock.Duration {
	if d == nil || d.IsZero() {
		return nil
	}
	return d
}

// timerNames returns the names of timers that expressions may use: the route's
// own ones, then the others.
func (c *compiler) timerNames() []string {
	if c.timersOfExpr != nil {
		return c.timersOfExpr
	}
	names := append(slices.Clone(c.timers), TimerCase)
	if c.states != nil {
		names = append(names, TimerState)
	}
	actions := c.root.Get("actions")
	for _, action := range keys(actions.Node) {
		trigger, _ := str(actions.Get(action).Get("trigger"))
		if trigger == "" || Trigger(trigger) == TriggerUser {
			names = append(names, ActionTimer(action, TimerDue), ActionTimer(action, TimerOffer))
		}
		if actions.Get(action).Get("timeout").Given() {
			names = append(names, ActionTimer(action, TimerTimeout))
		}
	}
	c.timersOfExpr = names
	return names
}

// timerStep reads enableTimer, disableTimer and setTimer. A step may set the
// timers of the case too, but it may not turn them on and off: the course of
// the case does that.
func (c *compiler) timerStep(s *Step, v document.Value) {
	name, known := v, c.timers
	if s.Verb == StepSetTimer {
		name, known = v.Get("name"), append(slices.Clone(c.timers), TimerCase)
		if c.states != nil {
			known = append(known, TimerState)
		}
		c.timerLimit(s, v.Get("limit"))
	}
	timer, ok := str(name)
	if ok && !slices.Contains(known, timer) {
		c.unknown(name, "%q is not a timer of this route", timer, known)
	}
	s.Timer = timer
}

// timerLimit reads the limit that a step sets: a limit, an expression, or a
// text with labels that is read when the step runs.
func (c *compiler) timerLimit(s *Step, v document.Value) {
	switch {
	case isKind(v, document.Object):
		s.Text = c.value(v)
	case isKind(v, document.Number):
		quiet := document.Value{Node: v.Node, Faults: &document.Faults{}}
		n, whole := quiet.Int(0, int64(clock.MaxExact/1e9))
		if !whole {
			v.Fail(errs.CodeRange, "must be %s, not %s", LimitForm, clip(v.Node.Text))
			return
		}
		s.Limit, _ = SecondsLimit(n)
	case isKind(v, document.String) && strings.Contains(v.Node.Text, "$"):
		s.Text = c.value(v)
	case isKind(v, document.String):
		limit, err := ParseLimit(v.Node.Text, nil)
		if err != nil {
			v.Fail(errs.CodeFormat, "%s", err)
			return
		}
		if _, fixed := clock.ParseInstant(v.Node.Text); limit.Kind == AbsoluteLimit && !fixed {
			s.Text = c.value(v) // a date of the zone in which the step runs
			return
		}
		s.Limit = limit
	}
}
