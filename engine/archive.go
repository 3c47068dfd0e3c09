package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/quota"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// The archive (docs/contract/drive.md#1-the-tree,
// docs/contract/routes.md#retention). An archived case keeps its address:
// Cases/<id> still resolves. It is listed only by the month of its end, nothing
// can be done with it, and nothing of it is due. A root takes its descendants
// with it, in batches, so that other work does not wait. An archived case whose
// retention still has an end has descendants that are not archived yet.

// kinAtOnce is how many descendants of a case are archived or deleted in one
// unit: the writer has others to serve.
const kinAtOnce = 64

// retiresAt returns when the retention of a case is over, zero for never.
func retiresAt(c *machine.Case, r *route.Route) time.Time { return clock.Trim(c.RetiredAt(r)) }

// notArchived returns an error if the case is archived. row may be nil.
func notArchived(row *store.Case) error {
	if row == nil || row.Archived == 0 {
		return nil
	}
	return errs.New(errs.ReadOnly, "The case is archived; it can be read, not changed.")
}

// wasArchived says of a change that the case was archived then, 0 for not: it
// is on no worklist. One that has ended stays archived, and the sweeper looks
// what is left to do.
func (e *decider) wasArchived(c *caseChange, month store.Month) {
	if month == 0 {
		return
	}
	c.row.Archived = month
	c.row.Tasks, c.row.Had = e.shares(c.shares), []store.TaskShare{}
	if c.after.Life.Ended() {
		c.row.Tasks, c.row.Due, c.row.Retires = nil, dueInArchive(c.after), c.after.Modified
	}
}

// dueInArchive returns when something of an archived case is due: only what an
// event has left.
func dueInArchive(c *machine.Case) time.Time {
	if c.Working() {
		return c.NextDue()
	}
	return time.Time{}
}

// retire archives or deletes a case whose retention is over, as its route says.
// If the case is archived already, it continues with the children.
func (e *Archive) retire(tx store.Tx, id int64, now time.Time) error {
	row, err := store.OrNil(tx.Cases().Get(id))
	if err != nil || row == nil || row.Retires.IsZero() || row.Retires.After(now) {
		return err
	}
	h, err := e.decider.loadRow(tx, identity.Principal{}, row, nil)
	if err != nil {
		return err
	}
	over := retiresAt(h.core, h.route.Compiled)
	switch {
	case row.Archived != 0:
		return e.archiveBelow(tx, id, now)
	case over.IsZero() || over.After(now): // it was stored before there were retentions
		tx.AfterCommit(func() { e.sweeper.note(over) })
		return tx.Write().Cases().SetRetires(id, over)
	case h.route.Compiled.Then == route.ThenDelete:
		return e.deleteTree(tx, h, now)
	}
	if err := endWithCase(e.decider, tx, h, caseGone{notice.EndGivenUp, "", now}); err != nil {
		return err
	}
	return e.decider.archive(tx, h.core, row.Named, now)
}

// archive puts an ended case into the archive. Locks do not prevent that. Its
// children follow.
func (e *decider) archive(tx store.Tx, c *machine.Case, named bool, now time.Time) error {
	if named {
		if err := freeName(tx, c.ID, now); err != nil {
			return err
		}
	}
	if err := tx.Write().Locks().DeleteOn(store.CaseKey(c.ID)); err != nil {
		return err
	}
	var rest time.Time
	if c.ChildrenCount > 0 {
		rest = now
		tx.AfterCommit(func() { e.sweeper.note(now) })
	}
	e.publish(tx, Event{Kind: EventCase, Change: ChangeChanged, ID: c.ID, Version: c.Version, Time: now})
	return tx.Write().Cases().Archive(c.ID, store.MonthOf(c.EndedAt()), dueInArchive(c), rest)
}

// archiveBelow archives the next children of an archived case.
func (e *Archive) archiveBelow(tx store.Tx, id int64, now time.Time) error {
	children, err := tx.Cases().Archived().EndedChildren(id, kinAtOnce)
	if err != nil {
		return err
	}
	for i := range children {
		h, err := e.decider.loadRow(tx, identity.Principal{}, &children[i], nil)
		if err != nil {
			return err
		}
		if err := endWithCase(e.decider, tx, h, caseGone{notice.EndGivenUp, "", now}); err != nil {
			return err
		}
		if err := e.decider.archive(tx, h.core, children[i].Named, now); err != nil {
			return err
		}
	}
	if len(children) == kinAtOnce {
		return nil // the rest is due
	}
	return tx.Write().Cases().SetRetires(id, time.Time{})
}

// archiveEnded archives an ended case because a user has deleted it.
func (e *decider) archiveEnded(tx store.Tx, req Request, h *loadedCase) error {
	now, err := tx.Cases().Get(h.row.ID)
	if err != nil {
		return staleIfGone(err)
	}
	if now.Revision != h.row.Revision || now.Archived != h.row.Archived {
		return change.ErrStale
	}
	if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.CaseKey(h.row.ID))); err != nil {
		return err
	}
	if err := endWithCase(e, tx, h, caseGone{notice.EndGivenUp, string(req.By.Name), req.Now}); err != nil {
		return err
	}
	return e.archive(tx, h.core, h.row.Named, req.Now)
}

// archivable refuses to archive a case on which something still hangs.
func archivable(h *loadedCase) error {
	c := h.core
	switch {
	case c.Parent != 0 && (c.Life == machine.Completed || c.Life == machine.Failed):
		return errs.New(errs.InUse, "Case %d, which started this one, has not moved on yet; this one is archived with it.", c.Parent)
	case !c.AtRest() && !c.Working():
		return errs.New(errs.InUse, "The case has ended, but some of its children have not; wait for them, or cancel them.")
	}
	return nil
}

// ArchiveMonths returns the months in which cases of the archive have ended
// that by sees, in order. With own those are meant that a mounted folder
// shows.
func (e *Archive) ArchiveMonths(ctx context.Context, by identity.Principal, own bool) ([]store.Month, error) {
	filter, absent, _ := e.cases.caseFilter(by, Filter{OwnOnly: own, Archived: true})
	var out, doubtful []store.Month
	err := e.Store.View(ctx, func(r store.Reader) error {
		var certain []identity.ID // contexts by which by sees all there is
		if filter.Access != nil {
			certain = by.Contexts()
		}
		return eachMonth(r, filter, func(month store.Month) error {
			if next, err := r.Cases().Archived().NextArchiveMonth(month-1, certain, filter.Routes); err != nil || next == month {
				out = append(out, month)
				return err
			}
			doubtful = append(doubtful, month)
			return nil
		})
	})
	if len(absent) == 0 {
		return out, err
	}
	for _, month := range doubtful { // of those whom by stands in for: not all of it need be by's to see
		if err != nil {
			return nil, err
		}
		var some []Resource
		if some, err = e.cases.Cases(ctx, by, Filter{OwnOnly: own, Archived: true, Month: month, Limit: 1}); len(some) > 0 {
			out = append(out, month)
		}
	}
	slices.Sort(out)
	return out, err
}

// eachMonth calls f for the months in which there are archived cases that the
// filter selects.
func eachMonth(r store.Reader, filter store.CaseFilter, f func(store.Month) error) error {
	for month := store.Month(0); ; {
		var err error
		if month, err = r.Cases().Archived().NextArchiveMonth(month, filter.Access, filter.Routes); err != nil || month == 0 {
			return err
		}
		if err := f(month); err != nil {
			return err
		}
	}
}

// PurgeCase deletes a case of the archive for good, with all that belongs to it
// and its descendants: a right of administrators
// (docs/contract/drive.md#rights-table). Errors: errs.NotFound if by may not
// see it in the archive; errs.NotAllowed for users who are not administrators.
func (e *Archive) PurgeCase(ctx context.Context, req Request, month store.Month, id int64) error {
	err := e.Change(ctx, func(r store.Reader) (change.Decision, error) {
		h, err := e.decider.loadCase(r, req.By, Ref{CaseID: id})
		if err != nil {
			return nil, err
		}
		if h.row.Archived == 0 || h.row.Archived != month {
			return nil, change.Absent("case in the archive")
		}
		if !req.By.Admin() {
			return nil, errs.New(errs.NotAllowed, "Only administrators may purge a case of the archive.")
		}
		if err := e.CheckRequest(r.Locks(), req, caseVersion(h, Ref{CaseID: id}), change.ScopeOf(store.CaseKey(id))); err != nil {
			return nil, err
		}
		return func(tx store.Tx) error {
			now, err := tx.Cases().Get(id)
			if err != nil {
				return staleIfGone(err)
			}
			if now.Revision != h.row.Revision || now.Archived != month {
				return change.ErrStale
			}
			if err := e.CheckLocks(tx.Locks(), req, change.ScopeOf(store.CaseKey(id))); err != nil {
				return err
			}
			if err := e.deleteTree(tx, h, req.Now); err != nil {
				return err
			}
			return e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, audit.CasePurge, fmt.Sprint(id), ""))
		}, nil
	})
	if err != nil {
		return err
	}
	e.runDueNow(ctx)
	return nil
}

// deleteTree deletes a case for good. Some of its descendants are deleted at
// once, so that most trees are gone when the request is answered. The rest
// follow when they are due.
func (e *Archive) deleteTree(tx store.Tx, h *loadedCase, now time.Time) error {
	if err := e.deleteCase(tx, h, now); err != nil || h.core.ChildrenCount == 0 {
		return err
	}
	return e.purgeBelow(tx, h.core.ID, now)
}

// deleteCase deletes one case, and notes that its children are to go.
func (e *Archive) deleteCase(tx store.Tx, h *loadedCase, now time.Time) error {
	if err := endWithCase(e.decider, tx, h, caseGone{end: notice.EndDeleted, at: now}); err != nil {
		return err
	}
	c := h.core
	var entry store.UUID
	if c.ScheduleUUID != "" {
		entry = mustGUID(c.ScheduleUUID)
		if err := e.forgetLast(tx, entry, c.ID, now); err != nil {
			return err
		}
	}
	if err := tx.Write().Cases().Delete(c.ID, entry, c.ScheduledFor); err != nil {
		return err
	}
	if err := tx.Write().Locks().DeleteOn(store.CaseKey(c.ID)); err != nil {
		return err
	}
	e.contents.RouseAfter(tx)
	e.publish(tx, Event{
		Kind: EventCase, Change: ChangeDeleted, ID: c.ID, Version: c.Version, Time: now,
		seenBy: e.decider.access(c), route: e.rights.Route(c.RouteID),
	})
	if open(c.Life) {
		starter := e.accounts.PartyID(c.Starter)
		tx.AfterCommit(func() { e.usage.Add(quota.OpenCases, starter, -1) })
	}
	if c.ChildrenCount == 0 {
		return nil
	}
	tx.AfterCommit(func() { e.sweeper.note(now) })
	return tx.Write().Cases().PutPurge(c.ID, now)
}

// forgetLast removes a deleted case from its entry, if it is the last one that
// the entry has started.
func (e *Archive) forgetLast(tx store.Tx, uuid store.UUID, id int64, now time.Time) error {
	stored, err := store.OrNil(tx.Entries().Get(uuid))
	if err != nil || stored == nil {
		return err
	}
	entry, err := e.readForm(stored)
	if err != nil || entry.LastCase != id {
		return err
	}
	entry.LastCase = 0
	stored.Revision++
	stored.Form = entry.Form()
	e.publishEntry(tx, stored, ChangeChanged, now)
	return tx.Write().Entries().Update(stored)
}

// purgeBelow deletes the next descendants of a deleted case. Descendants that
// have none themselves are finished; the others stay due.
func (e *Archive) purgeBelow(tx store.Tx, id int64, now time.Time) error {
	left := kinAtOnce
	for parents := []int64{id}; len(parents) > 0 && left > 0; parents = parents[1:] {
		children, err := tx.Cases().Archived().AnyChildren(parents[0], left)
		if err != nil {
			return err
		}
		for _, child := range children {
			row, err := tx.Cases().Get(child)
			if err != nil {
				return err
			}
			h, err := e.decider.loadRow(tx, identity.Principal{}, row, nil)
			if err != nil {
				return err
			}
			if err := e.deleteCase(tx, h, now); err != nil {
				return err
			}
			if h.core.ChildrenCount > 0 {
				parents = append(parents, child)
			}
		}
		if left -= len(children); left == 0 {
			return nil // there may be more
		}
		if err := tx.Write().Cases().DeletePurge(parents[0]); err != nil {
			return err
		}
	}
	return nil
}
