package machine

import (
	"slices"
	"time"

	"flowdrive/route"
)

// Timer is what is stored of a timer (docs/contract/timers.md#running). The zero
// Timer has the limit of its definition, no date, and has not expired; it is not
// stored. Whether a timer runs follows from its case and task. Only user-defined
// timers are turned on and off, by steps.
type Timer struct {
	Name    string       `json:"n,omitempty"` // of a timer of the case
	Number  int64        `json:"r,omitempty"` // of a timer of the case: its number among the enablements
	Visit   int64        `json:"v,omitempty"` // of the timer of the state: the visit that it belongs to
	On      bool         `json:"on,omitempty"`
	Limit   *route.Limit `json:"l,omitempty"` // as it was set; nil: that of the definition
	Date    time.Time    `json:"d,omitzero"`  // when it expires
	Expired bool         `json:"x,omitempty"`
	Fired   time.Time    `json:"f,omitzero"` // when it expired last
}

// blank reports whether nothing needs to be stored of the timer.
func (t *Timer) blank() bool {
	return !t.On && t.Limit == nil && t.Date.IsZero() && !t.Expired && t.Fired.IsZero()
}

// arm computes the date of a timer; relative limits count from now. If that is not
// after its last expiry it becomes a second later than that, so that no timer
// expires twice in one event (docs/contract/engine.md#4-the-sweeper).
func (t *Timer) arm(limit route.Limit, now time.Time) {
	t.Date = limit.From(now)
	if !t.Date.IsZero() && !t.Fired.IsZero() && !t.Date.After(t.Fired) {
		t.Date = t.Fired.Add(time.Second)
	}
}

// due returns the date of the timer as people are shown it: an absolute limit is
// shown as it was set, although a past one makes the timer expire later than that.
func (t *Timer) due() time.Time {
	if t.Limit != nil && t.Limit.Kind == route.AbsoluteLimit && t.Limit.At.Before(t.Date) {
		return t.Limit.At
	}
	return t.Date
}

// cleared returns the timer as it is once cleared: off, without a date, not expired,
// and with the limit of its definition. If it has expired at this very instant,
// that is kept.
func (t *Timer) cleared(now time.Time) Timer {
	var out Timer
	if t.Fired.Equal(now) {
		out.Fired = t.Fired
	}
	return out
}

// TimerKind is the kind of a timer.
type TimerKind string

// The kinds of timers.
const (
	CaseTimer    TimerKind = "case"    // until the case is completed
	StateTimer   TimerKind = "state"   // of a visit of a state
	DueTimer     TimerKind = "due"     // until a task is performed
	OfferTimer   TimerKind = "offer"   // while a task is offered
	TimeoutTimer TimerKind = "timeout" // until the engine performs an action
	UserTimer    TimerKind = "user"    // defined by the route

	reminder TimerKind = "reminder" // of a task; a timer only for the choice of what is due
)

// timerRef names a timer of a case or of an enabled action.
type timerRef struct {
	kind   TimerKind
	name   string
	place  int // of an action's timer: the place of its enablement
	action int // of an action's timer: the index of the action in the route
	user   int // of a user-defined timer: its index in the route, or NoTimer
}

// ofAction reports whether it is the timer of an enabled action.
func (at timerRef) ofAction() bool {
	return at.kind == DueTimer || at.kind == OfferTimer || at.kind == TimeoutTimer
}

// findTimer returns the timer with that name. ok is false if the case does not have
// it now. Every case has the timer of the case and, in a status, that of the state,
// whether or not the route limits them. Every task has its two.
func findTimer(c *Case, r *route.Route, name string) (at timerRef, ok bool) {
	at = timerRef{name: name, user: route.NoTimer}
	switch name {
	case route.TimerCase:
		at.kind = CaseTimer
		return at, true
	case route.TimerState:
		at.kind = StateTimer
		return at, r.State(c.Status) != route.NoState
	}
	action, what, ofAction := route.SplitTimer(name)
	if !ofAction {
		at.kind, at.user = UserTimer, r.Timer(name)
		return at, at.user != route.NoTimer
	}
	at.kind, at.action = TimerKind(what), r.Action(action)
	at.place = slices.IndexFunc(c.Enabled, func(e Enabled) bool { return e.Action == action })
	if at.place < 0 || at.action == unknown {
		return at, false
	}
	return at, hasTimer(&r.Actions[at.action], at.kind)
}

// hasTimer reports whether the action has a timer of the kind.
func hasTimer(a *route.Action, kind TimerKind) bool {
	switch kind {
	case DueTimer, OfferTimer:
		return a.IsTask()
	case TimeoutTimer:
		return a.IsTimed()
	case CaseTimer, StateTimer, UserTimer, reminder:
	}
	return false
}

// stored returns what is stored of the timer.
func (at timerRef) stored(c *Case) Timer {
	var kept *Timer
	switch at.kind {
	case DueTimer:
		kept = c.Enabled[at.place].DoBy
	case OfferTimer:
		kept = c.Enabled[at.place].AcceptBy
	case TimeoutTimer:
		if kept = c.Enabled[at.place].FireBy; kept == nil {
			return Timer{Date: c.Enabled[at.place].Due}
		}
	case CaseTimer, UserTimer:
		kept = c.timer(at.name)
	case StateTimer:
		if kept = c.timer(at.name); kept != nil && kept.Visit != c.Visit {
			return Timer{Fired: kept.Fired} // it is that of an earlier visit
		}
	case reminder:
	}
	if kept == nil {
		return Timer{}
	}
	return *kept
}

// timer returns what is stored of a timer of the case, nil for nothing.
func (c *Case) timer(name string) *Timer {
	for i := range c.Timers {
		if c.Timers[i].Name == name {
			return &c.Timers[i]
		}
	}
	return nil
}

// defined returns the limit that the definition gives the timer.
func (at timerRef) defined(c *Case, r *route.Route) route.Limit {
	switch at.kind {
	case CaseTimer:
		return r.TimerLimit()
	case StateTimer:
		if i := r.State(c.Status); i != route.NoState {
			return r.States[i].TimerLimit()
		}
	case UserTimer:
		if at.user != route.NoTimer {
			return r.Timers[at.user].DefaultLimit()
		}
	case DueTimer, OfferTimer, TimeoutTimer:
		return r.Actions[at.action].TimerLimit(string(at.kind))
	case reminder:
	}
	return route.Limit{}
}

// limit returns the limit of the timer: as it was set, else that of the definition.
func (at timerRef) limit(c *Case, r *route.Route, t *Timer) route.Limit {
	if t.Limit != nil {
		return *t.Limit
	}
	return at.defined(c, r)
}

// on reports whether the timer runs, or would run if its case were not suspended:
// the column "runs" of docs/contract/timers.md#kinds.
func (at timerRef) on(c *Case, t *Timer) bool {
	live := c.Life == Active || c.Life == Completed || c.suspended() && !c.Started.IsZero()
	switch at.kind {
	case CaseTimer:
		return live && c.Life != Completed
	case StateTimer:
		return live
	case UserTimer:
		return live && t.On
	case OfferTimer:
		return live && c.Enabled[at.place].State == Offered
	case DueTimer:
		return live && c.Enabled[at.place].State != Waiting
	case TimeoutTimer:
		return live && c.Enabled[at.place].State != Escalated
	case reminder: // it has a date only if it runs
		return true
	}
	return false
}

// suspended reports whether the case is suspended or is completed below a suspended
// ancestor. Its timers stand still then, and nothing is due.
func (c *Case) suspended() bool { return c.Life == Suspended || c.AncestorSuspended }

// pending reports whether the timer will expire at its date. t is what is stored of
// it.
func (at timerRef) pending(c *Case, t *Timer) bool {
	return !t.Expired && !t.Date.IsZero() && at.on(c, t) && (at.kind != StateTimer || t.Visit == c.Visit)
}

// caseTimer returns the timer of the case with that name.
func caseTimer(name string) timerRef {
	at := timerRef{kind: UserTimer, name: name, user: route.NoTimer}
	switch name {
	case route.TimerCase:
		at.kind = CaseTimer
	case route.TimerState:
		at.kind = StateTimer
	}
	return at
}

// firstTimer returns the timer that expires first, and the number by which it comes
// before others of the same date. ok is false if none will expire. Timers of timed
// actions do not count, because those are performed.
func (c *Case) firstTimer() (first timerRef, date time.Time, number int64, ok bool) {
	consider := func(at timerRef, t *Timer, r int64) {
		if t == nil || !at.pending(c, t) {
			return
		}
		if !ok || t.Date.Before(date) || t.Date.Equal(date) && r < number {
			first, date, number, ok = at, t.Date, r, true
		}
	}
	for i := range c.Timers {
		consider(caseTimer(c.Timers[i].Name), &c.Timers[i], c.Timers[i].Number)
	}
	for i := range c.Enabled {
		consider(timerRef{kind: OfferTimer, place: i}, c.Enabled[i].AcceptBy, c.Enabled[i].Number)
		consider(timerRef{kind: DueTimer, place: i}, c.Enabled[i].DoBy, c.Enabled[i].Number)
		if c.Life == Active && !c.Enabled[i].Remind.IsZero() {
			consider(timerRef{kind: reminder, place: i}, &Timer{Date: c.Enabled[i].Remind}, c.Enabled[i].Number)
		}
	}
	return first, date, number, ok
}
