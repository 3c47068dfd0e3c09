package engine

import (
	"slices"

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

// context adds whom a context stands for: a user, or the administrators of a team.
func (c *concerned) context(p *store.Party, why machine.Reason) {
	if p == nil {
		return
	}
	if p.Kind == identity.User {
		c.user(p, why)
		return
	}
	for _, admin := range p.Admins {
		c.user(c.table.ByName(identity.User, string(admin)), why)
	}
}

// admins adds those who administer a route; if there are none, or always, those who
// administer the server.
func (c *concerned) admins(routeID int64, always bool) {
	before := len(c.people)
	for _, party := range c.routeAdmins(routeID) {
		if party == string(identity.Everyone) {
			continue
		}
		for _, name := range c.persons(party) {
			c.user(c.table.ByName(identity.User, name), machine.ReasonAdmin)
		}
	}
	if len(c.people) > before && !always {
		return
	}
	for _, p := range c.table.Directory().Parties() {
		if admin := c.table.ByID(p.ID); admin.Administers() {
			c.user(admin, machine.ReasonAdmin)
		}
	}
}

// concernedBy returns whom something that is wrong with the case concerns, as far as
// they may see it: its starter, the owner of its schedule entry, those who have the
// task that it is about, and the administrators of the route.
func (t *notifier) concernedBy(of *trouble) ([]notice.Person, error) {
	core, c := t.change.after, &concerned{decider: t.decider, table: t.accounts.Table()}
	for _, name := range []string{core.Starter, core.Context} {
		party := c.table.ByName(identity.User, name)
		if party == nil {
			party = c.table.ByName(identity.Team, name)
		}
		c.context(party, machine.ReasonStarter)
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
	for _, party := range of.Holders {
		if party == machine.PartyAdmins || party == string(identity.Everyone) {
			continue // the former are told below
		}
		for _, name := range c.persons(party) {
			c.user(c.table.ByName(identity.User, name), machine.ReasonTask)
		}
	}
	c.admins(core.RouteID, false)
	return t.seeing(c.people)
}

// toldOf returns those who have been told of something that was wrong with the case,
// as far as they may still see it.
func (t *notifier) toldOf(of *trouble) ([]notice.Person, error) {
	return t.seeing(t.decider.people(of.Told))
}

// seeing returns those who may see the case.
func (t *notifier) seeing(people []notice.Person) (out []notice.Person, err error) {
	for i := range people {
		p := &people[i]
		sees, err := t.seesCase(t.tx, t.accounts.Principal(t.accounts.PartyID(string(p.Name))), &t.change.row)
		if err != nil {
			return nil, err
		}
		if sees {
			p.At, p.Sees, p.Case = t.change.after, true, t.change.row.ID
			out = append(out, *p)
		}
	}
	return out, nil
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

// people returns those users who may still log in.
func (e *decider) people(ids []identity.ID) []notice.Person {
	c := &concerned{decider: e, table: e.accounts.Table()}
	for _, id := range ids {
		c.user(c.table.ByID(id), machine.ReasonAdmin)
	}
	return c.people
}

func idsOf(table *account.Table, people []notice.Person) (ids []identity.ID) {
	for i := range people {
		if p := table.ByName(identity.User, string(people[i].Name)); p != nil {
			ids = append(ids, p.ID)
		}
	}
	return ids
}
