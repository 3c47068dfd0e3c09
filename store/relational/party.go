package relational

import (
	"fmt"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// partyTable has the deputy's name; the database has the id.
var partyTable = table[store.Party]{"parties", "user or team", func(p *store.Party, to []column) []column {
	return append(to, []column{
		{"id", fixed, (*int64)(&p.ID)},
		{"name", full, (*string)(&p.Name)},
		{"folded", unread, folded{(*string)(&p.Name)}},
		{"kind", full, (*string)(&p.Kind)},
		{"full_name", full, &p.FullName},
		{"email", full, &p.Email},
		{"admin", full, &p.Admin},
		{"disabled", full, &p.Disabled},
		{"members", full, list[identity.Name]{&p.Members}},
		{"admins", full, list[identity.Name]{&p.Admins}},
		{"coalesce((SELECT name FROM parties d WHERE d.id = parties.deputy_id), '')", selected, (*string)(&p.Deputy.User)},
		{"deputy_id", unread, deputy{&p.Deputy.User}},
		{"deputy_from", full, millis{&p.Deputy.From}},
		{"deputy_to", full, millis{&p.Deputy.To}},
		{"password", full, &p.Password},
		{"revision", full, &p.Revision},
		{"created", full, millis{&p.Created}},
		{"modified", full, millis{&p.Modified}},
		{"quiet", full, &p.Quiet},
		{"watch", full, list[string]{&p.Watch}},
		{"mail", full, wishes{&p.Mail}},
		{"zone", full, &p.Zone},
		{"factor", full, &p.Factor},
		{"origin", full, &p.Origin},
		{"pending", full, pending{&p.Pending}},
		{"quota", full, &p.Quota},
	}...)
}}

// deputy is the id of the user of that name.
type deputy struct{ name *identity.Name }

func (deputy) expression(place string) string {
	return `(SELECT id FROM parties WHERE folded = ` + place + `)`
}

func (d deputy) value() any { return identity.Fold(string(*d.name)) }

var (
	upsertParty   = partyTable.upsert("id")
	selectParties = `SELECT ` + partyTable.list("") + ` FROM parties ORDER BY id`
)

const (
	deleteParty = `DELETE FROM parties WHERE id = ?1`
	// Those of routes stay with these.
	deleteScenariosOf = `DELETE FROM scenarios WHERE author_id = ?1 AND route_id IS NULL`
)

// List returns all users and teams by id.
func (r partyReader) List() (all []store.Party, err error) {
	err = partyTable.add(r.c, &all, selectParties)
	return all, Failure("read the users and teams", err)
}

// Put stores a new party or replaces the one with that id. It returns
// errs.NameTaken if another party has the name, in any case.
func (t partyWriter) Put(p *store.Party) error {
	err := upsertParty.exec(t.c, p)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The name %q is in use; users and teams share one set of names.", p.Name)
	}
	return Failure("store a user or team", err)
}

// Delete deletes a user or team, with the answers and app passwords that
// are kept for it, its scenarios that wait for a route, and what its documents were
// before.
// One that anything refers to is errs.InUse.
func (t partyWriter) Delete(id identity.ID) error {
	if err := versionWriter(t).leave(id); err != nil {
		return err
	}
	t.c.try()
	n, err := t.c.Change(deleteParty, int64(id))
	err = t.c.tried(err)
	if isReferred(err) {
		return errs.New(errs.InUse, "The user or team owns or takes part in something that is stored; disable it instead.")
	}
	if err := found(n, err, "user or team"); err != nil {
		return err
	}
	_, err = t.c.Exec(deleteScenariosOf, int64(id))
	return Failure("delete the scenarios of a user", err)
}

// found translates the outcome of a change to one row.
func found(changed int64, err error, what string) error {
	if err != nil {
		return Failure(fmt.Sprintf("change a %s", what), err)
	}
	if changed == 0 {
		return notFound(what)
	}
	return nil
}

// read translates the outcome of a query for one row.
func read(found bool, err error, what string) error {
	if err != nil {
		return Failure(fmt.Sprintf("read a %s", what), err)
	}
	if !found {
		return notFound(what)
	}
	return nil
}

func notFound(what string) error { return errs.New(errs.NotFound, "There is no such %s.", what) }
