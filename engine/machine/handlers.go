package machine

import (
	"slices"
	"strconv"
	"strings"

	"flowdrive/route"
)

// The handlers of a route: steps that nobody waits for. One that fails is undone and
// leaves a warning, which goes when the handler runs again, with the task that it is of,
// when the case leaves the state or ends, and, of onError, when what had failed is tried
// again or given up (docs/contract/engine.md#failures).

// handler is a handler in a case, or a step that does not fail and yet may do nothing.
type handler struct {
	name   string // "onError of pay", "the timer nag"
	source string // the action or timer
	number int64  // of the enablement that its warnings go with, 0: the case
}

// onErrorOf begins the name of the handlers of errors.
const onErrorOf = "onError of "

func timerHandler(source string, number int64) handler {
	return handler{"the timer " + source, source, number}
}
func errorHandlerOf(source string) handler { return handler{onErrorOf + source, source, 0} }

// handlerFailed logs that a step of a handler has failed and was undone, and warns of it.
func (d failures) handlerFailed(h handler, entry LogEntry, cause error) {
	d.add(entry)
	d.warnOf(h, entry.Text, h.name+": "+cause.Error())
}

// warnOf warns of a handler, and has people told of it.
func (d failures) warnOf(h handler, warning, told string) {
	d.changed = true
	if len(d.c.Warnings) < maxNotices {
		d.c.Warnings = append(slices.Clip(d.c.Warnings), Warning{Timer: h.source, Time: d.now, Text: warning, Enablement: h.number, Handler: h.name})
	}
	d.failed(Failure{Action: h.source, Handler: h.name, Kind: FailureFault, Text: clipLine(told)})
}

// didNothing warns, as of a handler, that a step has not done what it was to do, though
// it has not failed. The caller logs it.
func (d failures) didNothing(h handler, text string) {
	d.dropWarnings(func(w Warning) bool { return w.Handler == h.name && w.Enablement == h.number })
	d.warnOf(h, text, text)
}

// notNamed warns of a step that does not give a role, or the case, all the people that it
// names, as those of notReached. That the case has no stakeholders is not wrong, and whom
// it is to be taken from and who is not there needs nothing.
func (d stepRun) notNamed(s *route.Step, named []string) {
	if s.Verb != route.StepAssign && s.Verb != route.StepAddStakeholders {
		return
	}
	what := string(s.Verb)
	if s.Role != "" {
		what += " of " + strconv.Quote(s.Role)
	}
	h := handler{name: what + " by " + d.source, source: d.source, number: d.sourceEnablement(d.source)}
	others := func(r route.Recipient) bool { return r.Kind != route.RecipientStakeholders }
	unknown := d.unknownOf(s.Parties)
	switch nobody := len(named) == 0; {
	case len(unknown) > 0 && nobody:
		d.failures().didNothing(h, h.name+" names nobody: no user or team is called "+listed(unknown))
	case len(unknown) > 0:
		d.failures().didNothing(h, h.name+" leaves some out: no user or team is called "+listed(unknown))
	case nobody && s.Verb == route.StepAssign && slices.ContainsFunc(s.Parties, others):
		d.failures().didNothing(h, h.name+" names nobody")
	default:
		d.failures().handlerRuns(h)
	}
}

// handlerRuns removes the warnings of a handler, because it runs again.
func (d failures) handlerRuns(h handler) {
	d.dropWarnings(func(w Warning) bool { return w.Handler == h.name && w.Enablement == h.number })
	d.ran = append(d.ran, h.name)
}

// forgetOnError removes the warnings of onError of an action or timer, because what had
// failed there is tried again or given up.
func (d failures) forgetOnError(source string) {
	d.dropWarnings(func(w Warning) bool { return w.Handler == onErrorOf+source })
}

// FailedHandler reports whether a handler of that name has failed in the case, and the
// case still warns of it.
func (c *Case) FailedHandler(name string) bool {
	return !c.Life.Ended() && slices.ContainsFunc(c.Warnings, func(w Warning) bool { return w.Handler == name })
}

// forgetHandlers removes the warnings of handlers that are of no task, because the case
// has left the state in which they failed.
func (d failures) forgetHandlers() {
	if d.from == nil || d.from.Visit == d.c.Visit {
		return
	}
	d.dropWarnings(func(w Warning) bool { return w.Handler != "" && w.Enablement == 0 && !d.hasBroken(w.Handler) })
}

// hasBroken reports whether a handler of that name has failed in this event; "" is none.
func (d failures) hasBroken(name string) bool {
	return name != "" && slices.ContainsFunc(d.broke, func(f Failure) bool { return f.Handler == name })
}

// handlersOver returns the handlers that had failed before the event and that the case
// does not warn of any more.
func (d failures) handlersOver() (out []Failure) {
	if d.from == nil {
		return nil
	}
	for i := range d.from.Warnings {
		w := &d.from.Warnings[i]
		known := func(f Failure) bool { return f.Handler == w.Handler }
		if !d.from.FailedHandler(w.Handler) || w.Handler == "" || d.c.FailedHandler(w.Handler) || slices.ContainsFunc(out, known) {
			continue
		}
		f := Failure{Action: w.Timer, Handler: w.Handler, Kind: FailureFault, Over: FailureGone, At: d.now}
		if slices.Contains(d.ran, w.Handler) && !d.hasBroken(w.Handler) {
			f.Over = FailureMended
		}
		out = append(out, f)
	}
	return out
}

// withHandlers puts what has failed of one handler in this event together. What onError
// could not do about something that waits to be mended is told with that.
func withHandlers(broke []Failure) (out []Failure) {
	for i := range broke {
		f := &broke[i]
		if f.Handler == "" {
			out = append(out, *f)
		}
	}
	for i := range broke {
		f := &broke[i]
		if f.Handler == "" {
			continue
		}
		ofError := strings.HasPrefix(f.Handler, onErrorOf)
		at := slices.IndexFunc(out, func(o Failure) bool {
			return o.Handler == f.Handler || ofError && o.Handler == "" && !o.Handled && o.Action == f.Action
		})
		if at < 0 {
			out = append(out, *f)
		} else {
			out[at].Text = clipLine(strings.TrimSuffix(out[at].Text, ".") + "; " + f.Text)
		}
	}
	return out
}
