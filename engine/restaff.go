package engine

import (
	"context"
	"slices"

	"flowdrive/engine/account"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// maxRestaffed is how many cases are changed in one unit when who there is has changed.
const maxRestaffed = 100

// StaffChanged implements account.Ties. What is to be changed is found outside the
// writer, and judged again in it.
func (e *base) StaffChanged(ctx context.Context, req change.Request, s account.Staff) error {
	d := &decider{e}
	var ids []int64
	err := e.Store.View(ctx, func(r store.Reader) error {
		rows, err := r.Cases().Tasks().WithTasks(store.TaskFilter{Lists: machine.OnOffered, Parties: e.withTeams(s.Changed), Routes: e.allRoutes()})
		if err != nil {
			return err
		}
		for i := range rows {
			c, err := d.restaffed(r, req, &rows[i])
			if err != nil {
				return err
			}
			if c != nil {
				ids = append(ids, rows[i].ID)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	req.If = nil
	defer e.sendCrowd(ctx, req)
	for some := range slices.Chunk(ids, maxRestaffed) {
		if err := e.Store.Update(ctx, func(tx store.Tx) error { return d.restaff(tx, req, some) }); err != nil {
			return err
		}
	}
	return (&newcomers{decider: d, req: req, staff: s}).tell(ctx)
}

// sendCrowd has the mails sent that were kept until all cases have followed a change of a
// user or team.
func (e *base) sendCrowd(ctx context.Context, req change.Request) {
	if e.sweeper.crowd.Swap(false) {
		e.sweeper.note(req.Now)
		e.runDueNow(ctx)
	}
}

// withTeams returns the parties and all teams that they are in.
func (e *base) withTeams(parties []identity.ID) []identity.ID {
	d := e.directory()
	all := slices.Clone(parties)
	for i := 0; i < len(all); i++ {
		of := d.ByID(all[i])
		if of == nil {
			continue
		}
		if of.Kind == identity.User {
			all = append(all, d.EveryoneID())
		}
		for _, team := range d.Parties() {
			if slices.Contains(team.Members, of.Name) && !slices.Contains(all, team.ID) {
				all = append(all, team.ID)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (e *base) allRoutes() (ids []int64) {
	for _, info := range e.rights.Routes() {
		ids = append(ids, info.ID)
	}
	return ids
}

func (e *decider) restaff(tx store.Tx, req change.Request, ids []int64) error {
	for _, id := range ids {
		row, err := store.OrNil(tx.Cases().Get(id))
		if err != nil {
			return err
		}
		if row == nil || row.Archived != 0 {
			continue
		}
		c, err := e.restaffed(tx, req, row)
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		c.row.Named = row.Named
		if err := e.writeAll(tx, c); err != nil {
			return err
		}
	}
	return nil
}

// restaffed returns the change of a case in which other tasks have nobody now; nil:
// there is none.
func (e *decider) restaffed(r store.Reader, req change.Request, row *store.Case) (*caseChange, error) {
	h, err := e.loadRow(r, req.By, row, nil)
	if err != nil || h.core.Life != machine.Active {
		return nil, err
	}
	after := h.core.Judged(req.Now)
	if e.warnUnstaffed(after, h.route.Compiled); slices.Equal(h.core.Warnings, after.Warnings) {
		return nil, nil
	}
	c := &caseChange{before: h.core.Shown(), was: h.core, after: after, base: row.Revision, crowd: true}
	e.render(c, h.route.Compiled)
	return c, nil
}
