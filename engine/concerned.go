package engine

import (
	"cmp"
	"slices"
	"time"

	"flowdrive/engine/account"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// concerned collects the people whom something that is wrong concerns, each once,
// for the first reason.
type concerned struct {
	*decider
	table  *account.Table
	people []notice.Person
}

// user adds a user who may log in.
func (c *concerned) user(p *store.Party, why machine.Reason) {
	if p == nil || p.Kind != identity.User || p.Disabled || slices.ContainsFunc(c.people, func(have notice.Person) bool { return have.Name == p.Name }) {
		return
	}
	c.people = append(c.people, notice.Person{Notice: machine.Notice{Person: string(p.Name), Why: why}, Name: p.Name, Email: p.MailTo()})
}

// context adds whom a context stands for: a user, for that reason, or the
// administrators of a team.
func (c *concerned) context(p *store.Party, why machine.Reason) {
	if p == nil {
		return
	}
	if p.Kind == identity.User {
		c.user(p, why)
		return
	}
	for _, admin := range p.Admins {
		c.user(c.table.ByName(identity.User, string(admin)), machine.ReasonTeam)
	}
}

// deputies adds those who stand in for users who have the task: these may be away. lends
// reports whether a deputy may do it for such a user.
func (c *concerned) deputies(holders []string, now time.Time, lends func(absent, deputy *store.Party) bool) {
	for _, name := range holders {
		p := c.table.ByName(identity.User, name)
		if p == nil || !p.Deputy.Active(now) {
			continue
		}
		deputy := c.table.ByName(identity.User, string(p.Deputy.User))
		if deputy == nil || !lends(p, deputy) {
			continue
		}
		c.user(deputy, machine.ReasonDeputy)
		at := slices.IndexFunc(c.people, func(have notice.Person) bool { return have.Name == deputy.Name })
		if at >= 0 && c.people[at].Why == machine.ReasonDeputy && !slices.Contains(c.people[at].Behalf, string(p.Name)) {
			c.people[at].Behalf = append(c.people[at].Behalf, string(p.Name))
		}
	}
}

// admins adds those who administer a route; if none of them can be told, or always, those
// who administer the server.
func (c *concerned) admins(routeID int64, always bool) {
	before, reached := len(c.people), false
	for _, party := range c.rights.Admins(routeID) {
		if party == string(identity.Everyone) {
			continue
		}
		for _, name := range c.persons(party) {
			p := c.table.ByName(identity.User, name)
			reached = reached || c.channels.reaches(p)
			c.user(p, machine.ReasonAdmin)
		}
	}
	if len(c.people) > before && reached && !always {
		return
	}
	for _, p := range c.table.Directory().Parties() {
		if admin := c.table.ByID(p.ID); admin.Administers() {
			c.user(admin, machine.ReasonServer)
		}
	}
}

// concernedBy returns whom something that is wrong with the case concerns, as far as
// they may see it: its starter, the owner of its schedule entry, those who have the
// task that it is about, their deputies, and the administrators of the route.
func (t *notifier) concernedBy(of *trouble) ([]notice.Person, error) {
	core, c := t.change.after, &concerned{decider: t.decider, table: t.accounts.Table()}
	for _, of := range []struct {
		name string
		why  machine.Reason
	}{{core.Starter, machine.ReasonStarter}, {core.Context, machine.ReasonContext}} {
		party := c.table.ByName(identity.User, of.name)
		if party == nil {
			party = c.table.ByName(identity.Team, of.name)
		}
		c.context(party, of.why)
	}
	if uuid, scheduled := store.ParseUUID(core.ScheduleUUID); scheduled {
		entry, err := store.OrNil(t.tx.Entries().Get(uuid))
		if err != nil {
			return nil, err
		}
		if entry != nil {
			c.user(c.table.ByID(entry.AuthorID), machine.ReasonOwner)
		}
	}
	var holders []string
	for _, party := range of.Holders {
		if party == machine.PartyAdmins || party == string(identity.Everyone) {
			continue // the former are told below
		}
		for _, name := range c.persons(party) {
			c.user(c.table.ByName(identity.User, name), machine.ReasonTask)
			holders = append(holders, name)
		}
	}
	c.deputies(holders, t.now(), func(absent, deputy *store.Party) bool {
		return of.What != notice.WhatOverdue || t.lends(absent, deputy, machine.ReasonReminder, machine.TaskRef{Case: core.ID, Action: of.Task})
	})
	c.admins(core.RouteID, false)
	return t.seeing(c.people)
}

// toldOf returns those who have been told of something that was wrong with the case,
// as far as they may still see it.
func (t *notifier) toldOf(of *trouble) ([]notice.Person, error) {
	return t.seeing(t.decider.toldPeople(of))
}

// seeing returns those who may see the case.
func (t *notifier) seeing(people []notice.Person) (out []notice.Person, err error) {
	for i := range people {
		p := &people[i]
		by := t.accounts.Principal(t.accounts.PartyID(string(p.Name)))
		sees, err := t.rights.SeesCase(t.tx, by, &t.change.row)
		if err != nil {
			return nil, err
		}
		if sees {
			p.At, p.Sees, p.Case = t.change.after, true, t.change.row.ID
			p.Mends, p.Notice.Tasks = t.canDo(by)
			out = append(out, *p)
		}
	}
	return out, nil
}

// canDo returns whether somebody may have what has failed in the case tried again, and
// what else they can do with a case that waits in a state of the type failed.
func (t *notifier) canDo(by identity.Principal) (mends bool, tasks []machine.TaskRef) {
	c := t.change
	info := t.rights.Route(c.after.RouteID)
	mends = by.Admin() || info != nil && t.rights.Administers(by, info)
	return mends, machine.WaysOut(c.after, c.route, t.rights.Actor(by, mends))
}

// concernedByEntry returns whom it concerns that a schedule entry does not create
// its case: its author, its context, and the administrators of the route and of the
// server.
func (e *decider) concernedByEntry(stored *store.Entry) []notice.Person {
	c := &concerned{decider: e, table: e.accounts.Table()}
	c.user(c.table.ByID(stored.AuthorID), machine.ReasonOwner)
	c.context(c.table.ByID(stored.ContextID), machine.ReasonOwner)
	c.admins(stored.RouteID, true)
	return c.people
}

// toldButNot returns those who have been told of something, except the user whose doing
// it is that it is over, whom it names in what they are told; 0 is nobody.
func (e *decider) toldButNot(of *trouble, by identity.ID, over *notice.Trouble) []notice.Person {
	p := e.accounts.Table().ByID(by)
	if p == nil {
		return e.toldPeople(of)
	}
	over.By = e.accounts.Table().Called(p)
	return slices.DeleteFunc(e.toldPeople(of), func(told notice.Person) bool { return told.Name == p.Name })
}

// toldPeople returns those who have been told of something, for the reason for which
// they were, as far as they may still log in.
func (e *decider) toldPeople(of *trouble) []notice.Person {
	c := &concerned{decider: e, table: e.accounts.Table()}
	for _, id := range of.Told {
		c.user(c.table.ByID(id), cmp.Or(of.Why[id], machine.ReasonTold))
	}
	return c.people
}
