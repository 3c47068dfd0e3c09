package engine

import (
	"errors"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/schedule"
	"flowdrive/store"
)

// readCommand reads what a document orders: {"do": …} on an entry that there
// is. It is carried out and not stored (docs/contract/schedule.md#commands).
func (e *Schedules) readCommand(r store.Reader, req Request, root document.Value, stored *store.Entry, given *store.GivenName) (*entryChange, error) {
	name, _ := schedule.Command(root)
	c := &commanded{Schedules: e, req: req, uuid: stored.UUID, base: stored.Revision, given: given}
	carry := map[string]func(store.Tx, *store.Entry, *schedule.Entry) error{
		schedule.CommandTrigger:  c.trigger,
		schedule.CommandResume:   c.resume,
		schedule.CommandPause:    c.pause,
		schedule.CommandBackfill: c.backfill,
	}[name]
	again := document.Root(root.Node, &document.Faults{}) // whose faults are noted
	if note := again.Get("note"); note.Given() {
		c.note, _ = schedule.ReadNote(note)
	}
	if missed := again.Get("missed"); missed.Given() {
		c.skipMissed = schedule.ReadMissed(missed)
	}
	if name == schedule.CommandBackfill {
		c.from, c.to = schedule.BackfillRange(again)
		if c.to.After(req.Now) {
			root.Get("to").Fail(errs.CodeRange, "must not be in the future: instants to come need no backfill")
		} else if err := c.judge(r, root, stored); err != nil {
			return nil, err
		}
	}
	if err := root.Faults.Err(); err != nil {
		return nil, err
	}
	return &entryChange{command: func(tx store.Tx) (*Outcome, error) { return c.do(tx, carry) }}, nil
}

// commanded is a command on its way.
type commanded struct {
	*Schedules
	req        Request
	uuid       store.UUID
	base       int64
	given      *store.GivenName
	note       string
	from, to   time.Time
	filled     *backfillReport // of a backfill
	skipMissed bool            // of a resume: what was missed is skipped
}

// do carries a command out and answers.
func (c *commanded) do(tx store.Tx, carry func(store.Tx, *store.Entry, *schedule.Entry) error) (*Outcome, error) {
	stored, err := tx.Entries().Get(c.uuid)
	if err != nil {
		return nil, staleIfGone(err)
	}
	if stored.Revision != c.base {
		return nil, change.ErrStale
	}
	entry, _, err := c.calendars.ReadEntry(tx, stored, c.req.Now)
	if err != nil {
		return nil, err
	}
	if err := carry(tx, stored, entry); err != nil {
		return nil, err
	}
	out := &Outcome{Changed: true, Name: c.uuid.String(), Modified: stored.Modified}
	if out.Form, out.FormETag, err = c.shownEntry(tx, stored); err != nil {
		return nil, err
	}
	if c.filled != nil {
		if out.Told, err = c.filled.form(out.Form); err != nil {
			return nil, err
		}
	}
	return out, c.Finish(tx, c.req, out)
}

// trigger creates a case now. What would only be recorded at a firing is an
// error here, because a person waits for the answer.
func (c *commanded) trigger(tx store.Tx, stored *store.Entry, entry *schedule.Entry) error {
	iteration, ended := entry.Trigger()
	step := schedule.Step{Instant: c.req.Now, Iteration: iteration}
	f := &firing{loadedEntry: loadedEntry{stored, entry}, step: step}
	o := f.occurrence(OutcomeTriggered, c.req.Now)
	change, err := c.scheduledCase(tx, f, c.req.Now)
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind == errs.NotFound { // what the entry names, not the entry
		fault := errs.Fault{Pointer: "/do", Code: errs.CodeNotFound, Detail: strings.TrimSuffix(e.Detail, ".")}
		return errs.InvalidDocument([]errs.Fault{fault})
	}
	if err != nil {
		return err
	}
	o.CaseID = change.row.ID
	if err := insertFree(tx, o, c.req.Now); err != nil {
		return err
	}
	if err := c.decider.write(tx, change); err != nil {
		return err
	}
	if _, err := c.decider.endEntryTroubles(tx, stored, entry, entryOver{at: c.req.Now, by: c.req.By.ID}); err != nil {
		return err
	}
	entry.LastCase, entry.LastError, entry.CannotStart = o.CaseID, "", nil
	tx.AfterCommit(func() {
		c.observer.Fired(Firing{Entry: o.Entry, Case: o.CaseID, Instant: o.Instant, Began: o.FiredAt, Outcome: o.Outcome})
	})
	return c.moveOn(tx, f.loadedEntry, ChangeFired, ended, c.req.Now)
}

// insertFree records an occurrence at the first free instant from that one
// on: an entry can be triggered more than once in a moment. Whole seconds are
// left to the entry's own instants.
func insertFree(tx store.Tx, o *store.Occurrence, from time.Time) error {
	const most = 100_000
	for i := range most {
		o.Instant = from.Add(time.Duration(i) * time.Millisecond)
		if o.Instant.Equal(o.Instant.Truncate(time.Second)) {
			continue
		}
		if err := tx.Write().Entries().InsertOccurrence(o); !errs.Is(err, errs.NameTaken) {
			return err
		}
	}
	return errs.New(errs.TooMany, "The entry was triggered too often in this moment; try again later.")
}

// pause stops an entry; it changes its definition as a PUT would.
func (c *commanded) pause(tx store.Tx, stored *store.Entry, entry *schedule.Entry) error {
	was := *stored
	if stored.Paused.IsZero() {
		stored.Paused = entry.PausedSince(c.req.Now)
	}
	if note := c.note; note != "" || !entry.Paused {
		entry.Pause(note) // one that is paused keeps the reason why
	}
	if err := c.redefine(tx, stored, entry); err != nil {
		return err
	}
	return (&deeds{c.decider, tx}).tellPause(c.req, &was, stored)
}

// resume resumes an entry. What it has missed is due now, and its misfire
// policy applies, unless the command says that it is skipped.
func (c *commanded) resume(tx store.Tx, stored *store.Entry, entry *schedule.Entry) error {
	if !entry.Paused {
		return nil
	}
	since := stored.Paused
	if since.IsZero() { // it was paused with its route, before the instant was stored for that
		since = c.req.Now
	}
	if !entry.Resume(since) {
		return neverFires("the entry has missed nothing and has no further instant; change it, or delete it")
	}
	var passed schedule.Step
	if c.skipMissed {
		var comes bool
		if passed, comes = entry.SkipMissed(c.req.Now); !comes {
			return neverFires("without what the entry has missed it has no further instant; change it, or delete it")
		}
	}
	was := *stored
	stored.Paused = time.Time{}
	entry.Note = c.note // the other said why it was paused
	if err := c.redefine(tx, stored, entry); err != nil {
		return err
	}
	if err := passOver(tx, stored, entry, passed, c.req.Now); err != nil {
		return err
	}
	return (&deeds{c.decider, tx}).tellPause(c.req, &was, stored)
}

// neverFires is the error of a resume after which nothing would be due.
func neverFires(why string) error {
	fault := errs.Fault{Pointer: "/do", Code: errs.CodeNeverFires, Detail: "is not possible: " + why}
	return &errs.Error{Kind: errs.Invalid, Detail: fault.String() + ".", Faults: []errs.Fault{fault}}
}

// redefine stores an entry after a command has changed a field that documents
// have. If the source has the field too, the source is rewritten.
func (c *commanded) redefine(tx store.Tx, stored *store.Entry, entry *schedule.Entry) error {
	entry.Modified = c.req.Now
	stored.Modified = c.req.Now
	stored.Definition++
	if err := c.moveOn(tx, loadedEntry{stored, entry}, ChangeChanged, false, c.req.Now); err != nil {
		return err
	}
	if c.given == nil {
		return nil
	}
	source, err := parseNamed(Ref{Name: c.given.Name}, c.given.Source)
	if err != nil || source.Get("paused") == nil && source.Get("note") == nil {
		return nil //nolint:nilerr // a source that cannot be read cannot say anything else
	}
	was := c.given.ETag
	setSource(c.given, schedule.Source(entry), c.req.Now)
	return c.claimName(tx, c.given, was)
}
