package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"flowdrive/engine/contents"
	"flowdrive/engine/holidays"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/ical"
	"flowdrive/internal/identity"
	"flowdrive/schedule"
	"flowdrive/store"
)

// The calendars that schedule entries exclude
// (docs/contract/schedule.md#exclude). They are documents, read as the user or
// team as whom the entry acts, each time that its next instant is computed.
// What is due is judged by what the document says then. If it cannot be read,
// the engine does not know which days are excluded: the firing fails, and the
// entry goes on.

// calendarAhead is the error of a decision that needs a calendar which is a
// file. Neither the writer nor a reader may wait for the disk. The file is
// read, and the decision made again.
type calendarAhead struct{ key holidays.Key }

// Error implements error.
func (c *calendarAhead) Error() string { return "a calendar is to be read first" }

// Unwrap says that it is not a defect: the same change succeeds later.
func (c *calendarAhead) Unwrap() error {
	return errs.New(errs.Unavailable, "The calendar of a schedule entry has not been read yet; try again.")
}

// readAhead reads the calendar. If it has gone meanwhile, the next decision
// looks for it again.
func (e *Calendars) readAhead(c *calendarAhead) error {
	body, err := e.contents.Open(c.key.Content())
	if errors.Is(err, contents.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(body, ical.MaxSize+1))
	if err != nil {
		return errs.Wrap("read a calendar", err)
	}
	e.holidays.Put(c.key, holidays.Read(c.key, data, e.zones))
	return nil
}

// holidaysOf returns what the calendar of an entry excludes, and the path of
// the calendar as the store spells it. If the calendar cannot be read, trouble
// says why, in words that follow its name.
func (e *Calendars) holidaysOf(r store.Reader, as identity.Principal, entry *schedule.Entry, now time.Time) (spans []schedule.Span, at string, trouble, err error) {
	d, found, err := e.files.documentNamed(r, as, entry.ExcludeCalendar)
	if err != nil {
		return nil, "", nil, err
	}
	if d == nil {
		return nil, "", errs.New(errs.NotFound, "there is no document %q that %s may use", entry.ExcludeCalendar, as.Name), nil
	}
	at = found.String()
	if !strings.EqualFold(path.Ext(at), ".ics") {
		return nil, at, errs.New(errs.Invalid, "must be a calendar, whose name ends with .ics"), nil
	}
	key := holidays.KeyOf(d.SHA256, entry.Timezone, now)
	off, ok := e.holidays.Get(key)
	switch {
	case ok:
	case d.Size > ical.MaxSize:
		off.Fault = errs.New(errs.Invalid, "is larger than %d bytes, the most that a calendar may have", ical.MaxSize)
	case d.InFile:
		return nil, at, nil, &calendarAhead{key}
	default:
		off = holidays.Read(key, d.Content, e.zones)
		e.holidays.Put(key, off)
	}
	return off.Spans, at, off.Fault, nil
}

// calendarRef resolves the calendar that a document excludes, as who the entry
// acts as, and has the entry observe it.
func (e *Calendars) calendarRef(r store.Reader, as identity.Principal, v document.Value, entry *schedule.Entry, now time.Time) error {
	spans, at, trouble, err := e.holidaysOf(r, as, entry, now)
	switch {
	case err != nil:
		return err
	case errs.Is(trouble, errs.NotFound):
		v.Fail(errs.CodeNotFound, "%s", detailOf(trouble))
	case trouble != nil:
		v.Fail(errs.CodeFormat, "%s", detailOf(trouble))
	default:
		entry.ExcludeCalendar = at
		if planned := !entry.NextIteration.IsZero(); !entry.Observe(spans, now) && planned {
			v.Fail(errs.CodeNeverFires, "excludes every instant of the entry: it would never create a case")
		}
	}
	return nil
}

func detailOf(err error) string {
	if told, ok := errors.AsType[*errs.Error](err); ok {
		return told.Detail
	}
	return err.Error()
}

// readStored reads a stored entry and lets it observe its calendar. If the
// calendar cannot be read, trouble says why, and the entry excludes no day.
func (e *Calendars) readStored(r store.Reader, stored *store.Entry, now time.Time) (entry *schedule.Entry, trouble, err error) {
	if entry, err = e.readForm(stored); err != nil || entry.ExcludeCalendar == "" {
		return entry, nil, err
	}
	as := e.directory().Principal(stored.ContextID)
	spans, _, trouble, err := e.holidaysOf(r, as, entry, now)
	switch {
	case err != nil:
		return nil, nil, err
	case trouble != nil:
		trouble = errs.New(errs.NotFound, "The calendar that the entry excludes cannot be used: %s", fmt.Sprintf("%s: %s.", entry.ExcludeCalendar, detailOf(trouble)))
	default:
		entry.Observe(spans, now)
	}
	return entry, trouble, nil
}

// readForFeed does the same for a caller that can wait for the disk, without
// trouble.
func (e *Calendars) readForFeed(ctx context.Context, r store.Reader, stored *store.Entry) (entry *schedule.Entry, err error) {
	read := func() (err error) {
		entry, _, err = e.readStored(r, stored, e.Clock.Now())
		return err
	}
	return entry, e.runAhead(ctx, read(), read)
}
