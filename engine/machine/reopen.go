package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// textRetried is what the log says of a failed case that is started again.
const textRetried = "Retried"

// reopenByPerson takes up a canceled case again, or has one that could not start
// queued again. A completed case is reopened only by its actions
// (docs/contract/engine.md#completion-and-reopening).
func (d personal) reopenByPerson(e Reopen) error {
	entry := LogEntry{Actor: new(e.Actor.Name), Trigger: new(ByUser), Comment: comment(e.Comment), Text: textReopened}
	switch d.c.Life {
	case Failed:
		if err := d.renewRoute(e.Version); err != nil {
			return err
		}
		entry.Text = textRetried
		d.setLife(Queued, entry)
	case Canceled:
		if d.c.Started.IsZero() {
			if d.c.Draft != nil {
				d.c.Draft = newDraft(d.now)
			}
			d.setLife(Queued, entry)
			return nil
		}
		return d.resumeCanceled(entry)
	case Completed:
		return d.refusals().notReopened()
	case Queued, Active, Suspended, Closed:
		return d.refusals().notOpen()
	}
	return nil
}

// resumeCanceled continues a canceled case in its former status, in a new visit.
// Everything is enabled again, with new children, but the steps for entering the
// status do not run.
func (d personal) resumeCanceled(entry LogEntry) error {
	if d.route.Model != route.Dependency {
		d.c.Visit++
		d.c.Done, d.c.Withdrawn = nil, nil
	}
	d.c.Completed = time.Time{} // if a step canceled it when it was complete
	d.c.Resolution = ""
	d.setLife(Active, entry)
	return d.bringToRest()
}

// renewRoute gives a case that could not start another version of its route. Players
// of roles that this does not have are removed; defaults of XATTRs that it declares
// are added.
func (d personal) renewRoute(version int64) error {
	if version == 0 || version == d.c.RouteVersion {
		return nil
	}
	d.c.RouteVersion = version
	d.dropRoles()
	return d.xattrs().addDeclared()
}

// dropRoles removes the players of roles that the route does not have, and sorts the
// others in its order of definition.
func (d *caseDecision) dropRoles() {
	var kept []Players
	for i := range d.route.Roles {
		if list := d.c.RoleParties(d.route.Roles[i].Name); len(list) > 0 {
			kept = append(kept, Players{Role: d.route.Roles[i].Name, Parties: list})
		}
	}
	if !slices.EqualFunc(kept, d.c.Roles, samePlayers) {
		d.c.Roles, d.changed = kept, true
	}
}

// notReopened returns the refusal to reopen a completed case. It names the actions
// that do.
func (d refusals) notReopened() error {
	names := []string{}
	for i := range d.route.Actions {
		if place := d.place(i); place >= 0 && d.c.Enabled[place].State == Offered && d.leadsOut(&d.route.Actions[i]) {
			names = append(names, d.route.Actions[i].Name)
		}
	}
	e := errs.New(errs.CaseNotOpen, "The case is completed; no action that is enabled now reopens it.")
	if d.endsFailed() {
		e.Detail = d.endedFailed()
	} else if len(names) > 0 {
		e.Detail = "The case is completed; it is reopened by performing one of these actions: " + strings.Join(names, ", ") + "."
	}
	e.Extra = map[string]any{"state": string(d.c.Shown()), "actions": names}
	return e
}

// endedFailed says of a case that has ended in a state of the type failed what can be done
// with it still. It is the refusal of everything else.
func (d refusals) endedFailed() string {
	text := fmt.Sprintf("The case has ended as failed, in the state %q.", d.c.Status)
	switch {
	case d.c.HasFailures():
		var names []string
		for _, u := range d.c.AllUndone() {
			names = append(names, u.Name)
		}
		for i := range d.c.Enabled {
			if d.c.Enabled[i].State == Escalated {
				names = append(names, d.c.Enabled[i].Action)
			}
		}
		text += fmt.Sprintf(" What has failed in it can be tried again, by its state active, or given up, by {\"do\": \"abort\"} to %s in its folder Actions/.", strings.Join(names, ", "))
	case d.c.GivenUp():
		by := ""
		if d.c.Moved.GivenUpBy != "" {
			by = " by " + d.c.Moved.GivenUpBy
		}
		text += fmt.Sprintf(" What had failed was given up%s: there is nothing left to try again or to cancel.", by)
	default:
		text += " There is nothing in it to try again or to cancel."
	}
	var actions []string
	for i := range d.route.Actions {
		if place := d.place(i); place >= 0 && d.c.Enabled[place].State == Offered && d.route.Actions[i].Trigger == route.TriggerUser {
			actions = append(actions, d.route.Actions[i].Name)
		}
	}
	if len(actions) > 0 {
		text += " These actions can be performed: " + strings.Join(actions, ", ") + "."
	}
	return text
}

// leadsOut reports whether the action can lead to a state that is not complete.
func (d refusals) leadsOut(a *route.Action) bool {
	open := func(state int) bool { return has(d.route.States, state) && !isComplete(&d.route.States[state]) }
	return open(a.To) ||
		slices.ContainsFunc(a.Outputs, func(o route.Output) bool { return open(o.To) }) ||
		slices.ContainsFunc(a.Transitions, func(t int) bool { return d.route.Transitions[t].From == d.status && open(d.route.Transitions[t].To) })
}
