package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/quota"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
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

// Why an instant is skipped that its entry excludes, and one that was missed.
const (
	reasonExcluded = "excluded"
	reasonMissed   = "misfire: missed by more than the grace"
)

// loadedEntry is a stored schedule entry with what its row says.
type loadedEntry struct {
	row   *store.Entry
	entry *schedule.Entry
}

// firing is an instant of a schedule entry on its way to a case.
type firing struct {
	loadedEntry
	step  schedule.Step
	cause error // why no case can be created, which is recorded instead; nil: nothing is known to stand in the way
	// single says that the case is started with it, if it can be, because
	// nothing else is there to be started before.
	single bool
	waits  bool // the case waits for earlier cases of the entry to end
}

// occurrence returns the record of the instant.
func (f *firing) occurrence(outcome string, now time.Time) *store.Occurrence {
	return &store.Occurrence{Entry: f.row.UUID, ContextID: f.row.ContextID, Instant: f.step.Instant, Outcome: outcome, FiredAt: now}
}

// fireEntry does what an entry's due instant asks for, in one unit: creates
// the case, counts, computes what comes next, deletes an exhausted entry.
// The row is read again, because what was fired before may have changed it.
// If the item has a cause, it is recorded instead of a case. fireEntry returns
// when the entry is due next.
func (e *Schedules) fireEntry(tx store.Tx, b *dueBatch, item *dueItem) (next time.Time, fired bool, err error) {
	now := b.now
	stored, err := store.OrNil(tx.Entries().Get(item.UUID))
	if err != nil || stored == nil || stored.Due.IsZero() || stored.Due.After(now) {
		return time.Time{}, false, err
	}
	entry, unread, err := e.calendars.ReadEntry(tx, stored, now)
	if err != nil {
		return time.Time{}, false, err
	}
	trouble := cmp.Or(item.cause, unread)
	if due, comes := entry.Due(); !comes || due.After(now) { // its calendar has come to exclude what was due
		if err := e.passCalendar(tx, stored, entry, now); err != nil {
			return time.Time{}, false, err
		}
		err = e.moveOn(tx, loadedEntry{stored, entry}, ChangeSkipped, !comes, now)
		return stored.Due, false, err
	}
	f := &firing{loadedEntry: loadedEntry{stored, entry}, step: entry.Step(now), cause: trouble, single: b.single}
	if f.step.Nothing() {
		return time.Time{}, false, errs.New(errs.Internal, "The schedule entry %s is due, but has no instant.", stored.UUID)
	}
	if err := passOver(tx, stored, entry, f.step, now); err != nil {
		return time.Time{}, false, err
	}
	if err := (&skips{e.decider, tx}).missed(f, now); err != nil {
		return time.Time{}, false, err
	}
	became := ChangeSkipped
	if !f.step.Instant.IsZero() {
		o := f.occurrence(OutcomeFired, now)
		if f.step.Late {
			o.Outcome, o.Reason = OutcomeLate, "misfire: "+string(entry.Misfire)
		}
		again, err := e.fireInstant(tx, f, o)
		if err != nil {
			return time.Time{}, false, err
		}
		if again {
			entry.Uncount(&f.step)
		} else {
			became = changeOf(o.Outcome)
		}
	}
	err = e.moveOn(tx, f.loadedEntry, became, f.step.Ended, now)
	return stored.Due, true, err
}

// passCalendar leaves a row for an instant that was due, and that the calendar
// of its entry excludes by now: entry has been read with it.
func (e *Schedules) passCalendar(tx store.Tx, stored *store.Entry, entry *schedule.Entry, now time.Time) error {
	before, err := e.readForm(stored)
	if err != nil || before.NextIteration.IsZero() {
		return err
	}
	o := &store.Occurrence{Entry: stored.UUID, ContextID: stored.ContextID, Instant: before.NextIteration, Outcome: OutcomeSkipped, Reason: excludedBy(entry, before.NextIteration), FiredAt: now}
	if err := tx.Write().Entries().InsertOccurrence(o); !errs.Is(err, errs.NameTaken) {
		return err
	}
	return nil
}

// excludedBy is the reason of an occurrence that the entry excludes: it names the day off.
func excludedBy(entry *schedule.Entry, instant time.Time) string {
	if why := entry.WhyExcluded(instant); why != "" {
		return reasonExcluded + ": " + why
	}
	return reasonExcluded // its calendar has no such day any more
}

// readForm reads a stored entry without its calendar.
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

// moveOn stores an entry after an iteration with that outcome, or deletes it
// after its last.
func (e *Schedules) moveOn(tx store.Tx, l loadedEntry, became Change, ended bool, now time.Time) error {
	stored := l.row
	e.publishEntry(tx, stored, became, now)
	if ended {
		given, err := store.OrNil(tx.Names().Of(store.FolderSchedule, stored.UUID, 0))
		if err != nil {
			return err
		}
		stored.Due, stored.Form = time.Time{}, l.entry.Form()
		return e.dropEntry(tx, stored, given, entryEnd{at: now})
	}
	stored.Due, _ = l.entry.Due()
	stored.Revision++
	stored.Form = l.entry.Form()
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
				o.Reason = excludedBy(entry, instant)
			case instant.After(entry.Modified):
				o.Reason = reasonMissed
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

// instantCase is what an instant of a schedule entry comes to: a case, a reason
// why there is none although there should be, or neither if it is skipped.
type instantCase struct {
	over    overlap
	made    *caseChange
	trouble error
	usual   *usualTime // how long cases of the entry take; nil: too few have ended
}

// fireInstant creates the case of an instant, or records why there is none.
// The pair of entry and instant is unique in the store, so that no instant
// ever makes two cases: one that was dealt with before makes none, and the
// entry goes on; again says so. A backfill makes up for one that had no case.
func (e *Schedules) fireInstant(tx store.Tx, f *firing, o *store.Occurrence) (again bool, err error) {
	record := tx.Write().Entries().InsertOccurrence
	answered := o.Outcome == OutcomeBackfilled // somebody waits for it, and is told by the answer
	if answered {
		record = tx.Write().Entries().RedoOccurrence
	}
	became, err := e.decideInstant(tx, f, o)
	if err != nil {
		return false, err
	}
	err = record(o)
	if errs.Is(err, errs.NameTaken) {
		e.log.Warn().Str("entry", f.row.UUID.String()).Time("instant", o.Instant).Msg("sweeper: an instant of a schedule entry had been fired before")
		return true, nil
	}
	if err != nil {
		return false, err
	}
	switch {
	case became.trouble != nil:
		err = e.instantFailed(tx, f, o)
	case became.made != nil:
		err = e.instantFired(tx, f, o, became)
	case became.over.skip != "" && !answered:
		err = (&skips{e.decider, tx}).add(&f.loadedEntry, skippedInstant{o.Instant, o.Reason, f.step.Ended, o.FiredAt})
	}
	if err != nil {
		return false, err
	}
	tx.AfterCommit(func() {
		e.observer.Fired(Firing{Entry: o.Entry, Case: o.CaseID, Instant: o.Instant, Began: o.FiredAt, Outcome: o.Outcome, Lag: o.FiredAt.Sub(o.Instant)})
		if o.Outcome == OutcomeFailed {
			e.log.Warn().Str("entry", f.row.UUID.String()).Time("instant", o.Instant).Str("reason", o.Reason).Msg("sweeper: a schedule entry could not create its case")
		}
	})
	return false, nil
}

// decideInstant decides what an instant comes to, and writes it into its
// occurrence. Nothing is stored.
func (e *Schedules) decideInstant(tx store.Tx, f *firing, o *store.Occurrence) (became *instantCase, err error) {
	became = &instantCase{trouble: f.cause}
	if f.cause == nil {
		if became.over, err = overlapping(tx, f.row, f.entry, o.Outcome); err != nil {
			return nil, err
		}
	}
	switch {
	case became.over.skip != "":
		o.Outcome, o.Reason = OutcomeSkipped, became.over.skip
		f.entry.Uncount(&f.step) // only what creates a case counts
		return became, nil
	case f.cause == nil:
		f.waits = became.over.waits
		became.made, became.trouble = e.scheduledCase(tx, f, o.FiredAt)
		if quota.Unserved(became.trouble) {
			return nil, became.trouble
		}
	}
	if became.trouble != nil {
		o.Outcome, o.Reason = OutcomeFailed, reasonOf(became.trouble)
	} else {
		err = noteCase(tx, became, o)
	}
	return became, err
}

// noteCase writes into the occurrence of an instant which case it has, and looks up
// how long such cases take.
func noteCase(tx store.Tx, became *instantCase, o *store.Occurrence) (err error) {
	o.CaseID = became.made.row.ID
	for _, unfilled := range became.made.warnings { // labels that stay as they are written
		o.Reason = strings.TrimPrefix(o.Reason+"; "+unfilled, "; ")
	}
	if !became.made.after.Life.Ended() {
		became.usual, err = usual(tx, o)
	}
	return err
}

// instantFailed tells who is concerned that an instant has no case.
func (e *Schedules) instantFailed(tx store.Tx, f *firing, o *store.Occurrence) error {
	about, err := noticeEntry(tx, f.row, f.entry)
	if err != nil {
		return err
	}
	failure := &notice.Notice{
		Kind: notice.KindFailure, Time: o.FiredAt, Entry: about,
		Trouble: &notice.Trouble{Text: o.Reason, Since: o.FiredAt, Instant: o.Instant, Ended: f.step.Ended},
	}
	if err := e.decider.firingFailed(tx, f.row, failure); err != nil {
		return err
	}
	if to := f.entry.Heartbeat.Failed; to.IsSet() && !e.sandbox {
		if err := (heartbeats{e.decider, tx, f.row.UUID}).post(to, o.FiredAt); err != nil {
			return err
		}
	}
	f.entry.LastCase, f.entry.LastError, f.entry.CannotStart = o.CaseID, o.Reason, nil
	return nil
}

// instantFired stores the case of an instant, cancels the cases that it
// replaces, and tells who was told of a failure that it is over.
func (e *Schedules) instantFired(tx store.Tx, f *firing, o *store.Occurrence, became *instantCase) error {
	if f.entry.LastError != "" || f.entry.LastCase == 0 {
		if err := e.decider.fired(tx, f.row, f.entry, o.FiredAt); err != nil {
			return err
		}
	}
	if err := (&unfilled{e.decider, tx}).fired(f, became.made.warnings, o.FiredAt); err != nil {
		return err
	}
	f.entry.LastCase, f.entry.LastError, f.entry.CannotStart = o.CaseID, "", nil
	if err := e.cancelOthers(tx, became.over.cancel, o.FiredAt); err != nil {
		return err
	}
	if err := e.decider.write(tx, became.made); err != nil {
		return err
	}
	return e.watchTime(tx, became.made, became.usual, o.FiredAt)
}

// reasonOf returns the text of an error for users who see the entry.
func reasonOf(err error) string {
	if told, ok := errors.AsType[*errs.Error](err); ok && told.Kind != errs.Internal {
		return told.Detail
	}
	return "an internal error; the server's log has it"
}

// scheduledCase decides on the case of an instant, queued or, where it is
// alone, started in the same unit: one commit instead of two.
func (e *Schedules) scheduledCase(tx store.Tx, f *firing, now time.Time) (*caseChange, error) {
	b, err := e.scheduledNewCase(tx, f.loadedEntry, f.step, now)
	if err != nil {
		return nil, err
	}
	b.waits = f.waits
	if !f.single || f.waits {
		return e.decider.createCase(*b, now, false)
	}
	b.id = e.Store.NextID()
	c, err := e.startedCase(tx, *b, now)
	if why, cannot := errors.AsType[*cannotStartNow](err); cannot {
		e.log.Debug().Err(why.cause).Int64("case", b.id).Msg("sweeper: a case of a schedule entry is queued, because it cannot be started at once")
		return e.decider.createCase(*b, now, false)
	}
	return c, err
}

// cannotStartNow says that a case cannot be started in the unit that creates
// it. That is not a failure: the case is queued, and the manager starts it in a
// unit of its own. A cause that lasts is met again there, and dealt with: a
// filter is run, a defect is logged.
type cannotStartNow struct {
	cause error // nil: it is held up, or others come first
}

// Error implements error.
func (c *cannotStartNow) Error() string { return "the case cannot be started at once" }

// startedCase decides on a case that is started in the unit that creates it, or
// answers cannotStartNow. Any other error is the store's.
func (e *Schedules) startedCase(tx store.Tx, b newCase, now time.Time) (*caseChange, error) {
	starts, err := e.decider.startsNow(tx, b.startable(), now)
	if err != nil {
		return nil, err
	}
	if !starts {
		return nil, &cannotStartNow{}
	}
	b.from = tx
	c, err := e.decider.createCase(b, now, true)
	if err != nil {
		return nil, &cannotStartNow{err}
	}
	if err := checkStillStarts(tx, c); errors.Is(err, change.ErrStale) {
		return nil, &cannotStartNow{err}
	} else if err != nil {
		return nil, err
	}
	return c, nil
}

// startable returns the context of an entry and the route that it starts cases of. Errors:
// errs.ContextNotAvailable, and errs.NotFound if there is no such route that the context may start
// cases of.
func (e *base) startable(r store.Reader, stored *store.Entry, entry *schedule.Entry) (*identity.Party, *access.Route, error) {
	d := e.directory()
	context := d.ByID(stored.ContextID)
	if context == nil || !d.Active(context.ID) {
		return nil, nil, errs.New(errs.ContextNotAvailable, "The user or team that the entry belongs to is disabled or deleted; give it another context.")
	}
	noRoute := errs.New(errs.NotFound, "There is no route %q that %s may start cases of.", entry.Route, context.Name)
	info := e.rights.Route(stored.RouteID)
	as := d.Principal(context.ID)
	if info == nil || !e.rights.SeesRoute(as, info) || !e.rights.MayStart(as, info) {
		return nil, nil, noRoute
	}
	_, err := r.Routes().CurrentVersion(info.ID)
	if errs.Is(err, errs.NotFound) {
		return nil, nil, noRoute
	}
	return context, info, err
}

// scheduledNewCase resolves what an entry asks for, under its context and at
// the moment of firing.
func (e *Schedules) scheduledNewCase(tx store.Tx, l loadedEntry, step schedule.Step, now time.Time) (*newCase, error) {
	stored, entry := l.row, l.entry
	context, info, err := e.startable(tx, stored, entry)
	if err != nil {
		return nil, err
	}
	as := e.directory().Principal(context.ID)
	var input *contents.Content
	if stored.Attachment != (store.UUID{}) {
		a, err := e.attachments.findAttachment(tx, as, stored.Attachment, now)
		if err != nil {
			return nil, err
		}
		if a == nil {
			return nil, errs.New(errs.NotFound, "There is no attachment %s that %s may use.", stored.Attachment, context.Name)
		}
		input = attachmentContent(a)
	}
	if entry.Document != "" {
		if input, err = e.files.FiringInput(tx, as, entry.Document); err != nil {
			return nil, err
		}
	}
	if input != nil {
		if err := e.checkQuota(tx, context.ID, input.Size()); err != nil {
			return nil, err
		}
	}
	used, err := e.use(tx, info)
	if err != nil {
		return nil, err
	}
	uuid := stored.UUID
	return &newCase{
		input: input, info: used, context: *context, starter: *context, title: entry.Title, priority: entry.Priority,
		xattrs: xattrs(entry.XattrDict), schedule: uuid, scheduledFor: step.Instant, iteration: step.Iteration, at: step.Instant,
		zone: entry.Timezone,
	}, nil
}

// fireCase does what is due on a case: its timed actions; one that is queued
// can be started from then on. It returns when something of it is due next.
func (e *decider) fireCase(tx store.Tx, b *dueBatch, item *dueItem) (next time.Time, fired bool, err error) {
	now := b.now
	row, err := store.OrNil(tx.Cases().Get(item.ID))
	if err != nil || row == nil || row.Due.IsZero() || row.Due.After(now) {
		return time.Time{}, false, err
	}
	if row.State == string(machine.Queued) && access.ShownState(row) != machine.StateDraft { // its startAt has come
		tx.AfterCommit(e.sweeper.noteQueued)
		row.Due = time.Time{}
		return time.Time{}, true, tx.Write().Cases().Update(row, row.Revision)
	}
	if !b.spent.allows(row.ContextID) {
		return time.Time{}, false, nil // it comes with another batch: others write in between
	}
	c, err := e.advanceCase(tx, row, machine.Due{}, now, b.spent.by(row.ContextID))
	if err != nil {
		return time.Time{}, false, err
	}
	return c.row.Due, true, nil
}

// advanceCase decides on an event of the engine inside the writer, and stores
// the result. It adds to spent, unless that is nil, what expressions have cost.
func (e *decider) advanceCase(tx store.Tx, row *store.Case, event machine.Event, now time.Time, spent *uint64) (*caseChange, error) {
	h, err := e.loadRow(tx, identity.Principal{}, row, nil)
	if err != nil {
		return nil, err
	}
	h.spent = spent
	return e.advanceHeld(tx, h, event, now)
}

func (e *decider) advanceHeld(tx store.Tx, h *loadedCase, event machine.Event, now time.Time) (*caseChange, error) {
	c, err := e.decideOn(h, event, Request{Now: now})
	if err != nil {
		return nil, errs.Wrap(fmt.Sprintf("%T of case %d", event, h.row.ID), err)
	}
	return c, e.write(tx, c)
}
