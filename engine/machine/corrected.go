package machine

import (
	"fmt"
	"slices"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// A case that has failed is tried again with another input in place of the one that it has
// failed on (docs/contract/drive.md#a-file-whose-case-has-failed). A task that is performed
// again reads the new input by itself. What was to be sent was made of the old one: it is
// made again, by the step that had asked for it.

// otherInput is what the log says of what is tried again with another input.
const otherInput = "With another input"

// correct has everything sent again that has failed for good, with another input.
func (d deliveries) correct(actor Actor) error {
	var failed []Outgoing
	back := ""
	for i := range d.c.Outbox {
		if o := &d.c.Outbox[i]; o.Failed {
			if o.From != "" {
				back, o.From = o.From, ""
			}
			failed = append(failed, *o)
		}
	}
	for i := range failed {
		if err := d.remake(d.c.placeOfDelivery(failed[i].Seq, failed[i].Step), actor); err != nil {
			return err
		}
	}
	if back != "" {
		d.comeBack(back, byPerson(actor, otherInput))
	}
	return d.bringToRest()
}

// remake has a failed delivery sent again as it is with the present messages: another one
// takes its place, so that no service takes it for the one that it has refused. If the step
// that had asked for it cannot be told from others, it is sent as it was.
func (d deliveries) remake(at int, actor Actor) error {
	o := d.c.Outbox[at]
	steps := d.stepsThatSend(&o)
	if steps == nil {
		d.sendAgain(at, byPerson(actor, otherInput), fmt.Sprintf("Sent again as it was: %s", o.Verb))
		return nil
	}
	before := d.savepoint()
	d.failures().forgetOnError(o.action())
	d.end(at, EndFailed)
	run := stepRun{caseDecision: d.caseDecision, source: o.Source, actor: d.performer(o.Source)}
	if err := run.again(steps); errs.Is(err, errs.RouteFault) {
		d.rollBack(before)
		d.c.Outbox[at].Failed = false
		d.keepFailed(at, Undelivered{Reason: "it could not be made of the new input: " + err.Error()})
	} else if err != nil {
		return err
	}
	return nil
}

// performer returns the person who has performed an action last, "" for none.
func (d deliveries) performer(action string) string {
	if p := d.c.performed(action); p != nil {
		return p.By
	}
	return ""
}

// again runs the last of the steps, and before it those that make the messages that it may
// send. The others are not repeated: a mail was sent, a case was started.
func (d stepRun) again(steps []route.Step) error {
	last := len(steps) - 1
	for i := range steps {
		s := &steps[i]
		if i < last && s.Verb != route.StepMessage && s.Verb != route.StepFilter && s.Verb != route.StepTable {
			continue
		}
		applies, err := d.applies(s)
		switch {
		case err != nil:
			return err
		case !applies:
			continue
		case i == last:
			return d.send(s, i+1)
		}
		if err := d.step(s); err != nil {
			return err
		}
	}
	return nil
}

// stepsThatSend returns the steps of a handler up to the one that has asked for a delivery;
// nil if it is of a timer or onError, or if several steps may be meant.
func (d deliveries) stepsThatSend(o *Outgoing) (found []route.Step) {
	action := d.route.Action(o.Source)
	if action == route.NoAction || o.OfError {
		return nil
	}
	r, a := d.route, &d.route.Actions[action]
	lists := [][]route.Step{a.OnFire, r.SideEffects, a.SideEffects, a.OnEnable, a.OnUnEnable}
	var states []int
	enters := func(state int) {
		if state != route.NoState && !slices.Contains(states, state) {
			states = append(states, state)
			lists = append(lists, r.States[state].OnEnter)
		}
	}
	if action == r.Init {
		enters(r.Start)
	}
	enters(a.To)
	for i := range a.Outputs {
		enters(a.Outputs[i].To)
	}
	if a.Child != nil {
		enters(a.Child.While)
	}
	for _, t := range a.Transitions {
		lists = append(lists, r.Transitions[t].OnFollow)
		enters(r.Transitions[t].To)
	}
	for _, steps := range lists {
		if int64(len(steps)) < o.Step {
			continue
		}
		if s := &steps[o.Step-1]; s.Verb != o.Verb || s.Outside == nil || s.Outside.Into != o.Into {
			continue
		}
		if found != nil {
			return nil
		}
		found = steps[:o.Step]
	}
	return found
}
