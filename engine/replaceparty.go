package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/account"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// ReplaceParty implements account.Ties.
func (e *base) ReplaceParty(ctx context.Context, tx store.Tx, req change.Request, r account.Replacement) error {
	from, to := r.From, r.To
	if err := e.mean(tx, store.PartyMeant, string(from.Name), int64(to.ID)); err != nil {
		return err
	}
	if from.ID != to.ID {
		if err := tx.Write().Routes().ReplaceMeant(store.PartyMeant, int64(from.ID), int64(to.ID)); err != nil {
			return err
		}
		if err := tx.Write().Parties().HandOver(from.ID, to.ID, store.NewFolder{Name: string(from.Name), Now: req.Now.UnixMilli()}, r.Cases); err != nil {
			return err
		}
	}
	if err := e.replaceInEntries(tx, req, from, to); err != nil {
		return err
	}
	if err := e.replaceInCases(tx, req, r); err != nil {
		return err
	}
	return e.reloadRoutes(tx)
}

// ForgetParty implements account.Ties.
func (e *base) ForgetParty(tx store.Tx, p *store.Party) error {
	if err := e.mean(tx, store.PartyMeant, string(p.Name), int64(p.ID)); err != nil {
		return err
	}
	return e.reloadRoutes(tx)
}

// reloadRoutes reads all routes again once the unit is durable: names in them mean
// others.
func (e *base) reloadRoutes(tx store.Tx) error {
	list, _, err := readRoutes(tx)
	if err != nil {
		return err
	}
	tx.AfterCommit(func() {
		e.versions.replace(func() { e.rights.SetRoutes(list) })
	})
	return nil
}

// replaceInEntries has the schedule entries of a party show the other one, and
// those that name its documents where these are now.
func (e *base) replaceInEntries(tx store.Tx, req change.Request, from, to *store.Party) error {
	rows, err := tx.Entries().List(store.EntryFilter{})
	if err != nil {
		return err
	}
	old := change.DocumentPath{string(from.Name)}
	moved := change.DocumentPath{string(to.Name)}
	if from.ID != to.ID {
		moved = append(moved, string(from.Name))
	}
	for i := range rows {
		row := &rows[i]
		entry, err := e.readForm(row)
		if err != nil {
			return err
		}
		changed := row.ContextID == to.ID && (entry.ContextID != int64(to.ID) || entry.Context != string(to.Name))
		if changed {
			entry.ContextID, entry.Context = int64(to.ID), string(to.Name)
		}
		for _, path := range []*string{&entry.Document, &entry.ExcludeCalendar} {
			if below(*path, old) {
				_, rest, _ := strings.Cut(strings.TrimPrefix(*path, "/dav/Documents/"), "/")
				*path, changed = moved.String()+"/"+rest, true
			}
		}
		if !changed {
			continue
		}
		row.Revision++
		row.Form, row.Modified = entry.Form(), req.Now
		if err := tx.Write().Entries().Update(row); err != nil {
			return err
		}
		if err := e.followInSource(tx, req, row.UUID, entry, partyRenamed(from, to)); err != nil {
			return err
		}
		e.publishEntry(tx, row, ChangeChanged, req.Now)
	}
	return nil
}

// replaceInCases gives the place of a party in all cases to the other one. If that
// is somebody else, the log of each case that has not ended says so.
func (e *base) replaceInCases(tx store.Tx, req change.Request, r account.Replacement) error {
	d := &decider{e}
	ids, err := mentioning(tx, r, quotedName(r.From))
	if err != nil {
		return err
	}
	for _, id := range ids {
		h, err := e.writtenCase(tx, id)
		if err != nil {
			return err
		}
		if h == nil {
			continue
		}
		if _, err := d.replaceInCase(tx, req, *h, r.From, r.To); err != nil {
			return err
		}
	}
	return nil
}

// quotedName is what stands in the marking of each case that names the user or team.
func quotedName(p *store.Party) string { return `"` + string(p.Name) + `"` }

// mentioning returns the cases in which a text may stand.
func mentioning(tx store.Tx, r account.Replacement, text string) ([]int64, error) {
	if r.Cases != nil {
		return r.Cases, nil
	}
	return tx.Cases().Mentioning(text)
}

// writtenCase returns a case that is to be written again as it is stored, nil if there is none.
func (e *base) writtenCase(tx store.Tx, id int64) (*loadedCase, error) {
	row, err := store.OrNil(tx.Cases().Get(id))
	if row == nil || err != nil {
		return nil, err
	}
	c, err := machine.ReadMarking(row.Marking)
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("read case %d", id), err)
	}
	compiled, err := e.versions.get(tx, c.RouteID, c.RouteVersion)
	return &loadedCase{row: row, core: c, route: &usedRoute{Compiled: compiled}}, err
}

// replaceInCase gives the place of a party in a case to the other one. It reports whether that
// has changed anything.
func (e *decider) replaceInCase(tx store.Tx, req change.Request, h loadedCase, from, to *store.Party) (changed bool, err error) {
	compiled := h.route.Compiled
	after, changed := machine.Replace(h.core, compiled, string(from.Name), string(to.Name), from.ID != to.ID)
	if !changed {
		return false, nil
	}
	if identity.ID(after.ContextID) == from.ID {
		after.ContextID = int64(to.ID)
	}
	c := &caseChange{before: h.core.Shown(), was: h.core, after: after, base: h.row.Revision}
	if from.ID == to.ID {
		after.Revision++
		return true, rewriteCase(e, tx, c, loadedCase{row: h.row, route: h.route})
	}
	return true, writeHandedOver(e, tx, h, c, handing{req, string(from.Name) + " to " + string(to.Name)})
}

// handing says who gives the place of somebody to another one, and from whom to whom.
type handing struct {
	req    change.Request
	fromTo string
}

// writeHandedOver writes a case in which somebody has another one's place.
func writeHandedOver(e *decider, tx store.Tx, h loadedCase, c *caseChange, by handing) error {
	after, compiled := c.after, h.route.Compiled
	after.Modified = maxTime(by.req.Now, after.Modified)
	c.log = []machine.LogEntry{machine.HandedOver(after, by.req.By.Actor(), "Handed over from "+by.fromTo)}
	e.render(c, compiled)
	e.shared(c, machine.Shares(h.core, compiled))
	e.wasArchived(c, h.row.Archived)
	c.row.Named = h.row.Named
	return e.writeAll(tx, c)
}

// rewriteCase writes a case of which only names are others: who sees it and has tasks in
// it is the same.
func rewriteCase(e *decider, tx store.Tx, c *caseChange, h loadedCase) error {
	e.render(c, h.route.Compiled)
	e.shared(c, machine.Shares(c.was, h.route.Compiled))
	c.row.Access, c.row.Tasks = nil, nil
	e.wasArchived(c, h.row.Archived)
	c.row.Named = h.row.Named
	return e.writeAll(tx, c)
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
