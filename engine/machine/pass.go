package machine

import (
	"slices"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// bringToRest brings the case to rest: pass after pass, until one performs
// nothing (docs/contract/engine.md#a-pass). A case in which nothing is wanted
// is at rest, and a suspended one is not passed over, though it has completed.
func (d *caseDecision) bringToRest() error {
	if d.c.Life != Active && d.c.Life != Completed || d.c.suspended() {
		return nil
	}
	if d.route.Model != route.Dependency && d.status == route.NoState {
		return errs.New(errs.Internal, "machine: case %d has the status %q, which its route does not", d.c.ID, d.c.Status)
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
		// What was refused before the last row came may be allowed now: without
		// another pass the next event would find a case that is not at rest.
		if again := performed || d.canceled || p.moved && p.refused != nil; !again || d.c.Life == Suspended {
			return nil
		}
	}
}

// pass is one pass over a case. It holds what is true for this pass alone.
type pass struct {
	*caseDecision
	over    bool   // of the dependency model: nothing is wanted any more
	refused []bool // of each action: enableIf was asked and was false; nil: none
	moved   bool   // rows came or went, which enableIf may look at, and what they set
}

// run takes the steps of a pass in the order of docs/contract/engine.md#a-pass.
// It reports whether something was performed; then a new pass begins.
func (p *pass) run() (performed bool, err error) {
	for !p.canceled {
		p.over = p.route.Model == route.Dependency && (p.c.Life == Completed || p.finished())
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
			continue // guards may ask for it
		}
		if p.canceled || p.suspendByStep() {
			return false, nil
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
	case !a.Always && !a.In.Has(p.status) && !a.EnabledIn.Has(p.status) && !p.inProgress(action):
		return false
	}
	if len(a.Transitions) > 0 && slices.Contains(p.c.Done, a.Name) || slices.Contains(p.c.Withdrawn, a.Name) {
		return false
	}
	if a.Max > 0 && p.c.count(a.Name) >= a.Max {
		return false
	}
	for _, after := range a.After {
		if p.c.count(p.route.Actions[after.Action].Name) < after.Min {
			return false
		}
	}
	return true
}

// inProgress reports whether the case is in its status for the children of the
// action. It is to have some again where it was canceled meanwhile, and is
// reopened.
func (p *pass) inProgress(action int) bool {
	return p.meanwhileOf(action) && (p.enabled[action] || slices.Contains(p.c.Interrupted, p.route.Actions[action].Name))
}

// meanwhileOf reports whether the status is the one that a case is in until
// the action's children are finished.
func (d *caseDecision) meanwhileOf(action int) bool {
	child := d.route.Actions[action].Child
	return child != nil && child.While != route.NoState && child.While == d.status
}

// meanwhile enters the status in which a case is while children of an action
// are open, once for each enablement (docs/contract/engine.md#a-pass).
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

// waits reports whether the children of a row are there, and the status in
// the meantime was not entered for them.
func (p *pass) waits(row int) bool {
	e := &p.c.Enabled[row]
	if e.Children == nil || e.Children.Entered || e.State == Escalated || p.actions[row] == unknown {
		return false
	}
	child := p.route.Actions[p.actions[row]].Child
	return child != nil && child.While != route.NoState
}

// unenable ends the enablements of actions that are not wanted, also if they
// are in progress. Enablements of wanted actions and their due times are not
// touched, except transition actions that were enabled in an earlier visit.
func (p *pass) unenable() error {
	var gone []int
	kept := 0
	for i, action := range p.actions {
		stale := action != unknown && len(p.route.Actions[action].Transitions) > 0 && p.c.Enabled[i].Number <= p.renew
		if action == unknown || stale || !p.wanted(action) {
			p.unwarnRow(p.c.Enabled[i].Number)
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
		if err := p.runHandler(p.route.Actions[action].OnUnEnable, action); err != nil {
			return err
		}
	}
	return nil
}

// enable enables every wanted action that enableIf does not refuse, in order of
// definition, all of them before anything is performed: then the children of
// each are created, then onEnable runs.
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
			return at < 0 || p.enabled[at] // else it was refused, until the next pass
		})
	}
	if err := p.children(); err != nil {
		return err
	}
	for _, action := range handlers {
		if !p.enabled[action] {
			continue
		}
		if err := p.runHandler(p.route.Actions[action].OnEnable, action); err != nil {
			return err
		}
	}
	return nil
}

// refuses asks enableIf, once per pass.
func (p *pass) refuses(action int) (bool, error) {
	a := &p.route.Actions[action]
	switch {
	case a.EnableIf == nil:
		return false, nil
	case p.refused != nil && p.refused[action]:
		return true, nil
	}
	yes, err := p.condition(a.EnableIf, "", "enableIf", a.Name, 0)
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

// guards makes enablements wait while their guard is false.
func (p *pass) guards() error {
	for i := range p.c.Enabled {
		if err := p.guard(i); err != nil {
			return err
		}
	}
	return nil
}

// guard evaluates the guard of a row.
func (d *caseDecision) guard(row int) error {
	a := &d.route.Actions[d.actions[row]]
	if s := d.c.Enabled[row].State; a.Guard == nil || s == Escalated || s == Accepted {
		return nil
	}
	open, err := d.condition(a.Guard, "", "guard", a.Name, d.c.Enabled[row].Number)
	if err != nil {
		return err
	}
	state := Waiting
	if open {
		state = initialState(a)
	}
	d.setState(row, state)
	return nil
}

// setState moves an enablement to another state: the one place where that is
// done, so that what goes with a state comes and goes with it.
func (d *caseDecision) setState(row int, state TaskState) {
	if e := &d.c.Enabled[row]; e.State != state {
		if e.State == Accepted {
			d.giveBack(e)
		}
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

// dueTime returns when an action that is enabled now performs itself, zero
// for never. What lies beyond the years that a date can carry is never.
func dueTime(a *route.Action, now time.Time) time.Time {
	const lastYear = 9999 // RFC 3339
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

// next is the one thing to be done now: a performance, a timer that expires,
// or what a step wants done that is neither.
type next struct {
	performance *performance
	timer       *timerRef
	request     stepRequest
}

// byChildren stands where a label does: no label begins so.
const byChildren = "@children"

// due chooses the one thing to be done now: the one with the smallest due time,
// of equal ones the one that was enabled first. What a step of a route wants
// done is due now.
func (p *pass) due() (next, bool) {
	first, when, message := p.performable()
	row := int64(0)
	if first >= 0 {
		row = p.c.Enabled[first].Number
	}
	timer, date, timerRow, expires := p.c.firstTimer()
	if expires = expires && !date.After(p.now); expires && (first < 0 || date.Before(when) || date.Equal(when) && timerRow <= row) {
		when, row = date, timerRow
	} else {
		expires = false
	}
	switch r, ok := p.requested(when, row, expires || first >= 0); {
	case ok:
		return r, true
	case expires:
		return next{timer: &timer}, true
	case first < 0:
		return next{}, false
	}
	return next{performance: p.performance(first, message)}, true
}

// performable returns the row that is to be performed first, since when, and
// the label of the message that it waited for, if any; first is negative
// where there is none.
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
			first, when, message = i, due, by // rows ascend: of equal due times the first row wins
		}
	}
	return first, when, message
}

// performance returns the engine's performance of a row.
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

// pending returns the writing that a message action has not used yet.
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

// conclude sets the life of a case at rest: by its status, in the dependency
// model by what was performed.
// A complete status clears the timers of the case; where timers have moved,
// another pass must follow.
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

// turn completes the case or takes it up again.
func (p *pass) turn(complete bool) {
	var entry LogEntry
	if p.last.trigger != "" {
		entry.Actor, entry.Trigger = p.last.by(), new(p.last.trigger)
	}
	if complete {
		p.c.Completed = p.now
		entry.Text = textCompleted
		p.setLife(Completed, entry)
	} else {
		p.c.Completed = time.Time{}
		entry.Text = textReopened
		p.setLife(Active, entry)
	}
}

// complete reports whether the case would be complete, were it at rest.
func (p *pass) complete() bool {
	if p.route.Model == route.Dependency {
		return p.over || len(p.c.Enabled) == 0 && !slices.ContainsFunc(p.route.Actions, func(a route.Action) bool { return a.Final })
	}
	return isComplete(&p.route.States[p.status])
}

func isComplete(s *route.State) bool {
	switch s.Type {
	case route.StateComplete, route.StateDenied, route.StateCancelled:
		return true
	case route.StateStart, route.StateNormal:
	}
	return s.Complete
}

// attempt performs something that the engine does. It is a unit of its own: a
// fault undoes it to before it began and escalates its enablement, and never
// undoes what set it off (docs/contract/engine.md#failures). A person's request
// that sets off a loop fails whole.
func (d *caseDecision) attempt(p performance) error {
	before := d.savepoint()
	err := d.perform(p)
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
	// The event has had its share: what else is due is of the loop, or would
	// be performed into it, and waits for somebody as well.
	for {
		p := &pass{caseDecision: d}
		first, _, message := p.performable()
		if first < 0 {
			return nil
		}
		d.escalate(*p.performance(first, message), err)
	}
}

// escalate keeps the row of what failed, without its due time, until somebody
// attends to it or it is un-enabled.
func (d *caseDecision) escalate(p performance, err error) {
	for i := range d.c.Enabled {
		if e := &d.c.Enabled[i]; e.Number == p.enablement {
			d.setState(i, Escalated)
			e.Due = time.Time{}
		}
	}
	d.changed = true
	a := &d.route.Actions[p.action]
	d.add(LogEntry{Kind: LogError, Action: new(a.Name), Actor: p.by(), Trigger: new(p.trigger), Text: "Escalated: " + err.Error()})
}
