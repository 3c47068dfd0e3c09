package access

import (
	"encoding/json"
	"fmt"
	"slices"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Represented returns those whose active deputy by is, as principals.
func (g *Rights) Represented(by identity.Principal) []identity.Principal {
	d := g.directory()
	parties := d.RepresentedBy(by.ID, g.now())
	if len(parties) == 0 {
		return nil
	}
	out := make([]identity.Principal, len(parties))
	for i, p := range parties {
		out[i] = d.Principal(p.ID)
	}
	return out
}

// deputyFor returns the same as the core sees them.
func (g *Rights) deputyFor(by identity.Principal) []machine.Absent {
	var out []machine.Absent
	for _, p := range g.Represented(by) {
		out = append(out, machine.Absent{Name: string(p.Name), Contexts: contextNames(p)})
	}
	return out
}

// Deputy returns a user as the deputy of that one alone, without the rights of an administrator.
func (g *Rights) Deputy(by, absent identity.Principal) machine.Actor {
	return machine.Actor{Name: string(by.Name), Contexts: contextNames(by), DeputyFor: []machine.Absent{{Name: string(absent.Name), Contexts: contextNames(absent)}}}
}

// WithContexts returns the ids of by's contexts and of those of the absent
// users. SeesListed removes what by may not see for them.
func WithContexts(by identity.Principal, absent []identity.Principal) []identity.ID {
	if len(absent) == 0 {
		return by.Contexts()
	}
	contexts := slices.Clone(by.Contexts())
	for _, p := range absent {
		contexts = append(contexts, p.Contexts()...)
	}
	slices.Sort(contexts)
	return slices.Compact(contexts)
}

// players are the fields of a case's form that say who has a part in it.
type players struct {
	Roles        map[string][]string `json:"roles"`
	Stakeholders []string            `json:"stakeholders"`
}

// seenByDeputy reports whether a user whose active deputy by is plays a role in
// the case. Nothing else of what the absent users see is lent: not what they
// started, nor what they have a stake in (docs/contract/drive.md#deputies).
func (p *players) seenByDeputy(absent []identity.Principal) bool {
	for _, a := range absent {
		for _, parties := range p.Roles {
			if p.among(a, parties) {
				return true
			}
		}
	}
	return false
}

// among reports whether the principal is one of the parties of a role.
func (p *players) among(by identity.Principal, parties []string) bool {
	for _, name := range parties {
		switch name {
		case machine.PartyAdmins: // of the route, who see it in any role
		case machine.PartyStakeholders:
			if by.InAny(Names(p.Stakeholders)) {
				return true
			}
		default:
			if by.InAny([]identity.Name{identity.Name(name)}) {
				return true
			}
		}
	}
	return false
}

// SeesListed reports whether by may see a case that was found through one of
// by's contexts or of those of the absent users. The case's form says which it
// was.
func (g *Rights) SeesListed(r store.Reader, by identity.Principal, absent []identity.Principal, ownOnly bool, row *store.Case) (bool, error) {
	if by.In(row.ContextID) || by.In(row.StarterID) {
		return true, nil
	}
	form, err := readPlayers(row)
	if err != nil {
		return false, err
	}
	if by.InAny(Names(form.Stakeholders)) {
		return true, nil
	}
	for _, parties := range form.Roles {
		if form.among(by, parties) {
			return true, nil
		}
	}
	info := g.Route(row.RouteID)
	if !ownOnly && info != nil && g.Administers(by, info) {
		return true, nil
	}
	if ShownState(row) == machine.StateDraft {
		return false, nil // its author's alone
	}
	if form.seenByDeputy(absent) {
		return true, nil
	}
	if seen, err := r.Cases().SeenBy(row.ID, []identity.ID{by.ID}); seen || err != nil {
		return seen, err
	}
	return delegated(r, absent, row.ID)
}

// seesAsDeputy reports whether by sees the case only for whom it stands in.
func (g *Rights) seesAsDeputy(r store.Reader, by identity.Principal, row *store.Case) (bool, error) {
	absent := g.Represented(by)
	if len(absent) == 0 || ShownState(row) == machine.StateDraft {
		return false, nil
	}
	form, err := readPlayers(row)
	if err != nil || form.seenByDeputy(absent) {
		return err == nil, err
	}
	return delegated(r, absent, row.ID)
}

// delegated reports whether one of those has a task in the case and sees it
// as this user: one that was delegated to it.
func delegated(r store.Reader, users []identity.Principal, caseID int64) (bool, error) {
	for _, user := range users {
		one := []identity.ID{user.ID}
		has, err := r.Cases().Tasks().HasTasks(caseID, one)
		if err != nil {
			return false, err
		}
		if has {
			if has, err = r.Cases().SeenBy(caseID, one); has || err != nil {
				return has, err
			}
		}
	}
	return false, nil
}

func readPlayers(row *store.Case) (*players, error) {
	form := &players{}
	if err := json.Unmarshal(row.Form, form); err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read the form of case %d", row.ID), err)
	}
	return form, nil
}
