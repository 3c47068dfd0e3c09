package account

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// DeleteParty deletes a user or team that nothing refers to. A user who owns
// entries, routes or cases is disabled instead of deleted. Errors:
// errs.NotFound; errs.NotDeletable for the last administrator; errs.InUse for a
// team with anything of its own.
func (e *Accounts) DeleteParty(ctx context.Context, req change.Request, kind identity.Kind, name string) error {
	return e.maker.Store.Update(ctx, func(tx store.Tx) error {
		if err := mayChangeParties(req.By); err != nil {
			return err
		}
		t, err := Read(tx)
		if err != nil {
			return err
		}
		p := t.ByName(kind, name)
		if p == nil {
			return change.Absent(string(kind))
		}
		if err := change.CheckVersion(req.If, partyVersion(p)); err != nil {
			return err
		}
		if t.LastAdministrator(p) {
			return errs.New(errs.NotDeletable, "%q is the last enabled administrator; make another user an administrator first.", p.Name)
		}
		if p.Name == identity.Everyone || p.ID == req.By.ID {
			return errs.New(errs.NotDeletable, "%q cannot be deleted.", p.Name)
		}
		for _, other := range t.Directory().Parties() {
			if slices.Contains(other.Members, p.Name) || slices.Contains(other.Admins, p.Name) {
				return errs.New(errs.InUse, "The team %q names %q; remove it there first.", other.Name, p.Name)
			}
			if other.Deputy.User == p.Name {
				return errs.New(errs.InUse, "%q is the deputy of %q; remove it there first.", p.Name, other.Name)
			}
		}
		if err := tx.Write().Parties().Delete(p.ID); errs.Is(err, errs.InUse) && kind == identity.Team {
			return e.teamInUse(tx, p)
		} else if err != nil {
			return err
		}
		action := audit.UserDelete
		if kind == identity.Team {
			action = audit.TeamDelete
		}
		if err := e.log.Write(ctx, tx, audit.NewRow(req.By, req.Now, action, string(p.Name), "")); err != nil {
			return err
		}
		return e.Refresh(tx)
	})
}

// teamInUse returns an error that says where a team is used. A team cannot be
// disabled as a user can.
func (e *Accounts) teamInUse(r store.Reader, p *store.Party) error {
	routes := e.routes.RoutesOf(p.ID)
	entries, err := r.Entries().List(store.EntryFilter{Contexts: []identity.ID{p.ID}})
	if err != nil {
		return err
	}
	cases, err := r.Cases().List(store.CaseFilter{Access: []identity.ID{p.ID}, Limit: mostNamed})
	if err != nil {
		return err
	}
	var uses []string
	if len(routes) > 0 {
		uses = append(uses, "owns the routes "+few(routes))
	}
	if n := len(entries); n > 0 {
		names := make([]string, n)
		for i := range entries {
			names[i] = entries[i].UUID.String()
		}
		uses = append(uses, "is the context of the schedule entries "+few(names))
	}
	if n := len(cases); n > 0 {
		names := make([]string, n)
		for i := range cases {
			names[i] = strconv.FormatInt(cases[i].ID, 10)
		}
		uses = append(uses, "takes part in the cases "+few(names))
	}
	if len(uses) == 0 {
		uses = append(uses, "has documents or attachments")
	}
	return errs.New(errs.InUse, "The team %q %s; it can be deleted once that is no longer so. Until then its members can be removed.",
		p.Name, strings.Join(uses, ", and "))
}

// mostNamed is how many things a message names.
const mostNamed = 5

// few lists the first of many.
func few(names []string) string {
	if len(names) < mostNamed {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:mostNamed-1], ", ") + ", …"
}
