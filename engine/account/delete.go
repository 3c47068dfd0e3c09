package account

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// DeleteParty deletes a user or team that nothing uses. With handOver, the name of
// another user or team, all that it has goes to that one first; "" is nobody. Cases go
// before the user or team is deleted, some at a time; if that ends halfway, the same again
// does the rest. Errors: errs.NotFound; errs.NotDeletable for the last
// administrator; errs.InUse, with what uses it
// (docs/contract/drive.md#what-is-in-use); errs.BadParameter for a handOver that
// is not another user or team.
func (e *Accounts) DeleteParty(ctx context.Context, req change.Request, kind identity.Kind, name, handOver string) error {
	return e.remove(ctx, req, removal{kind: kind, name: name, handOver: handOver})
}

// removal says what is to be deleted, and how.
type removal struct {
	kind     identity.Kind
	name     string
	handOver string // to whom all goes, "": to nobody
	erase    bool   // the name as well, from what is left of the user
}

func (e *Accounts) remove(ctx context.Context, req change.Request, r removal) error {
	var in []identity.ID
	kind, handOver := r.kind, r.handOver
	if p := e.Table().ByName(kind, r.name); p != nil && e.Table().renaming(p.ID) && mayChangeParties(req.By) == nil {
		e.ties.FollowRename(ctx, req, p.ID) // what names it is looked for by its name
	}
	since, err := e.leaveAhead(ctx, req, r)
	if err != nil {
		return err
	}
	err = e.maker.Store.Update(ctx, func(tx store.Tx) error {
		t, p, err := e.deletable(tx, req, kind, r.name)
		if err != nil {
			return err
		}
		in = t.teamsWith(p.Name)
		called := p.Name // as it was asked for
		cases := lately(tx, since)
		if r.erase {
			if t, p, err = e.erased(ctx, tx, req, replacement{t, Replacement{From: p, Cases: cases}}); err != nil {
				return err
			}
		}
		if handOver != "" {
			to, err := handOverTo(t, p, handOver)
			if err == nil {
				err = e.replaceParty(ctx, tx, req, replacement{t, Replacement{p, to, cases}})
			}
			if err != nil {
				return err
			}
		} else if err := e.unused(tx, req, p, called); err != nil {
			return err
		} else if err := e.ties.ForgetParty(tx, p); err != nil {
			return err
		}
		if err := tx.Write().Parties().Delete(p.ID); err != nil {
			return err
		}
		action := audit.UserDelete
		if kind == identity.Team {
			action = audit.TeamDelete
		}
		detail := ""
		if handOver != "" {
			detail = "handed over to " + handOver
		}
		if r.erase {
			detail = strings.TrimSuffix("erased, "+detail, ", ")
		}
		if err := e.log.Write(ctx, tx, audit.NewRow(req.By, req.Now, action, string(p.Name), detail)); err != nil {
			return err
		}
		if err := e.Refresh(tx); err != nil {
			return err
		}
		if err := e.mailboxLeft(tx, req, p); err != nil {
			return err
		}
		return e.ties.DeputyChanged(tx, req, p, &store.Party{})
	})
	if err != nil || len(in) == 0 || req.DryRun {
		return err
	}
	return e.ties.StaffChanged(change.Committed(ctx), req, Staff{Changed: in})
}

// teamsWith returns the teams of which the user or team of that name is a member.
func (t *Table) teamsWith(name identity.Name) (ids []identity.ID) {
	for _, p := range t.Directory().Parties() {
		if slices.Contains(p.Members, name) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// deletable returns the user or team of that name if it may be deleted, with all
// there are.
func (e *Accounts) deletable(stored store.Reader, req change.Request, kind identity.Kind, name string) (*Table, *store.Party, error) {
	if err := mayChangeParties(req.By); err != nil {
		return nil, nil, err
	}
	t, err := Read(stored)
	if err != nil {
		return nil, nil, err
	}
	p := t.ByName(kind, name)
	if p == nil {
		return nil, nil, change.Absent(string(kind))
	}
	if err := e.maker.CheckRequest(stored.Locks(), req, partyVersion(p), partyScope(p)); err != nil {
		return nil, nil, err
	}
	if t.LastAdministrator(p) {
		return nil, nil, errs.New(errs.NotDeletable, "%q is the last enabled administrator; make another user an administrator first.", p.Name)
	}
	if p.Name == identity.Everyone || p.ID == req.By.ID {
		return nil, nil, errs.New(errs.NotDeletable, "%q cannot be deleted.", p.Name)
	}
	return t, p, nil
}

// unused returns an error that names what uses the user or team, which is called so in it.
func (e *Accounts) unused(stored store.Reader, req change.Request, p *store.Party, called identity.Name) error {
	uses, err := e.ties.PartyUses(stored, req.By, p)
	if err != nil || uses.None() {
		return err
	}
	advice := "DELETE with ?handOver=<user> gives all that to another user."
	if p.Kind == identity.User {
		advice += " Or disable the user instead."
	}
	return uses.InUse(fmt.Sprintf("The %s %q", p.Kind, called), advice)
}

// handOverTo returns the user or team of that name, to whom all is to go that
// another one has.
func handOverTo(t *Table, from *store.Party, name string) (*store.Party, error) {
	found := t.Directory().ByName(identity.Name(name))
	if found == nil {
		f := errs.Fault{Pointer: "/handOver", Detail: fmt.Sprintf("must be the name of another user or team; there is no %q", name), Code: errs.CodeNotFound}
		return nil, &errs.Error{Kind: errs.BadParameter, Detail: f.String(), Faults: []errs.Fault{f}}
	}
	if found.ID == from.ID || found.Name == identity.Everyone {
		return nil, errs.New(errs.BadParameter, "The parameter handOver must be the name of another user or team, not %q.", name)
	}
	if found.Disabled {
		return nil, errs.New(errs.BadParameter, "%q is disabled; hand over to a user who can log in.", found.Name)
	}
	return t.ByID(found.ID), nil
}

// Replacement puts one party into the place of another. If both have the same id,
// it has a new name.
type Replacement struct {
	From, To *store.Party
	Cases    []int64 // those that can name From; nil: all
}

// replacement is one with how users and teams were before.
type replacement struct {
	t *Table
	Replacement
}

// replaceParty has everything name one party in place of another: teams, deputies,
// and what there is outside of the accounts.
func (e *Accounts) replaceParty(ctx context.Context, tx store.Tx, req change.Request, r replacement) error {
	for _, other := range r.t.Directory().Parties() {
		if other.ID == r.From.ID {
			continue
		}
		in, p := r.t.ByID(other.ID), r.in(*r.t.ByID(other.ID))
		if sameParty(in, &p) {
			continue
		}
		p.Revision++
		p.Modified = req.Now
		if err := tx.Write().Parties().Put(&p); err != nil {
			return err
		}
		if err := e.log.WriteParty(ctx, tx, req.By, in, &p); err != nil {
			return err
		}
	}
	return e.ties.ReplaceParty(ctx, tx, req, r.Replacement)
}

// in returns a user or team that names the one in place of the other.
func (r *replacement) in(p store.Party) store.Party {
	p.Members = replaced(p.Members, r.From.Name, r.To.Name, p.Name)
	p.Admins = replaced(p.Admins, r.From.Name, r.To.Name, p.Name)
	if p.Deputy.User == r.From.Name {
		if p.Deputy.User = r.To.Name; r.To.Kind != identity.User || r.To.ID == p.ID {
			p.Deputy = identity.Deputy{}
		}
	}
	return p
}

// replaced returns the names with one in place of another, each once, without
// that of the list's own party.
func replaced(list []identity.Name, from, to, own identity.Name) []identity.Name {
	if !slices.Contains(list, from) {
		return list
	}
	var out []identity.Name
	for _, name := range list {
		if name == from {
			name = to
		}
		if name != own && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
