package engine

import (
	"fmt"
	"time"

	"flowdrive/engine/core"
	"flowdrive/errs"
	"flowdrive/identity"
	"flowdrive/schedule"
)

// The outcomes of an instant of a schedule entry (design: schedule entries,
// section 3).
const (
	OutcomeFired   = "fired"
	OutcomeLate    = "late"
	OutcomeSkipped = "skipped"
	OutcomeFailed  = "failed"
)

// fireEntry does what an entry's due instant asks for, in one unit: creates
// the case, counts, computes what comes next, deletes an exhausted entry.
// The row is read again, because what was fired before may have changed it.
// force records trouble instead of a case: what is left to do when creating
// it failed.
func (e *Engine) fireEntry(tx Tx, uuid UUID, now time.Time, trouble error) (fired bool, err error) {
	stored, err := orNil(tx.Entry(uuid))
	if err != nil || stored == nil || stored.Due.IsZero() || stored.Due.After(now) {
		return false, err
	}
	entry, err := schedule.ReadForm(stored.Form)
	if err != nil {
		return false, errs.Wrap("read a stored schedule entry", err)
	}
	step := entry.Step(now)
	if err := skipMissed(tx, stored, step, now); err != nil {
		return false, err
	}
	if !step.Instant.IsZero() {
		if err := e.fireInstant(tx, stored, entry, step, now, trouble); err != nil {
			return false, err
		}
	}
	if step.Ended {
		given, err := orNil(tx.GivenNameOf(FolderSchedule, stored.UUID, 0))
		if err != nil {
			return false, err
		}
		return true, e.dropEntry(tx, stored, given, now)
	}
	stored.Due, _ = entry.Due()
	stored.Revision++
	stored.Form = entry.Form()
	tx.AfterCommit(func() { e.sweeper.note(stored.Due) })
	return true, tx.UpdateEntry(stored)
}

// skipMissed leaves a row for every instant that was passed over.
func skipMissed(tx Tx, stored *Entry, step schedule.Step, now time.Time) error {
	for i, instant := range step.Skipped {
		reason := "misfire: missed by more than the grace; a later instant stands for it"
		if i == 0 && step.SkippedEarlier {
			reason = "misfire: this and earlier instants were missed by more than the grace"
		}
		o := &Occurrence{Entry: stored.UUID, ContextID: stored.ContextID, Instant: instant, Outcome: OutcomeSkipped, Reason: reason, FiredAt: now}
		if err := tx.InsertOccurrence(o); err != nil {
			return err
		}
	}
	return nil
}

// fireInstant creates the case of an instant, or records why there is none.
// The pair of entry and instant is unique in the store, so that no instant
// ever makes two cases.
func (e *Engine) fireInstant(tx Tx, stored *Entry, entry *schedule.Entry, step schedule.Step, now time.Time, trouble error) error {
	o := &Occurrence{Entry: stored.UUID, ContextID: stored.ContextID, Instant: step.Instant, Outcome: OutcomeFired, FiredAt: now}
	if step.Late {
		o.Outcome, o.Reason = OutcomeLate, "misfire: once"
	}
	b, err := e.scheduledBirth(tx, stored, entry, step, now)
	if trouble != nil {
		err = trouble
	}
	if err == nil {
		var c *caseChange
		if c, err = e.bear(*b, now, false); err == nil {
			entry.LastCase, entry.LastError = c.row.ID, ""
			o.CaseID = c.row.ID
			if err := e.write(tx, c); err != nil {
				return err
			}
		}
	}
	if err != nil {
		o.Outcome, o.Reason = OutcomeFailed, reasonOf(err)
		entry.LastCase, entry.LastError = 0, o.Reason
	}
	tx.AfterCommit(func() {
		e.observer.Fired(o.Outcome, now.Sub(step.Instant))
		if o.Outcome == OutcomeFailed {
			e.log.Warn().Str("entry", stored.UUID.String()).Time("instant", step.Instant).Str("reason", o.Reason).Msg("a schedule entry could not create its case")
		}
	})
	return tx.InsertOccurrence(o)
}

// reasonOf is what may be told of an error to whoever sees the entry.
func reasonOf(err error) string {
	if errs.KindOf(err) == errs.Internal {
		return "an internal error; the server's log has it"
	}
	return err.Error()
}

// scheduledBirth resolves what an entry asks for, under its context and at
// the moment of firing.
func (e *Engine) scheduledBirth(tx Tx, stored *Entry, entry *schedule.Entry, step schedule.Step, now time.Time) (*birth, error) {
	d := e.directory()
	context := d.ByID(stored.ContextID)
	if context == nil || !d.Active(context.ID) {
		return nil, errs.New(errs.ContextNotAvailable, "The entry's context is disabled or gone.")
	}
	info := e.routes.Load().byID[stored.RouteID]
	as := d.Principal(context.ID)
	if info == nil || !e.seesRoute(as, info) || !e.mayStart(as, info) {
		return nil, errs.New(errs.NotFound, "There is no route %q of which %s may start cases.", entry.Route, context.Name)
	}
	if _, err := tx.RouteStamp(info.ID); err != nil {
		return nil, err
	}
	var input *content
	if stored.Attachment != (UUID{}) {
		a, err := e.findAttachment(tx, as, stored.Attachment, now)
		if err != nil {
			return nil, err
		}
		if a == nil {
			return nil, errs.New(errs.NotFound, "There is no attachment %s that %s may use.", stored.Attachment, context.Name)
		}
		input = a.input()
	}
	uuid := stored.UUID
	return &birth{
		input: input, info: info, context: *context, starter: *context, title: entry.Title, priority: entry.Priority,
		xattrs: xattrs(entry.XattrDict), schedule: uuid, scheduledFor: step.Instant, iteration: step.Iteration, at: step.Instant,
	}, nil
}

// fireCase does what is due on a case: its timed actions.
func (e *Engine) fireCase(tx Tx, id int64, now time.Time) (fired bool, err error) {
	row, err := orNil(tx.Case(id))
	if err != nil || row == nil || row.Due.IsZero() || row.Due.After(now) {
		return false, err
	}
	return true, e.advanceCase(tx, row, core.Due{}, now)
}

// startQueued starts one queued case.
func (e *Engine) startQueued(tx Tx, id int64, now time.Time) error {
	row, err := orNil(tx.Case(id))
	if err != nil || row == nil || row.State != string(core.Queued) {
		return err
	}
	return e.advanceCase(tx, row, core.Start{}, now)
}

// advanceCase decides on an event of the engine's own within the writer.
func (e *Engine) advanceCase(tx Tx, row *Case, event core.Event, now time.Time) error {
	h, err := e.held(tx, identity.Principal{}, row, nil)
	if err != nil {
		return err
	}
	c, err := e.decideOn(h, event, Request{Now: now})
	if err != nil {
		return errs.Wrap(fmt.Sprintf("%T of case %d", event, row.ID), err)
	}
	c.row.Named = row.Named
	return e.write(tx, c)
}
