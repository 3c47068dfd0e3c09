package machine

import (
	"time"

	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/route/expr"
)

// Broken is where onError has led a case away from, into a state of the type failed,
// so that a retry can lead it back.
type Broken struct {
	Action string `json:"a"` // the action that failed
	Status string `json:"s"` // the status in which it did
	Step   string `json:"p,omitempty"`
	Fault  string `json:"e,omitempty"` // why, in one line

	At time.Time `json:"t,omitzero"` // when
}

// Moved says what has led a case to where it is if that was not the performance of an
// action: onError, or that it was canceled.
type Moved struct {
	Text string    `json:"x"` // "Canceled", or what has failed and why, in one line
	By   string    `json:"b,omitempty"`
	At   time.Time `json:"t"`

	// GivenUp is when a person gave up the last of what had failed, and GivenUpBy who that
	// was. The case stays in its state of the type failed.
	GivenUp   time.Time `json:"g,omitzero"`
	GivenUpBy string    `json:"gb,omitempty"`
}

// GivenUp reports whether onError has led the case into a state of the type failed and a
// person has given up all that had failed: nobody needs to do anything about it any more.
// Who did it is not known of cases that were stored before Moved had that.
func (c *Case) GivenUp() bool {
	return c.Moved != nil && c.Failing && c.Life == Completed && !c.HasFailures()
}

// giveUp notes that the actor has given up what led the case into a state of the type
// failed, if nothing else is left of it.
func (d failures) giveUp(actor Actor) {
	if m := d.c.Moved; m != nil && d.c.Life == Completed && d.endsFailed() && !d.c.HasFailures() {
		d.c.Moved = &Moved{Text: m.Text, By: m.By, At: m.At, GivenUp: d.now, GivenUpBy: actor.Name}
	}
}

// errorHandler runs onError (docs/contract/routes.md#what-fails).
type errorHandler struct{ *pass }

// handler returns what the route wants done if something of the action fails, nil for
// nothing. A timer of the case has no action.
func (d *caseDecision) handler(action string) *route.OnError {
	if i := d.route.Action(action); i != unknown && d.route.Actions[i].OnError != nil {
		return d.route.Actions[i].OnError
	}
	return d.route.OnError
}

// next runs onError for the first failure that it has not run for yet, and reports
// whether there was one.
func (h errorHandler) next() (ran bool, err error) {
	for i := range h.c.Outbox {
		if o := &h.c.Outbox[i]; o.Unhandled {
			o.Unhandled = false
			return true, h.delivery(*o)
		}
	}
	for i := range h.c.Enabled {
		if e := &h.c.Enabled[i]; e.Unhandled {
			e.Unhandled = false
			return true, h.escalation(*e)
		}
	}
	return false, nil
}

// delivery runs onError for a delivery that has failed for good. If that leads the
// case elsewhere the delivery is over, but in a state of the type failed it can
// still be retried.
func (h errorHandler) delivery(o Outgoing) error {
	h.changed = true
	handler := h.handler(o.action())
	if handler == nil {
		return nil // of another version of the route
	}
	from := h.c.Status
	f := expr.Error{Step: string(o.Verb), Kind: string(o.Kind), Status: o.Code, Text: o.Fault}
	if h.tail.seq == o.Seq && h.tail.step == o.Step {
		f.Output = h.tail.text
	}
	entered, err := h.handle(handler, o.action(), f)
	at := h.c.placeOfDelivery(o.Seq, o.Step)
	if err != nil || !entered || at < 0 {
		return err
	}
	if h.endsFailed() {
		h.c.Outbox[at].From = from
	} else {
		h.deliveries().end(at, EndFailed)
	}
	return nil
}

// escalation runs onError for an action that the engine could not perform.
func (h errorHandler) escalation(e Enabled) error {
	h.changed = true
	handler := h.handler(e.Action)
	if handler == nil {
		return nil
	}
	from := h.c.Status
	entered, err := h.handle(handler, e.Action, expr.Error{Step: e.Step, Kind: string(FailureFault), Text: e.Fault})
	if err == nil && entered && h.endsFailed() {
		h.c.Broken = &Broken{Action: e.Action, Status: from, Step: e.Step, Fault: e.Fault, At: h.now}
	}
	return err
}

// handle runs the steps of onError, and then enters its state. A step that fails is
// undone and does not stop the next one. It reports whether the state was entered.
func (h errorHandler) handle(on *route.OnError, source string, f expr.Error) (entered bool, err error) {
	h.failures().handlerRuns(errorHandlerOf(source))
	h.mishap, h.handling = f, true
	defer func() { h.handling = false }()
	for i := range on.Steps {
		if err := h.try(source, func() error { return h.runSteps(on.Steps[i:i+1], source, "") }); err != nil {
			return false, err
		}
	}
	if !has(h.route.States, on.To) {
		return false, nil
	}
	err = h.try(source, func() error {
		entry := LogEntry{Kind: LogState, From: new(h.c.Status), To: new(h.route.States[on.To].Name), Text: "On error of " + source}
		if h.route.Action(source) != unknown {
			entry.Action = new(source)
		}
		h.visit(on.To)
		h.c.Moved = &Moved{Text: OneLine("On error of " + source + ": " + f.Text), At: h.now}
		h.add(entry)
		if err := h.runSteps(h.route.States[on.To].OnEnter, source, ""); err != nil {
			return err
		}
		entered = true
		return nil
	})
	return entered, err
}

// try does something that is undone if it fails by a fault of the route. The log says
// so then.
func (h errorHandler) try(source string, do func() error) error {
	before := h.savepoint()
	err := do()
	if !errs.Is(err, errs.RouteFault) && !(h.sweeps && errs.Is(err, errs.EndlessLoop)) {
		return err
	}
	h.rollBack(before)
	of := errorHandlerOf(source)
	h.failures().handlerFailed(of, LogEntry{Kind: LogError, Action: h.actionOf(source), Trigger: new(ByStep), Text: of.name + " failed: " + err.Error()}, err)
	return nil
}

func (d *caseDecision) actionOf(source string) *string {
	if d.route.Action(source) == unknown {
		return nil
	}
	return new(source)
}

func (c *Case) placeOfDelivery(seq, step int64) int {
	for i := range c.Outbox {
		if o := &c.Outbox[i]; o.Seq == seq && o.Step == step {
			return i
		}
	}
	return -1
}

// leaveFailed forgets, when the case leaves a state of the type failed, what led it
// there.
func (d *caseDecision) leaveFailed() {
	if !d.endsFailed() {
		return
	}
	d.c.Broken = nil
	for i := len(d.c.Outbox) - 1; i >= 0; i-- {
		if d.c.Outbox[i].From != "" {
			d.deliveries().end(i, EndFailed)
		}
	}
}

// comeBack leads a case in a state of the type failed back to a status, in a new
// visit without its steps, because what led it there is retried.
func (d *caseDecision) comeBack(status string, entry LogEntry) {
	to := d.route.State(status)
	if !d.endsFailed() || to == route.NoState {
		return
	}
	entry.Kind, entry.From, entry.To, entry.Text = LogState, new(d.c.Status), new(status), "Back to "+status
	d.visit(to)
	d.add(entry)
}

// retryBroken has the engine perform again the action whose failure led the case
// into a state of the type failed. It reports whether that is what was asked for.
func (d personal) retryBroken(e Retry) (bool, error) {
	b := d.c.Broken
	if b == nil || b.Action != e.Action || !d.endsFailed() {
		return false, nil
	}
	switch {
	case d.c.Life == Suspended:
		return true, d.refusals().notOpen()
	case !e.Actor.RouteAdmin:
		return true, errs.New(errs.NotAllowed, "Only an administrator of the route may retry what has failed.")
	}
	d.asked = e.Action
	d.comeBack(b.Status, byPerson(e.Actor, e.Comment))
	return true, d.bringToRest()
}

// giveUpBroken forgets the action whose failure led the case into a state of the type
// failed: it is not tried again, and the case stays where it is. It reports whether
// that is what was asked for.
func (d personal) giveUpBroken(e Abort) (bool, error) {
	b := d.c.Broken
	if b == nil || b.Action != e.Action || !d.endsFailed() {
		return false, nil
	}
	switch {
	case d.c.Life == Suspended:
		return true, d.refusals().notOpen()
	case !e.Actor.RouteAdmin:
		return true, errs.New(errs.NotAllowed, "Only an administrator of the route may give up what has failed.")
	}
	d.asked, d.c.Broken, d.changed = e.Action, nil, true
	d.failures().forgetOnError(e.Action)
	d.gaveUp = append(d.gaveUp, e.Action)
	d.failures().giveUp(e.Actor)
	entry := byPerson(e.Actor, e.Comment)
	entry.Kind, entry.Action, entry.Text = LogTask, new(e.Action), "Gave up: "+e.Action
	d.add(entry)
	return true, d.bringToRest()
}
