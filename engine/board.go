package engine

import (
	"context"
	"slices"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// BoardState is a state on the board of a route.
type BoardState struct {
	Name   string
	Listed bool // open, led to by an action of people, or held by a case that the caller sees
}

// Board returns the states of a route in order of definition, then those of
// older versions in which by may see cases (docs/contract/drive.md#listings).
// Errors: errs.NotFound if by may not see the route.
func (e *Cases) Board(ctx context.Context, by identity.Principal, name string) ([]BoardState, error) {
	info := e.rights.Visible(by, name)
	if info == nil {
		return nil, change.Absent("route")
	}
	used, err := e.used(ctx, info)
	if err != nil {
		return nil, err
	}
	held, err := e.heldStates(ctx, by, used)
	if err != nil {
		return nil, err
	}
	led := ledTo(used.Compiled)
	var out []BoardState
	for i := range used.Compiled.States {
		s := &used.Compiled.States[i]
		out = append(out, BoardState{Name: s.Name, Listed: !s.Complete || slices.Contains(led, i) || slices.Contains(held, s.Name)})
	}
	for _, name := range held {
		if used.Compiled.State(name) == route.NoState {
			out = append(out, BoardState{Name: name, Listed: true})
		}
	}
	return out, nil
}

// ledTo returns the states into which people can move cases: those that their
// actions lead to, unless the route decides.
func ledTo(r *route.Route) (states []int) {
	for i := range r.Actions {
		a := &r.Actions[i]
		if a.Trigger != route.TriggerUser || a.Decide != nil {
			continue
		}
		states = append(states, a.To)
		for _, t := range a.Transitions {
			states = append(states, r.Transitions[t].To)
		}
	}
	return states
}

// BoardState returns the state of that name, in any case, as the board of the
// route spells it. Errors: errs.NotFound if by may not see the route or it has
// no such state.
func (e *Cases) BoardState(ctx context.Context, by identity.Principal, name, state string) (string, error) {
	info := e.rights.Visible(by, name)
	if info == nil {
		return "", change.Absent("route")
	}
	used, err := e.used(ctx, info)
	if err != nil {
		return "", err
	}
	for i := range used.Compiled.States {
		if s := used.Compiled.States[i].Name; identity.Fold(s) == identity.Fold(state) {
			return s, nil
		}
	}
	held, err := e.heldStates(ctx, by, used) // of older versions
	if err != nil {
		return "", err
	}
	for _, s := range held {
		if identity.Fold(s) == identity.Fold(state) {
			return s, nil
		}
	}
	return "", change.Absent("state")
}

// BoardMove is a case to be led from one state of the board of a route to
// another.
type BoardMove struct {
	CaseID   int64
	Route    string // names in any case
	From, To string
}

// MoveOnBoard performs the one action of the caller that leads the case from
// one state of the board of a route to another (docs/contract/engine.md#board).
// What the request is conditional on is the case. Errors: errs.NotFound if the
// case is not there, and those of the action.
func (e *Cases) MoveOnBoard(ctx context.Context, req Request, move BoardMove) (*Outcome, error) {
	return change.Do(ctx, e.Maker, func(r store.Reader) (change.Apply[*Outcome], error) {
		ref := Ref{CaseID: move.CaseID}
		h, err := e.decider.loadCase(r, req.By, ref)
		if err != nil {
			return nil, err
		}
		if identity.Fold(h.core.RouteName) != identity.Fold(move.Route) || identity.Fold(h.core.Status) != identity.Fold(move.From) || h.core.Life == machine.Canceled || h.row.Archived != 0 {
			return nil, change.Absent("case on this board")
		}
		if err := e.CheckRequest(r.Locks(), req, caseVersion(h, ref), change.ScopeOf(store.CaseKey(ref.CaseID))); err != nil {
			return nil, err
		}
		to := move.To
		for i := range h.route.Compiled.States {
			if name := h.route.Compiled.States[i].Name; identity.Fold(name) == identity.Fold(to) {
				to = name
			}
		}
		c, err := e.decider.decideOn(h, machine.Move{To: to, Actor: e.rights.Actor(req.By, h.admin)}, req)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) (*Outcome, error) {
			if err := e.decider.writeAsked(tx, c); err != nil {
				return nil, err
			}
			out := performance(c, req)
			return out, e.Finish(tx, req, out)
		}, nil
	})
}

// heldStates returns the states in which there are cases that by sees, and
// that are not canceled, in order of name; open states of the route may be
// missing. For who sees everything it costs what is open. For others it looks at the newest
// cases that they see, at lookedAt of them at most.
func (e *Cases) heldStates(ctx context.Context, by identity.Principal, info *usedRoute) (held []string, err error) {
	if by.Admin() || e.rights.Administers(by, &info.Route) {
		err = e.Store.View(ctx, func(r store.Reader) (err error) {
			held, err = allHeldStates(r, info)
			return err
		})
		return held, err
	}
	f, some := e.newestFilter(by, NewestQuery{
		Route: info.Name, Lives: []machine.Life{machine.Active, machine.Suspended, machine.Completed, machine.Closed, machine.Failed},
	})
	if !some {
		return nil, nil
	}
	f.Facts = e.facts.now(e.Store, e.accounts.Table())
	err = e.Store.View(ctx, func(r store.Reader) error {
		open, err := allHeldStates(r, info)
		if err != nil || len(open) == 0 {
			return err
		}
		h := &heldWalk{base: e.base, r: r, by: by, open: open}
		_, err = r.Cases().Newest(f, h.take)
		held = h.held
		return err
	})
	slices.Sort(held)
	return held, err
}

// heldWalk finds the states in which there are cases that by sees.
type heldWalk struct {
	*base
	r    store.Reader
	by   identity.Principal
	open []string // states of which that is not known
	held []string
	read int // how many cases were read
}

// take looks at the cases, and reports whether it is to end: all states are known, or too much
// was read. Of each state it asks first whether by sees its newest cases: as a rule by does,
// but not a deputy, who finds what is not lent as well.
func (h *heldWalk) take(found []store.CaseState) (enough bool, err error) {
	for len(found) > 0 && len(h.open) > 0 && h.read < lookedAtText {
		var ids []int64
		var later []store.CaseState
		asked := map[string]int{}
		for i := range found {
			switch state := found[i].Status; {
			case !slices.Contains(h.open, state):
			case asked[state] < fewRows:
				ids = append(ids, found[i].ID)
				asked[state]++
			default:
				later = append(later, found[i])
			}
		}
		seen, err := h.findCases(h.r, h.by, ids)
		if err != nil {
			return false, err
		}
		h.read += len(ids)
		for i := range seen {
			if at := slices.Index(h.open, seen[i].Status); at >= 0 {
				h.open = slices.Delete(h.open, at, at+1)
				h.held = append(h.held, seen[i].Status)
			}
		}
		found = later
	}
	return len(h.open) == 0 || h.read >= lookedAtText, nil
}

func allHeldStates(r store.Reader, info *usedRoute) ([]string, error) {
	held, err := r.Cases().EndedStatuses(info.ID)
	if err != nil || info.Version == 1 { // then no case is in a state of another version
		return held, err
	}
	known := slices.Clone(held)
	for i := range info.Compiled.States {
		if s := &info.Compiled.States[i]; !s.Complete {
			known = append(known, s.Name)
		}
	}
	others, err := r.Cases().OpenStatuses(info.ID, known)
	held = append(held, others...)
	slices.Sort(held)
	return held, err
}
