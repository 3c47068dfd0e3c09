package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"flowdrive/engine/machine"
	"flowdrive/engine/quota"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// What a decision needs to know of other cases of its tree. Cases that an
// earlier decision of the same change made or changed are as that left them.

// identities gives ids to new cases, unless the starter has as many open ones
// as the limit allows, or routes have started as many as they may in an hour for the
// starter or for the case with which it began: routes can be made to start cases
// without bound.
func (e *decider) identities(in *machine.Input, l *lookup, n int) error {
	if l.reader != nil {
		starter := e.accounts.PartyID(in.Case.Starter)
		room, beyond := e.started.room(starter, in.Case.Began(), &e.limits, in.Now)
		if room -= l.notWritten(); room < n { // it may have asked for more than it needs
			n = room
		}
		if n <= len(in.Facts.New) {
			in.Facts.Full = beyond
			return nil
		}
		err := e.usage.Check(quota.OpenCases, starter, e.limits.OpenCases, l.reader.Cases().CountOpen)
		if errs.Is(err, errs.TooMany) {
			in.Facts.Full = fmt.Sprintf("%s would have more open cases than the limit allows, %d; end some, or ask an administrator to raise it (--max-open-cases)", in.Case.Starter, e.limits.OpenCases)
			return nil
		}
		if err != nil {
			return err
		}
	}
	for len(in.Facts.New) < n {
		in.Facts.New = append(in.Facts.New, machine.Identity{ID: l.ids(), GUID: store.NewUUID().String()})
	}
	return nil
}

// notWritten returns how many cases earlier decisions of the same change start, which are not
// in the budget yet.
func (l *lookup) notWritten() (n int) {
	for _, c := range l.after {
		if c.base == 0 && c.after.Origin != 0 {
			n++
		}
	}
	return n
}

// persons returns the users that a party stands for, in order of names.
// Disabled users do not count.
func (e *decider) persons(party string) []string {
	d := e.directory()
	p := d.ByName(identity.Name(party))
	everyone := party == string(identity.Everyone)
	switch {
	case p == nil && !everyone:
		return nil
	case p != nil && p.Kind == identity.User:
		if !d.Active(p.ID) {
			return nil
		}
		return []string{string(p.Name)}
	}
	var out []string
	for _, user := range d.Parties() {
		if user.Kind == identity.User && d.Active(user.ID) && (everyone || slices.Contains(d.Contexts(user.ID), p.ID)) {
			out = append(out, string(user.Name))
		}
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(identity.Fold(a), identity.Fold(b)) })
	return out
}

// relative returns another case of the tree, or nil if it does not exist.
func (e *decider) relative(l *lookup, id int64) (*machine.RelatedCase, error) {
	if l.reader == nil {
		return nil, nil
	}
	changed := l.after[id]
	row, err := store.OrNil(l.reader.Cases().Get(id))
	if err != nil {
		return nil, err
	}
	if row == nil && changed == nil {
		l.cases = append(l.cases, readCase{id: id})
		return nil, nil
	}
	var c *machine.Case
	if changed != nil {
		c = changed.after
	} else if c, err = e.caseOf(l.reader, row.Marking); err != nil {
		return nil, errs.Wrap("read a case of the tree", err)
	}
	compiled, err := e.versions.get(l.reader, c.RouteID, c.RouteVersion)
	if err != nil {
		return nil, err
	}
	if row != nil {
		l.cases = append(l.cases, readCase{id, row.Revision})
		keep(&l.rows, id, row)
	}
	return &machine.RelatedCase{Route: compiled, Case: c}, nil
}

// siblings returns the ids of the next children of an enablement that are
// neither closed nor canceled.
func (l *lookup) siblings(of machine.ChildQuery) ([]int64, error) {
	if l.reader == nil {
		return nil, nil
	}
	ids, err := l.reader.Cases().Children(of.Case, of.Number, of.After, machine.Batch)
	if err != nil {
		return nil, err
	}
	for _, c := range l.made(of.Enablement) {
		if c.ID > of.After && c.Life != machine.Closed && c.Life != machine.Canceled {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), machine.Batch)], nil
}

// made returns the children of an enablement that an earlier decision of the
// same change made, by id.
func (l *lookup) made(of machine.Enablement) (all []*machine.Case) {
	for _, id := range slices.Sorted(maps.Keys(l.after)) {
		if c := l.after[id]; c.base == 0 && c.after.Parent == of.Case && c.after.ParentEnablement == of.Number {
			all = append(all, c.after)
		}
	}
	return all
}

// children returns all children of an enablement as decide and complete see
// them. The decision holds while none of them changes.
func (e *decider) children(l *lookup, of machine.Enablement) ([]machine.Child, error) {
	if l.reader == nil {
		return nil, nil
	}
	var all []machine.Child
	err := l.reader.Cases().ChildMarkings(of.Case, of.Number, func(marking []byte) error {
		c, err := e.caseOf(l.reader, marking)
		if err != nil {
			return err
		}
		l.cases = append(l.cases, readCase{c.ID, c.Revision})
		if changed := l.after[c.ID]; changed != nil {
			c = changed.after
		}
		all = append(all, machine.ChildOf(c))
		return nil
	})
	for _, c := range l.made(of) {
		all = append(all, machine.ChildOf(c))
	}
	slices.SortFunc(all, func(a, b machine.Child) int { return cmp.Compare(a.ID, b.ID) })
	return all, err
}

// planCache keeps the plan that was read last: each batch of the children of
// an enablement asks for the same, which can be long.
type planCache struct {
	mu   sync.Mutex
	form []byte
	plan *machine.Plan
}

// plan returns the planned children of an enablement, or nil if there is no
// plan.
func (e *decider) plan(l *lookup, of machine.Enablement) (*machine.Plan, error) {
	if l.reader == nil {
		return nil, nil
	}
	if changed := l.after[of.Case]; changed != nil {
		if plan, known := changed.plans[of.Number]; known {
			return plan, nil
		}
	}
	form, err := l.reader.Cases().Plan(of.Case, of.Number)
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e.plans.mu.Lock()
	defer e.plans.mu.Unlock()
	if e.plans.plan == nil || !bytes.Equal(form, e.plans.form) {
		plan := &machine.Plan{}
		if err := json.Unmarshal(form, plan); err != nil {
			return nil, errs.Wrap("read a plan of children", err)
		}
		e.plans.form, e.plans.plan = form, plan
	}
	return e.plans.plan, nil
}
