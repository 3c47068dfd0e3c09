package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// stepRequest is what a step asks to be done with an action of its case. The pass
// does it, as something that is due now.
type stepRequest struct {
	verb   route.Verb // StepPerform, StepSkip, StepAbort or StepRetry
	action int
	source string // the action or timer whose step it is
}

// requested takes the first request of a step, if it comes before what else is due:
// that is due at when, by the enablement with the number due. If nothing else is
// due, others is false.
func (p *pass) requested(when time.Time, due int64, others bool) (next, bool) {
	if len(p.stepRequests) == 0 {
		return next{}, false
	}
	r := p.stepRequests[0]
	place := p.place(r.action)
	if place >= 0 && others && (when.Before(p.now) || due < p.c.Enabled[place].Number) {
		return next{}, false
	}
	p.stepRequests = p.stepRequests[1:]
	state := TaskState("")
	if place >= 0 {
		state = p.c.Enabled[place].State
	}
	switch {
	case r.verb == route.StepPerform && (state.forPeople() || state == Running):
		p.failures().handlerRuns(r.handler(p.route))
		return next{performance: &performance{action: r.action, enablement: p.c.Enabled[place].Number, trigger: ByStep}}, true
	case r.verb == route.StepSkip && state == Offered:
		p.failures().handlerRuns(r.handler(p.route))
		return next{performance: &performance{action: r.action, enablement: p.c.Enabled[place].Number, trigger: ByStep, skips: true}}, true
	}
	return next{request: r}, true
}

// place returns the place of the action's enablement, or -1.
func (d *caseDecision) place(action int) int { return slices.Index(d.actions, action) }

// handle does what a step asks for that is not a performance. If it cannot be done,
// the log says that it has no effect.
func (d *caseDecision) handle(r stepRequest) error {
	place := d.place(r.action)
	switch {
	case r.verb == route.StepAbort && place >= 0:
		return d.abort(place, LogEntry{Trigger: new(ByStep)})
	case r.verb == route.StepRetry && place >= 0 && d.c.Enabled[place].State == Escalated:
		d.retry(place, LogEntry{Trigger: new(ByStep)})
	default:
		d.noEffect(r)
	}
	return nil
}

// handler returns what the warnings of a request go by that had no effect.
func (r stepRequest) handler(of *route.Route) handler {
	return handler{name: fmt.Sprintf("%s of %q by %s", r.verb, of.Actions[r.action].Name, r.source), source: r.source}
}

// noEffect logs that the request of a step cannot be carried out. People are told of it
// if something was to be done that is not done now. What is to be aborted or retried and
// is not there needs nothing.
func (d *caseDecision) noEffect(r stepRequest) {
	d.changed = true
	d.add(LogEntry{Kind: LogTask, Action: new(d.route.Actions[r.action].Name), Trigger: new(ByStep), Text: "No effect: " + string(r.verb) + " by " + r.source})
	if r.verb == route.StepPerform || r.verb == route.StepSkip {
		h := r.handler(d.route)
		d.failures().didNothing(h, h.name+" had no effect: "+r.whyNot(d))
	}
}

// whyNot says why the request of a step to perform or skip an action cannot be carried
// out.
func (r stepRequest) whyNot(d *caseDecision) string {
	place := d.place(r.action)
	switch {
	case d.c.suspended():
		return "the case is suspended"
	case place < 0:
		return "the action is not enabled"
	case d.c.Enabled[place].State == Waiting:
		return "the action waits for its guard"
	case d.c.Enabled[place].State == Escalated:
		return "the action has failed, and waits for an administrator of the route"
	}
	return "the action is " + string(d.c.Enabled[place].State)
}

// How the log says that a person has given up a task.
const (
	abortedPrefix = "Aborted "
	skippedPrefix = "Skipped "
)

// GivenUp reports whether a task of that action was aborted or skipped, as the log of an
// event says.
func GivenUp(log []LogEntry, action string) bool {
	return slices.ContainsFunc(log, func(e LogEntry) bool {
		return e.Action != nil && *e.Action == action &&
			(e.Kind == LogTask && strings.HasPrefix(e.Text, abortedPrefix) || e.Kind == LogAction && strings.HasPrefix(e.Text, skippedPrefix))
	})
}

// abort ends the enablement in that place without a performance, and takes the
// action out of the visit.
func (d *caseDecision) abort(place int, entry LogEntry) error {
	action := d.actions[place]
	a := &d.route.Actions[action]
	d.giveBack(&d.c.Enabled[place])
	d.endEnablement(d.c.Enabled[place].Number)
	d.withdraw(a.Name)
	d.gaveUp = append(d.gaveUp, a.Name)
	d.failures().forgetOnError(a.Name)
	d.changed = true
	entry.Kind, entry.Action, entry.Text = LogTask, new(a.Name), abortedPrefix+title(a)
	d.add(entry)
	d.deliveries().stopCommands(a.Name)
	return d.runHandler("onUnEnable", a.OnUnEnable, action)
}

// retry has the engine try again to perform the enablement in that place. If its
// time has passed, it is due at once.
func (d *caseDecision) retry(place int, entry LogEntry) {
	e := &d.c.Enabled[place]
	a := &d.route.Actions[d.actions[place]]
	d.setState(place, initialState(a))
	if e.Due = dueTime(a, e.Since); e.FireBy != nil {
		e.Due = e.FireBy.Date
	}
	d.failures().forgetOnError(a.Name)
	d.changed = true
	if k := e.Children; k != nil && k.Made < k.Total && !slices.ContainsFunc(d.c.Work, makesChildren(e.Number)) {
		d.relations().leaveWork(Work{Kind: WorkMake, Enablement: e.Number})
	}
	entry.Kind, entry.Action, entry.Text = LogTask, new(a.Name), "Retried "+title(a)
	d.add(entry)
}

func title(a *route.Action) string {
	if a.Title != "" {
		return a.Title
	}
	return a.Name
}

// withdraw takes an action out of the visit.
func (d *caseDecision) withdraw(action string) {
	if !slices.Contains(d.c.Withdrawn, action) {
		d.c.Withdrawn = append(slices.Clip(d.c.Withdrawn), action)
	}
}

// attendedTask returns the place of the enablement that an administrator of the
// route wants to skip, abort or retry. Without states, any state will do.
func (d personal) attendedTask(action, verb string, actor Actor, states ...TaskState) (place int, err error) {
	i := d.route.Action(action)
	if i == unknown {
		return 0, d.refusals().noAction(action)
	}
	if d.c.Life != Active && d.c.Life != Completed {
		return 0, d.refusals().notOpen()
	}
	place = d.place(i)
	if place < 0 {
		return 0, d.refusals().notEnabled(action)
	}
	if !actor.RouteAdmin {
		return 0, errs.New(errs.NotAllowed, "Only an administrator of the route may %s %q.", verb, action)
	}
	d.asked = action
	if state := d.c.Enabled[place].State; states != nil && !slices.Contains(states, state) {
		e := d.refusals().notEnabled(action)
		e.Detail = "\"" + action + "\" is " + string(state) + "; to " + verb + " it, it must be " + string(states[0]) + "."
		return 0, e
	}
	return place, nil
}

func (d personal) abortByPerson(e Abort) error {
	if done, err := d.giveUpBroken(e); done {
		return err
	}
	if i := d.route.Action(e.Action); i == unknown || d.place(i) < 0 {
		places := d.deliveries().undelivered(e.Action)
		if places == nil {
			places = d.deliveries().commands(e.Action)
		}
		if places != nil {
			return d.deliveries().attend(places, e.Actor, e.Comment, false)
		}
	}
	place, err := d.attendedTask(e.Action, "abort", e.Actor)
	if err != nil {
		return err
	}
	if err := d.abort(place, byPerson(e.Actor, e.Comment)); err != nil {
		return err
	}
	return d.bringToRest()
}

func (d personal) retryByPerson(e Retry) error {
	if places := d.deliveries().undelivered(e.Action); places != nil {
		return d.deliveries().attend(places, e.Actor, e.Comment, true)
	}
	if done, err := d.retryBroken(e); done {
		return err
	}
	place, err := d.attendedTask(e.Action, "retry", e.Actor, Escalated)
	if err != nil {
		return err
	}
	d.retry(place, byPerson(e.Actor, e.Comment))
	return d.bringToRest()
}

func byPerson(actor Actor, text string) LogEntry {
	return LogEntry{Actor: new(actor.Name), Trigger: new(ByUser), Comment: comment(text)}
}

// skip has an offered action count as performed without its steps. So it does with
// an escalated one, which the engine could not perform.
func (d personal) skip(e Skip) error {
	place, err := d.attendedTask(e.Action, "skip", e.Actor, Offered, Escalated)
	if err != nil {
		return err
	}
	action := d.actions[place]
	a := &d.route.Actions[action]
	if a.Decide == nil && e.Output != "" {
		return badField("/output", errs.CodeConflict, "cannot be given: the action %q does not decide", a.Name)
	}
	if _, ok := a.Output(e.Output); a.Decide != nil && !ok {
		code := errs.CodeRange
		if e.Output == "" {
			code = errs.CodeRequired
		}
		return badField("/output", code, "must be one of the outputs of %q: %s%s", a.Name, strings.Join(outputs(a), ", "), wrongWord(e.Output, outputs(a)))
	}
	d.gaveUp = append(d.gaveUp, a.Name)
	d.failures().forgetOnError(a.Name)
	err = d.performances().perform(performance{
		action: action, enablement: d.c.Enabled[place].Number, trigger: ByUser, actor: e.Actor.Name, comment: e.Comment, skips: true, output: e.Output,
	})
	if err != nil {
		return err
	}
	return d.bringToRest()
}
