package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/route/expr"
)

// firing is the timer whose handlers run.
type firing struct {
	name       string
	action     string // of an action's timer, else ""
	enablement int64  // of its enablement, 0 for a timer of the case
}

// sourceEnablement returns the number of the enablement that warnings of a source go with:
// of a task's timer that of the task, else 0.
func (d *caseDecision) sourceEnablement(source string) int64 {
	if d.firing == nil || d.firing.name != source {
		return 0
	}
	return d.firing.enablement
}

// sourceAction returns the action that the log names for a source. For a timer it
// is the action that has the timer, nil if none has.
func (d *caseDecision) sourceAction(source string) *string {
	if d.firing == nil || d.firing.name != source {
		return new(source)
	}
	return d.firing.logAction()
}

// caseTimers is what happens to the timers of a case.
type caseTimers struct{ *caseDecision }

func (d *caseDecision) timers() caseTimers { return caseTimers{d} }

// name returns the name of the timer.
func (d caseTimers) name(at timerRef) string {
	if at.ofAction() {
		return route.ActionTimer(d.c.Enabled[at.place].Action, string(at.kind))
	}
	return at.name
}

// withName fills in the name and what the route says of the timer.
func (d caseTimers) withName(at timerRef) timerRef {
	if at.name = d.name(at); at.ofAction() {
		at.action = d.actions[at.place]
	} else if at.kind == UserTimer {
		at.user = d.route.Timer(at.name)
	}
	return at
}

// put stores a timer.
func (d caseTimers) put(at timerRef, t Timer) {
	d.changed = true
	if at.ofAction() {
		e, kept := &d.c.Enabled[at.place], &t
		if t.blank() {
			kept = nil
		}
		switch at.kind {
		case DueTimer:
			e.DoBy = kept
		case OfferTimer:
			e.AcceptBy = kept
		case TimeoutTimer:
			e.FireBy = kept
			if e.Due = t.Date; e.State == Escalated {
				e.Due = time.Time{}
			}
		case CaseTimer, StateTimer, UserTimer, reminder:
		}
		return
	}
	t.Name = at.name
	if at.kind == StateTimer {
		t.Visit = d.c.Visit
	}
	if t.Number == 0 && !t.Date.IsZero() {
		d.c.LastNumber++
		t.Number = d.c.LastNumber
	}
	i, found := slices.BinarySearchFunc(d.c.Timers, at.name, func(t Timer, name string) int { return strings.Compare(t.Name, name) })
	switch {
	case t.blank() && found:
		d.c.Timers = slices.Delete(d.c.Timers, i, i+1)
	case t.blank():
	case found:
		d.c.Timers[i] = t
	default:
		d.c.Timers = slices.Insert(d.c.Timers, i, t)
	}
}

// update gives timers that run now their dates, and clears those of what is over
// (docs/contract/timers.md#running). Every pass calls it, so nothing else has to
// say what has changed. It reports whether a timer has changed that expressions
// may see.
func (d caseTimers) update() (moved bool) {
	if t := d.c.timer(route.TimerState); t != nil && t.Visit != d.c.Visit {
		d.clear(caseTimer(route.TimerState), t)
		moved = true
	}
	arm := func(at timerRef) { moved = d.arm(at) || moved }
	arm(caseTimer(route.TimerCase))
	if d.status != route.NoState {
		arm(caseTimer(route.TimerState))
	}
	for i := range d.c.Timers {
		if t := &d.c.Timers[i]; t.On && t.Date.IsZero() {
			arm(d.withName(caseTimer(t.Name)))
		}
	}
	d.updateReminders()
	for i := range d.c.Enabled {
		if d.actions[i] == unknown {
			continue
		}
		for _, kind := range [...]TimerKind{OfferTimer, DueTimer, TimeoutTimer} {
			if hasTimer(&d.route.Actions[d.actions[i]], kind) {
				arm(timerRef{kind: kind, place: i, action: d.actions[i]})
			}
		}
	}
	return moved
}

// arm gives the timer its date if it runs and has a limit but no date. It reports
// whether it did.
func (d caseTimers) arm(at timerRef) bool {
	t := at.stored(d.c)
	if !t.Date.IsZero() || d.c.suspended() || !at.on(d.c, &t) || at.kind == TimeoutTimer && t.Limit == nil {
		return false
	}
	limit := at.limit(d.c, d.route, &t)
	if limit.Kind == route.NoLimit {
		return false
	}
	if t.arm(limit, d.now); t.Date.IsZero() {
		return false
	}
	d.put(at, t)
	return true
}

// clear clears a timer of the case and removes its warnings.
func (d caseTimers) clear(at timerRef, t *Timer) {
	d.dropWarnings(func(w Warning) bool { return w.Enablement == 0 && w.Timer == at.name })
	d.put(at, t.cleared(d.now))
}

// clearCase clears the timer of the case and the user-defined ones that have ever
// run, because the case is completed. It reports whether there were any.
func (d caseTimers) clearCase() (moved bool) {
	for _, t := range slices.Clone(d.c.Timers) {
		if t.Name == route.TimerState || !t.On && t.Date.IsZero() && !t.Expired {
			continue
		}
		d.clear(caseTimer(t.Name), &t)
		moved = true
	}
	return moved
}

// endAll removes every timer of the case, because it has ended in another way than
// by completion. Nothing is enabled any more.
func (d caseTimers) endAll() {
	d.dropWarnings(func(w Warning) bool {
		return w.Enablement == 0 && (w.Timer == route.TimerCase || w.Timer == route.TimerState || d.c.timer(w.Timer) != nil)
	})
	if d.c.Timers != nil {
		d.c.Timers, d.changed = nil, true
	}
}

// expiredPrefix begins what the log says of an expiry, before the timer's name.
const expiredPrefix = "TimerExpired: "

// expire has a timer expire: it is marked and logged, and its handlers run in order.
// A handler that fails is rolled back and does not stop the next one
// (docs/contract/timers.md#expiry). If there are no handlers there is a warning,
// except for user-defined timers.
func (d caseTimers) expire(at timerRef) error {
	if at.kind == reminder {
		d.remind(at.place)
		return nil
	}
	at = d.withName(at)
	t := at.stored(d.c)
	t.Expired, t.Fired = true, d.now
	d.put(at, t)
	f := firing{name: at.name}
	if at.ofAction() {
		f.action, f.enablement = d.c.Enabled[at.place].Action, d.c.Enabled[at.place].Number
	}
	d.firing = &f
	defer func() { d.firing = nil }()
	d.add(LogEntry{
		Kind: LogTimer, Action: f.logAction(), Actor: new(ActorTimer), Trigger: new(ByTime),
		Text: expiredPrefix + fmt.Sprintf("%s (%s), due %s, fired at %s", at.name, at.kind, t.due().Format(time.RFC3339), d.now.Format(time.RFC3339)),
	})
	steps := d.handlers(at)
	if len(steps) > 0 || at.kind == UserTimer {
		d.noteExpired(at)
	}
	if len(steps) == 0 && at.kind != UserTimer {
		d.warn(at.name, f.enablement, d.lateness(at, t.due()))
		return nil
	}
	d.failures().handlerRuns(timerHandler(f.name, f.enablement))
	if d.logFull() {
		err := errLogFull()
		d.failures().handlerFailed(timerHandler(f.name, f.enablement), LogEntry{
			Kind: LogError, Action: f.logAction(), Actor: new(ActorTimer), Trigger: new(ByTime),
			Text: fmt.Sprintf("The timer %s does nothing: %v", at.name, err),
		}, err)
		return nil
	}
	for i := range steps {
		if err := d.handle(&f, steps, i); err != nil {
			return err
		}
	}
	return nil
}

// noteExpired notes what people are told of a timer whose expiry the route deals
// with.
func (d caseTimers) noteExpired(at timerRef) {
	if d.expired == nil {
		d.expired = map[int64]string{}
	}
	d.expired[d.c.LogSeq] = at.handled(d.route)
}

// handle runs one handler and rolls it back if it fails.
func (d caseTimers) handle(f *firing, steps []route.Step, i int) error {
	before := d.savepoint()
	err := d.runSteps(steps[i:i+1], f.name, "")
	if !errs.Is(err, errs.RouteFault) && !(d.sweeps && errs.Is(err, errs.EndlessLoop)) {
		return err
	}
	d.rollBack(before)
	d.failures().handlerFailed(timerHandler(f.name, f.enablement), LogEntry{
		Kind: LogError, Action: f.logAction(), Actor: new(ActorTimer), Trigger: new(ByTime),
		Text: fmt.Sprintf("Handler %d of the timer %s failed: %v", i+1, f.name, err),
	}, err)
	return nil
}

func (f *firing) logAction() *string {
	if f.action == "" {
		return nil
	}
	return new(f.action)
}

// handlers returns the steps of the route for the expiry of a timer.
func (d caseTimers) handlers(at timerRef) []route.Step { return handlersOf(d.c, d.route, at) }

// handlersOf returns the steps of the route for the expiry of a timer.
func handlersOf(c *Case, r *route.Route, at timerRef) []route.Step {
	switch at.kind {
	case CaseTimer:
		return r.OnTimeout
	case StateTimer:
		if i := r.State(c.Status); i != route.NoState {
			return r.States[i].OnTimeout
		}
	case UserTimer:
		if at.user != route.NoTimer {
			return r.Timers[at.user].OnExpire
		}
	case DueTimer:
		return r.Actions[at.action].OnDue
	case OfferTimer:
		return r.Actions[at.action].OnOfferTimeout
	case TimeoutTimer, reminder: // they have none
	}
	return nil
}

// lateness returns the warning of a timer without handlers.
func (d caseTimers) lateness(at timerRef, date time.Time) string {
	by := " by " + date.Format(time.RFC3339)
	switch at.kind {
	case StateTimer:
		return fmt.Sprintf("The case was to leave %q%s", d.c.Status, by)
	case DueTimer:
		return title(&d.route.Actions[at.action]) + " was to be performed" + by
	case OfferTimer:
		return title(&d.route.Actions[at.action]) + " was to be accepted" + by
	case CaseTimer, UserTimer, TimeoutTimer, reminder:
	}
	return "The case was to be completed" + by
}

// expireOverdue resumes the timers of a case that has just been resumed: limits that
// were set meanwhile get their dates, and overdue timers expire in order. A pass
// must follow (docs/contract/engine.md#suspension).
func (d caseTimers) expireOverdue() error {
	for d.resumed {
		d.update()
		at, date, _, ok := d.c.firstTimer()
		if d.resumed = ok && !date.After(d.now) && !d.canceled && d.suspension == nil; !d.resumed {
			break
		}
		if err := d.expire(at); err != nil {
			return err
		}
	}
	return nil
}

// setLimit gives the timer another limit. It has not expired any more, its warnings
// are removed, and if it runs its date is computed from now
// (docs/contract/timers.md#setting-a-limit). That its own handler has just failed, which
// sets it again, is warned of still.
func (d caseTimers) setLimit(at timerRef, limit route.Limit) {
	t := at.stored(d.c)
	t.Limit, t.Expired, t.Date = &limit, false, time.Time{}
	number := int64(0)
	if at.ofAction() {
		number = d.c.Enabled[at.place].Number
	}
	d.dropWarnings(func(w Warning) bool {
		return w.Enablement == number && w.Timer == at.name && !d.failures().hasBroken(w.Handler)
	})
	if !d.c.suspended() && (at.on(d.c, &t) || at.kind == TimeoutTimer) {
		t.arm(limit, d.now)
	}
	d.put(at, t)
}

// turnTimer turns a user-defined timer on or off. It keeps its date, also when it is
// turned on again.
func (d stepRun) turnTimer(name string, on bool) {
	at, known := findTimer(d.c, d.route, name)
	t := at.stored(d.c)
	if !known || t.On == on {
		return
	}
	t.On = on
	if d.timers().put(at, t); on {
		d.timers().arm(at)
	}
}

// setTimer carries out the step setTimer.
func (d stepRun) setTimer(s *route.Step) error {
	limit := s.Limit
	if s.Text != (route.Value{}) {
		value, ok, err := d.value(s.Text)
		if err != nil {
			return err
		}
		if limit = (route.Limit{}); ok {
			if limit, err = limitOf(value.Kind, value.Text, d.zone); err != nil {
				return routeFault("the limit of the timer %q %v", s.Timer, err)
			}
		}
	}
	if at, known := findTimer(d.c, d.route, s.Timer); known {
		d.timers().setLimit(at, limit)
	}
	return nil
}

// limitOf reads the limit that an expression or a text with labels yields.
func limitOf(kind document.Kind, text string, zone *time.Location) (route.Limit, error) {
	if kind == document.String {
		return route.ParseLimit(text, zone)
	}
	n, err := document.ParseJSON([]byte(text))
	if err == nil && kind == document.Number {
		var faults document.Faults
		const most = 1<<53 - 1
		if seconds, ok := (document.Value{Node: n, Faults: &faults}).Int(0, most); ok {
			if limit, ok := route.SecondsLimit(seconds); ok {
				return limit, nil
			}
		}
	}
	return route.Limit{}, fmt.Errorf("must be %s, not %s", route.LimitForm, clip(text))
}

// timer returns what expressions see of a timer. The timer of a task that is not
// enabled is off.
func (d expressions) timer(name string) (expr.Timer, bool) {
	at, ok := findTimer(d.c, d.route, name)
	if !ok {
		return expr.Timer{}, d.route.KnowsTimer(name)
	}
	t := at.stored(d.c)
	return expr.Timer{Expired: t.Expired, Enabled: at.on(d.c, &t), Date: t.due(), Limit: at.limit(d.c, d.route, &t).String()}, true
}

// SetTimer gives a timer another limit. The caller has checked the rights with
// MaySetTimer.
type SetTimer struct {
	Timer string
	Actor Actor
	Limit route.Limit
}

func (SetTimer) event() {}

// setTimerByPerson sets the limit of a timer, whether it runs or not.
func (d caseTimers) setTimerByPerson(e SetTimer) error {
	at, known := findTimer(d.c, d.route, e.Timer)
	if !known {
		return errs.New(errs.NotFound, "The case has no timer %q now.", e.Timer)
	}
	switch {
	case d.c.Life == Canceled, d.c.Life == Failed, d.c.Life == Closed, d.c.Life == Completed && (at.kind == CaseTimer || at.kind == UserTimer):
		return d.refusals().notOpen()
	}
	d.setLimit(at, e.Limit)
	entry := LogEntry{Kind: LogLife, Actor: new(e.Actor.Name), Trigger: new(ByUser), Text: "Set the limit of the timer " + e.Timer + " to " + e.Limit.String()}
	if e.Limit.Kind == route.NoLimit {
		entry.Text = "Removed the limit of the timer " + e.Timer
	}
	if at.ofAction() {
		entry.Kind, entry.Action = LogTask, new(d.c.Enabled[at.place].Action)
	}
	d.add(entry)
	return d.bringToRest()
}
