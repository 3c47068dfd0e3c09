package machine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/route"
)

// TimeLimit is a timer on which a task depends, and what happens when it expires.
type TimeLimit struct {
	Kind TimerKind
	At   time.Time
	Then string // in sentences
}

// mostLimits is how many time limits a task tells of.
const mostLimits = 10

// TimeLimits returns what happens by itself if nobody does anything about an enabled action,
// the first in time: at the limits of the action, of the case and its state, of timers of the
// route, and if other actions are performed by themselves. The later ones may never come,
// because an earlier one may end the task. A suspended case has none.
func TimeLimits(c *Case, r *route.Route, action string) []TimeLimit {
	all := Deadlines(c, r, func(other string) bool { return other == action }, true)
	out := make([]TimeLimit, 0, min(len(all), mostLimits))
	for _, d := range all[:min(len(all), mostLimits)] {
		at, _ := findTimer(c, r, d.Timer) // it is there, as it has a deadline
		out = append(out, TimeLimit{Kind: d.Kind, At: d.At, Then: whenExpired(c, r, at)})
	}
	return out
}

// whenExpired says in a sentence what happens when a timer expires.
func whenExpired(c *Case, r *route.Route, at timerRef) string {
	if at.kind == TimeoutTimer {
		return sentence(performedBySelf(c, r, at.action))
	}
	steps := handlersOf(c, r, at)
	if len(steps) == 0 { // a warning, as lateness has it
		switch at.kind {
		case StateTimer, CaseTimer:
			return "The case counts as overdue, and those concerned are told."
		case UserTimer:
			return expiresAlone
		case OfferTimer, DueTimer, TimeoutTimer, reminder:
		}
		return "The task counts as overdue, and those concerned are told."
	}
	var said []string
	for i := range steps {
		text := effect(c, r, &steps[i])
		if text == "" {
			continue
		}
		if steps[i].If != nil {
			text += ", if the route's condition for that holds"
		}
		if !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	if len(said) == 0 {
		return expiresAlone
	}
	return sentence(strings.Join(said, "; "))
}

// expiresAlone says that a timer does nothing that can be named: only conditions of the
// route may ask whether it has expired.
const expiresAlone = "The timer expires. What follows depends on conditions of the route."

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// effect says what a step of a handler does, as people see it; "" if they see nothing of it.
func effect(c *Case, r *route.Route, s *route.Step) string {
	switch s.Verb {
	case route.StepPerform:
		return performedBySelf(c, r, s.Action)
	case route.StepSkip:
		return "the engine skips " + actionTitle(r, s.Action)
	case route.StepAbort:
		return "the engine takes back " + actionTitle(r, s.Action)
	case route.StepRetry:
		return "the engine tries " + actionTitle(r, s.Action) + " again"
	case route.StepAssign:
		if s.Add {
			return "the role " + roleTitle(r, s.Role) + " is given to " + partiesInWords(r, s.Parties) + " as well"
		}
		return "the role " + roleTitle(r, s.Role) + " is given to " + partiesInWords(r, s.Parties)
	case route.StepUnassign:
		return "the role " + roleTitle(r, s.Role) + " is taken from " + partiesInWords(r, s.Parties)
	case route.StepAddStakeholders:
		return "the case gets as stakeholders " + partiesInWords(r, s.Parties)
	case route.StepWarn:
		return "a warning is shown"
	case route.StepCancel:
		return "the case is canceled"
	case route.StepSuspend:
		return "the case is suspended"
	case route.StepStart:
		return "a case of the route " + strconv.Quote(s.Start.Route) + " is started"
	case route.StepSetTimer:
		return "the timer " + strconv.Quote(s.Timer) + " is set again"
	case route.StepEnableTimer:
		return "the timer " + strconv.Quote(s.Timer) + " is turned on"
	case route.StepMail:
		if to := partiesInWords(r, s.Outside.Mail.To); to != "" {
			return "a mail is sent to " + to
		}
		return "a mail is sent"
	case route.StepHTTP, route.StepCall:
		return "a service is called"
	case route.StepExec:
		return "a command is run"
	case route.StepSet, route.StepMessage, route.StepFilter, route.StepTable, route.StepText, route.StepLog, route.StepUnwarn, route.StepTitle,
		route.StepRemoveStakeholders, route.StepDisableTimer:
	}
	return ""
}

// performedBySelf says that the engine performs an action, and where that leads.
func performedBySelf(c *Case, r *route.Route, action int) string {
	text := "the engine performs " + actionTitle(r, action)
	if !has(r.Actions, action) {
		return text
	}
	a := &r.Actions[action]
	if a.Decide != nil {
		return text + ", and the route decides how it goes on"
	}
	to := a.To
	if transitions := transitionsFrom(c, r, a); len(transitions) == 1 && missingFor(c, r, &r.Transitions[transitions[0]], a.Name) == "" {
		to = r.Transitions[transitions[0]].To
	} else if len(transitions) > 0 {
		return text
	}
	if has(r.States, to) {
		text += ", and the case " + destination(r, to)
	}
	return text
}

func actionTitle(r *route.Route, action int) string {
	if !has(r.Actions, action) {
		return "an action"
	}
	return strconv.Quote(title(&r.Actions[action]))
}

func roleTitle(r *route.Route, name string) string {
	for i := range r.Roles {
		if r.Roles[i].Name == name {
			return strconv.Quote(cmp.Or(r.Roles[i].Title, name))
		}
	}
	return strconv.Quote(name)
}

// partiesInWords names those whom a step names: "dora, the starter".
func partiesInWords(r *route.Route, all []route.Recipient) string {
	names := make([]string, 0, len(all))
	for _, p := range all {
		name := p.Name
		switch p.Kind {
		case route.RecipientParty:
		case route.RecipientRole:
			name = "those of the role " + roleTitle(r, p.Name)
		case route.RecipientXattr:
			name = "whom " + strconv.Quote(p.Name) + " names"
			if x := r.Xattr(p.Name); x != nil && x.Title != "" {
				name = "whom " + strconv.Quote(x.Title) + " names"
			}
		case route.RecipientStarter:
			name = "the starter"
		case route.RecipientStakeholders:
			name = "the stakeholders"
		}
		names = append(names, name)
	}
	return fewNamed(names[:min(len(names), mostNamed+1)])
}
