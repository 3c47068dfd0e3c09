package machine

import (
	"slices"
	"strings"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// Accepted is the state of a task that somebody has accepted. It is not offered to
// others, and its guard is not evaluated any more.
const Accepted TaskState = "accepted"

// forPeople reports whether an enablement in this state waits for people.
func (s TaskState) forPeople() bool { return s == Offered || s == Accepted }

// Offer is what is known of a task: whom it is offered to, and who has accepted it
// (docs/contract/engine.md#5-tasks).
type Offer struct {
	By       string   `json:"ab,omitempty"` // the user who has accepted it, "" for none
	For      string   `json:"af,omitempty"` // the user on whose behalf, "" for none
	To       string   `json:"dt,omitempty"` // the user that it was delegated to; "": it is offered to its roles
	Giver    string   `json:"dg,omitempty"` // the user who delegated it, "" if it is not delegated
	Rejected []string `json:"rj,omitempty"` // users who have rejected it
	Withdrew []string `json:"wi,omitempty"` // actions that its acceptance withdrew
}

type (
	// Accept has the actor accept an offered task.
	Accept struct {
		Action  string
		Actor   Actor
		Comment string
	}

	// Release offers an accepted task again.
	Release struct {
		Action  string
		Actor   Actor
		Comment string
	}

	// Reject ends the offer of a task to the actor.
	Reject struct {
		Action  string
		Actor   Actor
		Comment string
	}

	// Delegate offers a task to one user alone.
	Delegate struct {
		Action  string
		Actor   Actor
		Comment string
		To      string // a user's name
	}
)

func (Accept) event()   {}
func (Release) event()  {}
func (Reject) event()   {}
func (Delegate) event() {}

// enablement returns the enablement of the action, nil if it is not enabled.
func (c *Case) enablement(action string) *Enabled {
	for i := range c.Enabled {
		if c.Enabled[i].Action == action {
			return &c.Enabled[i]
		}
	}
	return nil
}

// availableTo reports whether nobody has accepted the task, or name has, or somebody
// has accepted it on behalf of name.
func (e *Enabled) availableTo(name string) bool {
	return e == nil || e.State != Accepted || sameName(e.By, name) || e.For != "" && sameName(e.For, name)
}

// rejectedBy reports whether the user has rejected the task.
func (e *Enabled) rejectedBy(name string) bool {
	return e != nil && slices.ContainsFunc(e.Rejected, func(who string) bool { return sameName(who, name) })
}

// hasAccepted reports whether the actor has accepted the task, or is the deputy of
// the user who has. onBehalfOf is that user, "" if the actor acts for itself.
func (a *Actor) hasAccepted(e *Enabled) (onBehalfOf string, yes bool) {
	switch {
	case e.State != Accepted:
		return "", false
	case sameName(e.By, a.Name):
		return e.For, true
	case e.availableTo(a.Name):
		return "", true
	}
	for i := range a.DeputyFor {
		if absent := a.DeputyFor[i].Name; e.availableTo(absent) {
			return absent, true
		}
	}
	return "", false
}

// personal handles the events that a person asks for.
type personal struct{ *caseDecision }

func (d *caseDecision) personal() personal { return personal{d} }

// taskPlace returns the place of the task that a person names: of an action that
// people may perform now.
func (d personal) taskPlace(action string, actor Actor) (place int, err error) {
	i, err := d.named(action, actor)
	if err != nil {
		return 0, err
	}
	d.asked = d.route.Actions[i].Name
	return d.offered(i)
}

// checkNotOthers refuses a task that somebody else has accepted.
func (d personal) checkNotOthers(place int, actor Actor) error {
	if !d.isOthers(place, actor) {
		return nil
	}
	e := &d.c.Enabled[place]
	refusal := errs.New(errs.ActionNotEnabled, "%s has accepted %q; it must be released before anyone else can perform it.", e.By, e.Action)
	refusal.Extra = map[string]any{"enabled": enabledFor(d.c, d.route, people), "acceptedBy": e.By}
	return refusal
}

// isOthers reports whether somebody other than the actor has accepted a task.
func (d personal) isOthers(place int, actor Actor) bool {
	e := &d.c.Enabled[place]
	_, holds := actor.hasAccepted(e)
	return e.State == Accepted && !holds
}

// checkAvailable refuses the performance of a task that must be accepted first, or
// that somebody else has accepted. Administrators of the route may perform tasks
// that others have accepted.
func (d personal) checkAvailable(place int, actor Actor) error {
	e := &d.c.Enabled[place]
	if d.route.Actions[d.actions[place]].MustAccept && e.State != Accepted {
		refusal := errs.New(errs.ActionNotEnabled, "%q must be accepted before it can be performed: save {\"do\": \"accept\"} first.", e.Action)
		refusal.Extra = map[string]any{"enabled": enabledFor(d.c, d.route, people)}
		return refusal
	}
	if actor.RouteAdmin {
		return nil
	}
	return d.checkNotOthers(place, actor)
}

// notAssigned returns the refusal of an actor who may not perform the action.
func (d personal) notAssigned(place int, actor Actor) error {
	e, a := &d.c.Enabled[place], &d.route.Actions[d.actions[place]]
	switch {
	case e.rejectedBy(actor.Name):
		return errs.New(errs.NotAllowed, "You have rejected %q; it is no longer yours.", a.Name)
	case e.givenBy(actor.Name):
		return errs.New(errs.NotAllowed, "%q was delegated to %s by you. Take it back first: {\"do\": \"release\"}.", a.Name, e.To)
	case e.To != "" && e.Giver != "":
		return errs.New(errs.NotAllowed, "%q was delegated to %s; only that user and administrators of the route may perform it. %s, who delegated it, can take it back.", a.Name, e.To, e.Giver)
	case e.To != "":
		return errs.New(errs.NotAllowed, "%q was delegated to %s; only that user and administrators of the route may perform it.", a.Name, e.To)
	}
	return errs.New(errs.NotAllowed, "%q may be performed by %s; you are not one of them.", a.Name, performers(a, d.status))
}

// taskLog logs what a person did with a task.
func (d personal) taskLog(place int, actor Actor, behalf, text, said string) {
	entry := byPerson(actor, said)
	entry.Kind, entry.Action, entry.Text = LogTask, new(d.c.Enabled[place].Action), text
	if behalf != "" {
		entry.OnBehalfOf = new(behalf)
	}
	d.changed = true
	d.add(entry)
}

// accept has the actor accept a task. The other actions of the same choice are
// withdrawn. If the actor has accepted the task already, nothing changes.
func (d personal) accept(e Accept) error {
	place, err := d.taskPlace(e.Action, e.Actor)
	if err != nil {
		return err
	}
	if err := d.notByOne(place); err != nil {
		return err
	}
	task, i := &d.c.Enabled[place], d.actions[place]
	if task.State == Accepted {
		if sameName(task.By, e.Actor.Name) {
			return d.bringToRest()
		}
		return d.checkNotOthers(place, Actor{Name: e.Actor.Name})
	}
	a := &d.route.Actions[i]
	behalf, may := mayPerform(d.c, d.status, a, e.Actor)
	if !may {
		return d.notAssigned(place, e.Actor)
	}
	if err := d.fourEyes(a, e.Actor.Name, behalf); err != nil {
		return err
	}
	before := len(d.c.Withdrawn)
	text := "Accepted " + title(a)
	if withdrawn := d.choose(i); len(withdrawn) > 0 {
		text += ", which withdrew " + strings.Join(withdrawn, ", ")
	}
	d.setState(place, Accepted)
	task.By, task.For, task.Withdrew = e.Actor.Name, behalf, nilIfEmpty(slices.Clone(d.c.Withdrawn[before:]))
	d.taskLog(place, e.Actor, behalf, text, e.Comment)
	return d.bringToRest()
}

// giveBack ends an acceptance. The pass that follows enables again what it had
// withdrawn.
func (d *caseDecision) giveBack(e *Enabled) {
	if len(e.Withdrew) > 0 {
		d.c.Withdrawn = slices.DeleteFunc(slices.Clone(d.c.Withdrawn), func(name string) bool { return slices.Contains(e.Withdrew, name) })
	}
	e.By, e.For, e.Withdrew = "", "", nil
	d.changed = true
}

// release offers an accepted task again, to the same users as before.
func (d personal) release(e Release) error {
	place, err := d.taskPlace(e.Action, e.Actor)
	if err != nil {
		return err
	}
	task := &d.c.Enabled[place]
	if d.route.Actions[d.actions[place]].Need != nil {
		return d.takeBack(place, e)
	}
	if task.To != "" && task.State != Accepted {
		return d.endDelegation(place, e)
	}
	if task.State != Accepted {
		refusal := errs.New(errs.ActionNotEnabled, "Nobody has accepted %q.", task.Action)
		refusal.Extra = map[string]any{"enabled": enabledFor(d.c, d.route, people)}
		return refusal
	}
	behalf, holds := e.Actor.hasAccepted(task)
	if !holds && !e.Actor.RouteAdmin {
		return errs.New(errs.NotAllowed, "Only %s, who has accepted %q, and administrators of the route may release it.", task.By, task.Action)
	}
	d.setState(place, Offered)
	d.taskLog(place, e.Actor, behalf, "Released "+title(&d.route.Actions[d.actions[place]]), e.Comment)
	return d.bringToRest()
}

// givenBy reports whether the user has delegated the task, and nobody has accepted it
// since.
func (e *Enabled) givenBy(name string) bool {
	return e.To != "" && e.State != Accepted && e.Giver != "" && sameName(e.Giver, name)
}

// endDelegation offers a delegated task to its roles again: by the user who delegated
// it, by the one who got it, and by administrators of the route.
func (d personal) endDelegation(place int, e Release) error {
	task := &d.c.Enabled[place]
	if !task.givenBy(e.Actor.Name) && !sameName(task.To, e.Actor.Name) && !e.Actor.RouteAdmin {
		return d.notAssigned(place, e.Actor)
	}
	text := "Took back " + title(&d.route.Actions[d.actions[place]]) + " from " + task.To
	if sameName(task.To, e.Actor.Name) {
		text = "Gave back " + title(&d.route.Actions[d.actions[place]])
	}
	task.To, task.Giver = "", ""
	d.taskLog(place, e.Actor, "", text, e.Comment)
	return d.bringToRest()
}

// reject ends the offer of a task to the actor, for as long as it is enabled. There
// must be another assignee.
func (d personal) reject(e Reject) error {
	place, err := d.taskPlace(e.Action, e.Actor)
	if err != nil {
		return err
	}
	if err := d.checkNotOthers(place, e.Actor); err != nil {
		return err
	}
	task, a := &d.c.Enabled[place], &d.route.Actions[d.actions[place]]
	behalf, offered := e.Actor.assignee(d.c, d.status, a, task)
	if !offered {
		return errs.New(errs.NotAllowed, "%q is not offered to you; there is nothing to reject.", a.Name)
	}
	if err := d.neededByQuorum(a, task, e.Actor.Name); err != nil {
		return err
	}
	others, err := d.others(a, task, e.Actor.Name)
	if err != nil {
		return err
	}
	if !others {
		refusal := errs.New(errs.ActionNotEnabled, "You are the last one who can do %q, so it cannot be given back. Delegate it to someone, or ask an administrator of the route to.", a.Name)
		refusal.Extra = map[string]any{"enabled": enabledFor(d.c, d.route, people)}
		return refusal
	}
	d.setState(place, Offered)
	task.Rejected = append(slices.Clip(task.Rejected), e.Actor.Name)
	d.taskLog(place, e.Actor, behalf, "Rejected "+title(a), e.Comment)
	return d.bringToRest()
}

// others reports whether the task has an assignee other than name who has not
// rejected it. Deputies do not count, because they are deputies only for a time.
func (d personal) others(a *route.Action, e *Enabled, name string) (bool, error) {
	for _, party := range assignees(d.c, d.status, a, e) {
		if party == PartyAdmins {
			return true, nil
		}
		members, ok := d.facts.Members[party]
		if !ok {
			d.need(Need{Members: party})
			continue
		}
		left := slices.ContainsFunc(members, func(member string) bool { return !sameName(member, name) && !e.rejectedBy(member) })
		if left {
			return true, nil
		}
	}
	if len(d.needs) > 0 {
		return false, errAbsent
	}
	return false, nil
}

// delegate offers a task to one user alone. An acceptance ends; timers stay as they
// are.
func (d personal) delegate(e Delegate) error {
	place, err := d.taskPlace(e.Action, e.Actor)
	if err != nil {
		return err
	}
	if err := d.notByOne(place); err != nil {
		return err
	}
	task, a := &d.c.Enabled[place], &d.route.Actions[d.actions[place]]
	behalf, may := e.Actor.hasAccepted(task)
	if !e.Actor.RouteAdmin && !may && !task.givenBy(e.Actor.Name) {
		if err := d.checkNotOthers(place, e.Actor); err != nil {
			return err
		}
		if behalf, may = e.Actor.assignee(d.c, d.status, a, task); !may {
			return d.notAssigned(place, e.Actor)
		}
	}
	to, err := d.user(e.To)
	if err != nil {
		return err
	}
	if err := d.fourEyes(a, "", to); err != nil {
		return err
	}
	d.setState(place, Offered)
	task.To, task.Giver = to, e.Actor.Name
	task.Rejected = nilIfEmpty(slices.DeleteFunc(slices.Clone(task.Rejected), func(who string) bool { return sameName(who, to) }))
	d.taskLog(place, e.Actor, behalf, "Delegated "+title(a)+" to "+to, e.Comment)
	return d.bringToRest()
}

// user returns the name of the user to whom a task is to be delegated, in the
// spelling of the account.
func (d personal) user(name string) (string, error) {
	if strings.TrimSpace(name) == "" {
		return "", badField("/to", errs.CodeRequired, "is required: the name of the user to whom the task is delegated")
	}
	kind, known := d.facts.Parties[name]
	members, listed := d.facts.Members[name]
	switch {
	case !known || !listed:
		if !known {
			d.need(Need{Party: name})
		}
		if !listed {
			d.need(Need{Members: name})
		}
		return "", errAbsent
	case kind == TeamParty:
		return "", badField("/to", errs.CodeNotFound, "%q is a team; name one user", name)
	case kind != UserParty || len(members) == 0:
		return "", badField("/to", errs.CodeNotFound, "%q is not a user who could perform it", name)
	}
	return members[0], nil
}

// Assignees returns the parties to whom an enabled action of the case is offered, as
// assignees does.
func Assignees(c *Case, r *route.Route, e *Enabled) []string {
	i := r.Action(e.Action)
	if i == unknown {
		return nil
	}
	return assignees(c, r.State(c.Status), &r.Actions[i], e)
}

// assignees returns the parties to whom an enabled action is offered, each once:
// names, and PartyAdmins for the administrators of the route. Users who have
// rejected it are left out, but teams that they are in are not.
func assignees(c *Case, status int, a *route.Action, e *Enabled) []string {
	if e.To != "" {
		return []string{e.To}
	}
	var out []string
	add := func(party string) {
		if !e.rejectedBy(party) && !slices.ContainsFunc(out, func(have string) bool { return sameName(have, party) }) {
			out = append(out, party)
		}
	}
	for _, role := range assignedRoles(a, status) {
		for _, party := range c.RoleParties(role) {
			if party != PartyStakeholders {
				add(party)
				continue
			}
			for _, one := range c.Stakeholders {
				add(one)
			}
		}
	}
	return out
}
