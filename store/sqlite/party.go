package sqlite

import (
	"fmt"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	selectParties = `
		SELECT id, name, kind, full_name, email, admin, disabled, members, admins,
			coalesce((SELECT name FROM parties d WHERE d.id = parties.deputy_id), ''), deputy_from, deputy_to,
			password, revision, created, modified, quiet, watch
		FROM parties ORDER BY id`
	upsertParty = `
		INSERT INTO parties (id, name, folded, kind, full_name, email, admin, disabled, members, admins,
			password, revision, created, modified, deputy_id, deputy_from, deputy_to, quiet, watch)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
			(SELECT id FROM parties WHERE folded = ?15), ?16, ?17, ?18, ?19)
		ON CONFLICT (id) DO UPDATE SET
			name = ?2, folded = ?3, kind = ?4, full_name = ?5, email = ?6, admin = ?7, disabled = ?8,
			members = ?9, admins = ?10, password = ?11, revision = ?12, created = ?13, modified = ?14,
			deputy_id = excluded.deputy_id, deputy_from = ?16, deputy_to = ?17,
			quiet = ?18, watch = ?19`
	deleteParty = `DELETE FROM parties WHERE id = ?1`
)

// List returns all users and teams by id.
func (r partyReader) List() (all []store.Party, err error) {
	err = r.c.each(selectParties, func(scan scan) error {
		var p store.Party
		err := scan(&p.ID, &p.Name, &p.Kind, &p.FullName, &p.Email, &p.Admin, &p.Disabled,
			list[identity.Name]{&p.Members}, list[identity.Name]{&p.Admins},
			&p.Deputy.User, millis{&p.Deputy.From}, millis{&p.Deputy.To}, &p.Password, &p.Revision, millis{&p.Created}, millis{&p.Modified}, &p.Quiet, list[string]{&p.Watch})
		all = append(all, p)
		return err
	})
	return all, failure("read the users and teams", err)
}

// Put stores a new party or replaces the one of that id. A name that
// another party bears, whatever its case, is errs.NameTaken.
func (t partyWriter) Put(p *store.Party) error {
	_, err := t.c.exec(upsertParty, int64(p.ID), string(p.Name), identity.Fold(string(p.Name)), string(p.Kind),
		p.FullName, p.Email, p.Admin, p.Disabled, array(p.Members), array(p.Admins),
		p.Password, p.Revision, at(p.Created), at(p.Modified),
		identity.Fold(string(p.Deputy.User)), at(p.Deputy.From), at(p.Deputy.To), p.Quiet, array(p.Watch))
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The name %q is in use; users and teams share one set of names.", p.Name)
	}
	return failure("store a user or team", err)
}

// Delete deletes a user or team, with the answers and app passwords that
// are kept for it.
// One that anything refers to is errs.InUse.
func (t partyWriter) Delete(id identity.ID) error {
	n, err := t.c.change(deleteParty, int64(id))
	if isReferred(err) {
		return errs.New(errs.InUse, "The user or team owns or takes part in something that is stored; disable it instead.")
	}
	return found(n, err, "user or team")
}

// found translates the outcome of a change to one row.
func found(changed int64, err error, what string) error {
	if err != nil {
		return failure(fmt.Sprintf("change a %s", what), err)
	}
	if changed == 0 {
		return notFound(what)
	}
	return nil
}

// read translates the outcome of a query for one row.
func read(found bool, err error, what string) error {
	if err != nil {
		return failure(fmt.Sprintf("read a %s", what), err)
	}
	if !found {
		return notFound(what)
	}
	return nil
}

func notFound(what string) error { return errs.New(errs.NotFound, "There is no such %s.", what) }
