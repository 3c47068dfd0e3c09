package machine

import (
	"slices"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// bringToRest runs pass after pass until one performs nothing
// (docs/contract/engine.md#a-pass). No pass runs over a case that is suspended, by
// itself or with an ancestor.
func (d *caseDecision) bringToRest() error {
	if d.c.Life != Active && d.c.Life != Completed || d.c.suspended() {
		return nil
	}
	if d.route.Model != route.Dependency && d.status == route.NoState {
		return errs.New(errs.Internal, "machine: case %d has the status %q, which its route does not define", d.c.ID, d.c.Status)
	}
	if d.resumed {
		if err := d.assignRoles(); err != nil { // FillRoles does not come to a case that is suspended
			return err
		}
	}
	for {
		if err := d.timers().expireOverdue(); err != nil {
			return err
		}
		if d.canceled {
			return d.cancelByStep()
		}
		p := pass{caseDecision: d}
		performed, err := p.run()
		if err != nil {
			return err
		}
		// What enableIf refused may be allowed since something else was enabled. Without
		// another pass the next event would find a case that is not at rest.
		if again := performed || d.canceled || p.moved && p.refused != nil; !again || d.c.Life == Suspended {
			return nil
		}
	}
}

// pass is one pass over a case, with what is true for this pass alone.
type pass struct {
	*caseDecision
	over    bool   // in the dependency model: nothing is wanted any more
	refused []bool // of each action: enableIf was evaluated to false; nil: of none
	moved   bool   // enablements came or went, or steps ran: enableIf may see that
}

// run does what docs/contract/engine.md#a-pass says, in that order. It reports
// whether something was performed; then a new pass begins.
func (p *pass) run() (performed bool, err error) {
	for !p.canceled {
		p.over = p.isOver()
		if err := p.unenable(); err != nil {
			return false, err
		}
		if err := p.enable(); err != nil {
			return false, err
		}
		if err := p.guards(); err != nil {
			return false, err
		}
		if entered, err := p.meanwhile(); err != nil {
			return false, err
		} else if entered {
			continue
		}
		if p.timers().update() {
			p.moved = true
			continue // guards may ask for a timer
		}
		if p.canceled || p.suspendByStep() {
			return false, nil
		}
		if ran, err := (errorHandler{p}).next(); err != nil {
			return false, err
		} else if ran {
			p.moved = true
			continue
		}
		next, ok := p.due()
		switch {
		case !ok && p.moved && p.refused != nil:
			return false, nil
		case !ok:
			return p.conclude(), nil
		case next.performance != nil:
			return true, p.attempt(*next.performance)
		}
		p.moved = true
		if next.timer != nil {
			err = p.timers().expire(*next.timer)
		} else {
			err = p.handle(next.request)
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// isOver reports whether nothing is wanted any more in the dependency model.
func (d *caseDecision) isOver() bool {
	return d.route.Model == route.Dependency && (d.c.Life == Completed || d.finished())
}

// finished reports whether a final action was performed.
func (d *caseDecision) finished() bool {
	for i := range d.route.Actions {
		if a := &d.route.Actions[i]; a.Final && d.c.performed(a.Name) != nil {
			return true
		}
	}
	return false
}

// wanted reports whether the action is to be enabled now
// (docs/contract/engine.md#wanted).
func (p *pass) wanted(action int) bool {
	a := &p.route.Actions[action]
	switch {
	case a.Trigger == route.TriggerInit:
		return false
	case p.route.Model == route.Dependency:
		if p.over && !a.Always {
			return false
		}
	case !a.Always && !enabledIn(a, p.status) && !p.inProgress(action):
		return false
	}
	return p.c.leaves(p.route, a)
}

// leaves reports whether what was done in the case so far leaves the action to be
// enabled, if it is in its status.
func (c *Case) leaves(r *route.Route, a *route.Action) bool {
	if len(a.Transitions) > 0 && slices.Contains(c.Done, a.Name) || slices.Contains(c.Withdrawn, a.Name) {
		return false
	}
	if a.Max > 0 && c.count(a.Name) >= a.Max {
		return false
	}
	for _, after := range a.After {
		if c.count(r.Actions[after.Action].Name) < after.Min {
			return false
		}
	}
	return true
}

// enabledIn reports whether the action is enabled in the status, by itself or for a
// transition.
func enabledIn(a *route.Action, status int) bool { return a.In.Has(status) || a.EnabledIn.Has(status) }

// inProgress reports whether the case is in its status because the action waits
// for its children, or waited for them until the case was canceled: when that is
// reopened, the action is to have children again.
func (p *pass) inProgress(action int) bool {
	return p.meanwhileOf(action) && (p.enabled[action] || slices.Contains(p.c.Interrupted, p.route.Actions[action].Name))
}

// meanwhileOf reports whether the status is the one that the action gives the case
// until its children are finished.
func (d *caseDecision) meanwhileOf(action int) bool {
	child := d.route.Actions[action].Child
	return child != nil && child.While != route.NoState && child.While == d.status
}

// meanwhile enters the status that the case has while children of an action are
// open, once for each enablement (docs/contract/engine.md#a-pass).
func (p *pass) meanwhile() (entered bool, err error) {
	first := -1
	for i := range p.c.Enabled {
		if action := p.actions[i]; p.waits(i) && (first < 0 || action < p.actions[first]) {
			first = i
		}
	}
	if first < 0 {
		return false, nil
	}
	a := &p.route.Actions[p.actions[first]]
	before := p.savepoint()
	k := *p.c.Enabled[first].Children
	k.Entered = true
	p.c.Enabled[first].Children = &k
	p.changed = true
	if p.status == a.Child.While {
		return true, nil
	}
	entry := LogEntry{Kind: LogState, Action: new(a.Name), From: new(p.c.Status), To: new(p.route.States[a.Child.While].Name), Text: title(a) + " begins"}
	p.dropResolution(a.Child.While, false)
	p.visit(a.Child.While)
	p.add(entry)
	p.moved = true
	err = p.caseDecision.runSteps(p.route.States[a.Child.While].OnEnter, a.Name, "")
	if errs.Is(err, errs.RouteFault) {
		p.rollBack(before)
		p.escalate(performance{action: p.actions[first], enablement: p.c.Enabled[first].Number, trigger: ByChild}, err)
		err = nil
	}
	return true, err
}

// waits reports whether an enablement has children, and the status for the meantime
// has not been entered for them yet.
func (p *pass) waits(place int) bool {
	e := &p.c.Enabled[place]
	if e.Children == nil || e.Children.Entered || e.State == Escalated || p.actions[place] == unknown {
		return false
	}
	child := p.route.Actions[p.actions[place]].Child
	return child != nil && child.While != route.NoState
}

// unenable ends the enablements of actions that are not wanted, also those in
// progress. Those of wanted actions keep their due times, unless the action is of
// a transition and was enabled in an earlier visit.
func (p *pass) unenable() error {
	var gone []int
	kept := 0
	for i, action := range p.actions {
		stale := action != unknown && len(p.route.Actions[action].Transitions) > 0 && p.c.Enabled[i].Number <= p.renew
		if action == unknown || stale || !p.wanted(action) {
			p.unwarnEnablement(p.c.Enabled[i].Number)
			p.relations().endChildrenOf(&p.c.Enabled[i])
			if action != unknown {
				p.enabled[action] = false
				if len(p.route.Actions[action].OnUnEnable) > 0 {
					gone = append(gone, action)
				}
			}
			continue
		}
		p.c.Enabled[kept], p.actions[kept] = p.c.Enabled[i], action
		kept++
	}
	p.renew = 0
	if kept == len(p.actions) {
		return nil
	}
	p.changed, p.moved = true, true
	p.c.Enabled, p.actions = slices.Delete(p.c.Enabled, kept, len(p.actions)), p.actions[:kept]
	slices.Sort(gone)
	for _, action := range gone {
		if err := p.runHandler("onUnEnable", p.route.Actions[action].OnUnEnable, action); err != nil {
			return err
		}
	}
	return nil
}

// enable enables every wanted action that enableIf does not refuse, in order of
// definition. Once all are enabled, the children of each are created, and then
// onEnable of each runs.
func (p *pass) enable() error {
	var handlers []int
	for i := range p.route.Actions {
		if p.enabled[i] || !p.wanted(i) {
			continue
		}
		if refused, err := p.refuses(i); err != nil {
			return err
		} else if refused {
			continue
		}
		a := &p.route.Actions[i]
		p.c.LastNumber++
		p.c.Enabled = append(p.c.Enabled, Enabled{
			Number: p.c.LastNumber, Action: a.Name, State: initialState(a), Since: p.now, Due: dueTime(a, p.now),
		})
		p.actions = append(p.actions, i)
		p.enabled[i] = true
		p.changed, p.moved = true, true
		if len(a.OnEnable) > 0 {
			handlers = append(handlers, i)
		}
	}
	if len(p.c.Interrupted) > 0 {
		p.c.Interrupted = slices.DeleteFunc(slices.Clone(p.c.Interrupted), func(name string) bool {
			at := p.route.Action(name)
			return at < 0 || p.enabled[at] // if it is not, enableIf refused it until the next pass
		})
	}
	if err := p.children(); err != nil {
		return err
	}
	for _, action := range handlers {
		if !p.enabled[action] {
			continue
		}
		if err := p.runHandler("onEnable", p.route.Actions[action].OnEnable, action); err != nil {
			return err
		}
	}
	return nil
}

// refuses evaluates enableIf, once per pass.
func (p *pass) refuses(action int) (bool, error) {
	a := &p.route.Actions[action]
	switch {
	case a.EnableIf == nil:
		return false, nil
	case p.refused != nil && p.refused[action]:
		return true, nil
	}
	yes, err := p.condition(a.EnableIf, "", keyEnableIf, a.Name, 0)
	if err != nil {
		return false, err
	}
	if !yes {
		if p.refused == nil {
			p.refused = make([]bool, len(p.route.Actions))
		}
		p.refused[action] = true
	}
	return !yes, nil
}

// guards evaluates the guards of all enablements.
func (p *pass) guards() error {
	for i := range p.c.Enabled {
		if err := p.guard(i); err != nil {
			return err
		}
	}
	return nil
}

// guard evaluates the guard of the enablement in that place, which waits while it
// is false.
func (d *caseDecision) guard(place int) error {
	a := &d.route.Actions[d.actions[place]]
	if s := d.c.Enabled[place].State; a.Guard == nil || s == Escalated || s == Accepted {
		return nil
	}
	open, err := d.condition(a.Guard, "", keyGuard, a.Name, d.c.Enabled[place].Number)
	if err != nil {
		return err
	}
	state := Waiting
	if open {
		state = initialState(a)
	}
	d.setState(place, state)
	return nil
}

// setState gives an enablement another state. Nothing else does, so that what goes
// with a state ends with it.
func (d *caseDecision) setState(place int, state TaskState) {
	if e := &d.c.Enabled[place]; e.State != state {
		if e.State == Accepted {
			d.giveBack(e)
		}
		e.Fault, e.Step, e.Unhandled = "", "", false
		e.State = state
		d.changed = true
	}
}

func initialState(a *route.Action) TaskState {
	if a.Trigger == route.TriggerUser {
		return Offered
	}
	return Running
}

// dueTime returns when the engine performs an action that is enabled now, zero for
// never. An instant in a year that RFC 3339 cannot write is never, too.
func dueTime(a *route.Action, now time.Time) time.Time {
	const lastYear = 9999 // of RFC 3339
	var due time.Time
	switch {
	case a.Trigger == route.TriggerAuto:
		due = now
	case a.Timeout != nil:
		due = a.Timeout.After(now)
	}
	if due.Year() > lastYear {
		return time.Time{}
	}
	return due
}

// next is the one thing to do now: a performance, a timer that expires, or else the
// request of a step.
type next struct {
	performance *performance
	timer       *timerRef
	request     stepRequest
}

// byChildren stands in the place of a label; no label begins with "@".
const byChildren = "@children"

// due chooses the one thing to do now: the one with the earliest due time, of equal
// ones the one that was enabled first. The request of a step is due now.
func (p *pass) due() (next, bool) {
	first, when, message := p.performable()
	number := int64(0)
	if first >= 0 {
		number = p.c.Enabled[first].Number
	}
	timer, date, timerRow, expires := p.c.firstTimer()
	if expires = expires && !date.After(p.now); expires && (first < 0 || date.Before(when) || date.Equal(when) && timerRow <= number) {
		when, number = date, timerRow
	} else {
		expires = false
	}
	switch r, ok := p.requested(when, number, expires || first >= 0); {
	case ok:
		return r, true
	case expires:
		return next{timer: &timer}, true
	case first < 0:
		return next{}, false
	}
	return next{performance: p.performance(first, message)}, true
}

// performable returns the place of the enablement that is to be performed first,
// since when it is due, and the label of the message that it waited for, if any. If
// there is none, first is negative.
func (p *pass) performable() (first int, when time.Time, message string) {
	first = -1
	for i := range p.c.Enabled {
		e := &p.c.Enabled[i]
		if e.State == Waiting || e.State == Escalated {
			continue
		}
		due, by := e.Due, ""
		if k := e.Children; k != nil && !k.Finished.IsZero() && (due.IsZero() || k.Finished.Before(due)) {
			due, by = k.Finished, byChildren
		}
		if written := p.pending(p.actions[i]); written != nil {
			if at := later(e.Since, written.At); due.IsZero() || !due.Before(at) {
				due, by = at, written.Label
			}
		}
		if due.IsZero() || due.After(p.now) {
			continue
		}
		if first < 0 || due.Before(when) {
			first, when, message = i, due, by // numbers ascend: of equal due times the first one wins
		}
	}
	return first, when, message
}

// performance returns the engine's performance of the enablement in that place.
func (p *pass) performance(first int, message string) *performance {
	action := p.actions[first]
	chosen := performance{action: action, enablement: p.c.Enabled[first].Number, trigger: ByTime}
	if p.route.Actions[action].Trigger == route.TriggerAuto {
		chosen.trigger = ByAuto
	}
	switch message {
	case "":
	case byChildren:
		chosen.trigger = ByChild
	default:
		chosen.trigger, chosen.actor = ByMessage, p.c.written(message).By
	}
	return &chosen
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// pending returns the writing that a message action has not used yet, nil for none.
func (p *pass) pending(action int) *Written {
	a := &p.route.Actions[action]
	if a.Trigger != route.TriggerMessage {
		return nil
	}
	w := p.c.written(a.Message)
	if w == nil {
		return nil
	}
	if done := p.c.performed(a.Name); done != nil && done.Used >= w.Number {
		return nil
	}
	return w
}

// conclude sets the life of a case at rest by its status, or in the dependency
// model by what was performed. If the case is complete its timers are cleared. If
// timers have changed, another pass must follow.
func (p *pass) conclude() (moved bool) {
	complete := p.complete()
	if complete != (p.c.Life == Completed) {
		p.turn(complete)
	}
	if complete {
		moved = p.timers().clearCase()
	}
	return p.timers().update() || moved
}

// turn completes the case or makes it active again.
func (p *pass) turn(complete bool) {
	var entry LogEntry
	if p.last.trigger != "" {
		entry.Actor, entry.Trigger = p.last.by(), new(p.last.trigger)
	}
	if complete {
		p.c.Completed = p.now
		if entry.Text = textCompleted; p.endsFailed() {
			entry.Text = textFailed
		}
		p.setLife(Completed, entry)
	} else {
		p.c.Completed = time.Time{}
		entry.Text = textReopened
		p.setLife(Active, entry)
	}
}

// complete reports whether the case is complete if it is at rest.
func (p *pass) complete() bool {
	if p.route.Model == route.Dependency {
		return p.over || len(p.c.Enabled) == 0 && !slices.ContainsFunc(p.route.Actions, func(a route.Action) bool { return a.Final })
	}
	return isComplete(&p.route.States[p.status])
}

func isComplete(s *route.State) bool {
	switch s.Type {
	case route.StateComplete, route.StateDenied, route.StateCancelled, route.StateFailed:
		return true
	case route.StateStart, route.StateNormal:
	}
	return s.Complete
}

// attempt performs an action for the engine. If that fails by a fault of the route,
// it alone is rolled back and its enablement is escalated; what set it off stays
// (docs/contract/engine.md#failures). An endless loop that a person's request sets
// off fails the whole request.
func (d *caseDecision) attempt(p performance) error {
	before := d.savepoint()
	d.faulted = ""
	var err error
	if d.logFull() {
		err = errLogFull()
	} else {
		err = d.performances().perform(p)
	}
	switch {
	case errs.Is(err, errs.RouteFault):
		d.rollBack(before)
		d.escalate(p, err)
		return nil
	case !d.sweeps || !errs.Is(err, errs.EndlessLoop):
		return err
	}
	d.rollBack(before)
	d.escalate(p, err)
	d.stepRequests = nil
	// The event has used what it may. What else is due belongs to the loop, or would
	// feed it, and is escalated as well.
	for {
		p := &pass{caseDecision: d}
		first, _, message := p.performable()
		if first < 0 {
			return nil
		}
		d.escalate(*p.performance(first, message), err)
	}
}

// escalate keeps the enablement of what failed, without a due time, until an
// administrator attends to it or it is un-enabled.
func (d *caseDecision) escalate(p performance, err error) {
	for i := range d.c.Enabled {
		if e := &d.c.Enabled[i]; e.Number == p.enablement {
			d.setState(i, Escalated)
			e.Due = time.Time{}
			e.Fault, e.Step = clipLine(err.Error()), d.faulted
			// A handler of an endless loop would be part of it.
			e.Unhandled = !errs.Is(err, errs.EndlessLoop) && d.handler(e.Action) != nil
		}
	}
	d.changed = true
	a := &d.route.Actions[p.action]
	d.add(LogEntry{Kind: LogError, Action: new(a.Name), Actor: p.by(), Trigger: new(p.trigger), Text: "Escalated: " + err.Error()})
	d.failures().failed(Failure{Name: a.Name, Action: a.Name, Step: d.faulted, Kind: FailureFault, Text: clipLine(err.Error())})
}
