package engine

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/schedule"
	"flowdrive/store"
)

// The outcomes of an instant of a schedule entry
// (docs/contract/schedule.md#occurrences).
const (
	OutcomeFired      = "fired"
	OutcomeLate       = "late"
	OutcomeSkipped    = "skipped"
	OutcomeFailed     = "failed"
	OutcomeTriggered  = "triggered"
	OutcomeBackfilled = "backfilled"
)

// reasonExcluded is why an instant is skipped that its entry excludes.
const reasonExcluded = "excluded"

// fireEntry does what an entry's due instant asks for, in one unit: creates
// the case, counts, computes what comes next, deletes an exhausted entry.
// The row is read again, because what was fired before may have changed it.
// If the item has a cause, it is recorded instead of a case. fireEntry returns
// when the entry is due next.
func (e *Scheduling) fireEntry(tx store.Tx, b *dueBatch, item *dueItem) (next time.Time, fired bool, err error) {
	now := b.now
	stored, err := store.OrNil(tx.Entries().Get(item.UUID))
	if err != nil || stored == nil || stored.Due.IsZero() || stored.Due.After(now) {
		return time.Time{}, false, err
	}
	entry, unread, err := e.calendars.readStored(tx, stored, now)
	if err != nil {
		return time.Time{}, false, err
	}
	trouble := cmp.Or(item.cause, unread)
	if due, comes := entry.Due(); !comes || due.After(now) { // its calendar has come to exclude what was due
		if err := e.passCalendar(tx, stored, now); err != nil {
			return time.Time{}, false, err
		}
		err = e.moveOn(tx, stored, entry, ChangeSkipped, !comes, now)
		return stored.Due, false, err
	}
	step := entry.Step(now)
	if step.Nothing() {
		return time.Time{}, false, errs.New(errs.Internal, "The schedule entry %s is due, but has no instant.", stored.UUID)
	}
	if err := passOver(tx, stored, entry, step, now); err != nil {
		return time.Time{}, false, err
	}
	became := ChangeSkipped
	if !step.Instant.IsZero() {
		o := &store.Occurrence{Entry: stored.UUID, ContextID: stored.ContextID, Instant: step.Instant, Outcome: OutcomeFired, FiredAt: now}
		if step.Late {
			o.Outcome, o.Reason = OutcomeLate, "misfire: "+string(entry.Misfire)
		}
		again, err := e.fireInstant(tx, stored, entry, &step, o, trouble, b.single)
		if err != nil {
			return time.Time{}, false, err
		}
		if again {
			entry.Uncount(&step)
		} else {
			became = changeOf(o.Outcome)
		}
	}
	err = e.moveOn(tx, stored, entry, became, step.Ended, now)
	return stored.Due, true, err
}

// passCalendar leaves a row for an instant that was due, and that the calendar
// of its entry excludes by now.
func (e *Scheduling) passCalendar(tx store.Tx, stored *store.Entry, now time.Time) error {
	before, err := e.readForm(stored)
	if err != nil || before.NextIteration.IsZero() {
		return err
	}
	o := &store.Occurrence{Entry: stored.UUID, ContextID: stored.ContextID, Instant: before.NextIteration, Outcome: OutcomeSkipped, Reason: reasonExcluded, FiredAt: now}
	if err := tx.Write().Entries().InsertOccurrence(o); !errs.Is(err, errs.NameTaken) {
		return err
	}
	return nil
}

// readForm reads what a stored entry says, whatever its calendar excludes.
func (e *base) readForm(stored *store.Entry) (*schedule.Entry, error) {
	entry, err := schedule.ReadForm(stored.Form, e.zones)
	return entry, errs.Wrap("read a stored schedule entry", err)
}

// changeOf says what an instant's outcome is to the entry.
func changeOf(outcome string) Change {
	switch outcome {
	case OutcomeSkipped:
		return ChangeSkipped
	case OutcomeFailed:
		return ChangeFailed
	}
	return ChangeFired
}

// moveOn stores an entry of which that became, as after an iteration, or
// deletes it after its last.
func (e *Scheduling) moveOn(tx store.Tx, stored *store.Entry, entry *schedule.Entry, became Change, ended bool, now time.Time) error {
	e.tellEntry(tx, stored, became, now)
	if ended {
		given, err := store.OrNil(tx.Names().Of(store.FolderSchedule, stored.UUID, 0))
		if err != nil {
			return err
		}
		stored.Due = time.Time{}
		return e.dropEntry(tx, stored, given, now)
	}
	stored.Due, _ = entry.Due()
	stored.Revision++
	stored.Form = entry.Form()
	due := stored.Due
	tx.AfterCommit(func() { e.sweeper.note(due) })
	return tx.Write().Entries().Update(stored)
}

// passOver leaves a row for every instant that was passed over. One from
// before the entry's definition was passed while it was paused, for anything
// else that is put plans from then on.
func passOver(tx store.Tx, stored *store.Entry, entry *schedule.Entry, step schedule.Step, now time.Time) error {
	for _, of := range []struct {
		instants []time.Time
		earlier  bool
		excluded bool
	}{{step.Excluded, step.ExcludedEarlier, true}, {step.Skipped, step.SkippedEarlier, false}} {
		for i, instant := range of.instants {
			o := &store.Occurrence{Entry: stored.UUID, ContextID: stored.ContextID, Instant: instant, Outcome: OutcomeSkipped, FiredAt: now}
			switch {
			case of.excluded:
				o.Reason = reasonExcluded
			case instant.After(entry.Modified):
				o.Reason = "misfire: missed by more than the grace"
			default:
				o.Reason = "paused: missed while the entry was paused"
			}
			if i == 0 && of.earlier {
				o.Reason += ", as earlier instants were"
			}
			if err := tx.Write().Entries().InsertOccurrence(o); err != nil && !errs.Is(err, errs.NameTaken) {
				return err
			}
		}
	}
	return nil
}

// fireInstant creates the case of an instant, or records why there is none.
// The pair of entry and instant is unique in the store, so that no instant
// ever makes two cases: one that was dealt with before makes none, and the
// entry goes on; again says so. A backfill makes up for one that had no case.
// alone says that the case is started with it, if it can be, because nothing
// else is there to be started before.
func (e *Scheduling) fireInstant(tx store.Tx, stored *store.Entry, entry *schedule.Entry, step *schedule.Step, o *store.Occurrence, trouble error, alone bool) (again bool, err error) {
	record := tx.Write().Entries().InsertOccurrence
	if o.Outcome == OutcomeBackfilled {
		record = tx.Write().Entries().RedoOccurrence
	}
	var c *caseChange
	var over overlap
	if trouble == nil {
		if over, err = overlapping(tx, stored, entry, o.Outcome); err != nil {
			return false, err
		}
	}
	switch {
	case over.skip != "":
		o.Outcome, o.Reason = OutcomeSkipped, over.skip
		entry.Uncount(step) // only what creates a case counts
	case trouble == nil:
		c, trouble = e.scheduledCase(tx, stored, entry, *step, o.FiredAt, over.waits, alone)
		if unserved(trouble) {
			return false, trouble
		}
	}
	switch {
	case trouble != nil:
		o.Outcome, o.Reason = OutcomeFailed, reasonOf(trouble)
	case c != nil:
		o.CaseID = c.row.ID
	}
	err = record(o)
	if errs.Is(err, errs.NameTaken) {
		e.log.Warn().Str("entry", stored.UUID.String()).Time("instant", o.Instant).Msg("sweeper: an instant of a schedule entry had been fired before")
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if trouble != nil && entry.LastError == "" {
		if err := e.runner.tellAdministrators(tx, stored, cmp.Or(entry.Title, entry.Route), o.Reason, o.Instant, o.FiredAt); err != nil {
			return false, err
		}
	}
	if c != nil || trouble != nil {
		entry.LastCase, entry.LastError = o.CaseID, ""
	}
	if trouble != nil {
		entry.LastError = o.Reason
	} else if c != nil {
		if err := e.cancelOthers(tx, over.cancel, o.FiredAt); err != nil {
			return false, err
		}
		if err := e.runner.write(tx, c); err != nil {
			return false, err
		}
	}
	lag := o.FiredAt.Sub(o.Instant)
	tx.AfterCommit(func() {
		e.observer.Fired(o.Outcome, lag)
		if o.Outcome == OutcomeFailed {
			e.log.Warn().Str("entry", stored.UUID.String()).Time("instant", o.Instant).Str("reason", o.Reason).Msg("sweeper: a schedule entry could not create its case")
		}
	})
	return false, nil
}

// reasonOf is what may be told of an error to whoever sees the entry.
func reasonOf(err error) string {
	if told, ok := errors.AsType[*errs.Error](err); ok && told.Kind != errs.Internal {
		return told.Detail
	}
	return "an internal error; the server's log has it"
}

// scheduledCase decides on the case of an instant, queued or, where it is
// alone, started in the same unit: one commit instead of two. What cannot be
// started like this is queued, where it is dealt with.
func (e *Scheduling) scheduledCase(tx store.Tx, stored *store.Entry, entry *schedule.Entry, step schedule.Step, now time.Time, waits, alone bool) (*caseChange, error) {
	b, err := e.scheduledBirth(tx, stored, entry, step, now)
	if err != nil {
		return nil, err
	}
	b.waits = waits
	if !alone || waits {
		return e.runner.bear(*b, now, false)
	}
	b.id, b.from = e.Store.NextID(), tx
	if starts, err := e.runner.startsNow(tx, b.startable(), now); starts && err == nil {
		if c, err := e.runner.bear(*b, now, true); err == nil && mayStillStart(tx, c) == nil {
			return c, nil
		}
	}
	b.from = nil
	return e.runner.bear(*b, now, false)
}

// scheduledBirth resolves what an entry asks for, under its context and at
// the moment of firing.
func (e *Scheduling) scheduledBirth(tx store.Tx, stored *store.Entry, entry *schedule.Entry, step schedule.Step, now time.Time) (*birth, error) {
	d := e.directory()
	context := d.ByID(stored.ContextID)
	if context == nil || !d.Active(context.ID) {
		return nil, errs.New(errs.ContextNotAvailable, "The entry's context is disabled or gone.")
	}
	noRoute := errs.New(errs.NotFound, "There is no route %q that %s may start cases of.", entry.Route, context.Name)
	info := e.routes.Load().byID[stored.RouteID]
	as := d.Principal(context.ID)
	if info == nil || !e.seesRoute(as, info) || !e.mayStart(as, info) {
		return nil, noRoute
	}
	_, err := tx.Routes().CurrentVersion(info.ID)
	if errs.Is(err, errs.NotFound) {
		return nil, noRoute
	}
	if err != nil {
		return nil, err
	}
	var input *content
	if stored.Attachment != (store.UUID{}) {
		a, err := e.files.findAttachment(tx, as, stored.Attachment, now)
		if err != nil {
			return nil, err
		}
		if a == nil {
			return nil, errs.New(errs.NotFound, "There is no attachment %s that %s may use.", stored.Attachment, context.Name)
		}
		input = attachmentContent(a)
	}
	if entry.Document != "" {
		if input, err = e.files.firingDocument(tx, as, entry.Document); err != nil {
			return nil, err
		}
	}
	if input != nil {
		if err := e.checkQuota(tx.Blobs(), context.ID, input.size()); err != nil {
			return nil, err
		}
	}
	uuid := stored.UUID
	return &birth{
		input: input, info: info, context: *context, starter: *context, title: entry.Title, priority: entry.Priority,
		xattrs: xattrs(entry.XattrDict), schedule: uuid, scheduledFor: step.Instant, iteration: step.Iteration, at: step.Instant,
	}, nil
}

// fireCase does what is due on a case: its timed actions; one that is queued
// can be started from then on. It returns when something of it is due next.
func (e *runner) fireCase(tx store.Tx, b *dueBatch, item *dueItem) (next time.Time, fired bool, err error) {
	now := b.now
	row, err := store.OrNil(tx.Cases().Get(item.ID))
	if err != nil || row == nil || row.Due.IsZero() || row.Due.After(now) {
		return time.Time{}, false, err
	}
	if row.State == string(machine.Queued) { // its startAt has come
		tx.AfterCommit(e.sweeper.noteQueued)
		row.Due = time.Time{}
		return time.Time{}, true, tx.Write().Cases().Update(row, row.Revision)
	}
	c, err := e.advanceCase(tx, row, machine.Due{}, now)
	if err != nil {
		return time.Time{}, false, err
	}
	return c.row.Due, true, nil
}

// advanceCase decides on an event of the engine's own within the writer, and
// stores what it does.
func (e *runner) advanceCase(tx store.Tx, row *store.Case, event machine.Event, now time.Time) (*caseChange, error) {
	h, err := e.held(tx, identity.Principal{}, row, nil)
	if err != nil {
		return nil, err
	}
	return e.advanceHeld(tx, h, event, now)
}

func (e *runner) advanceHeld(tx store.Tx, h *held, event machine.Event, now time.Time) (*caseChange, error) {
	c, err := e.decideOn(h, event, Request{Now: now})
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("%T of case %d", event, h.row.ID), err)
	}
	return c, e.write(tx, c)
}
