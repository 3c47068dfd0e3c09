package calendar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"flowdrive/engine/contents"
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

// Ahead is the error of a decision that needs a calendar which is a
// file. Neither the writer nor a reader may wait for the disk. The file is
// read, and the decision made again.
type Ahead struct{ key daysKey }

// Error implements error.
func (c *Ahead) Error() string { return "a calendar is to be read first" }

// Unwrap says that it is not a defect: the same change succeeds later.
func (c *Ahead) Unwrap() error {
	return errs.New(errs.Unavailable, "The calendar of a schedule entry has not been read yet; try again.")
}

// ReadAhead reads the calendar that a decision needs. If it has gone meanwhile, the next decision
// looks for it again.
func (e *Calendars) ReadAhead(c *Ahead) error {
	body, err := e.contents.Open(c.key.digest())
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
	e.daysOff.Put(c.key, readDaysOff(c.key, data, e.zones))
	return nil
}

// holidaysOf returns what the calendar of an entry excludes, and the path of
// the calendar as the store spells it. If the calendar cannot be read, trouble
// says why, in words that follow its name.
func (e *Calendars) holidaysOf(r store.Reader, as identity.Principal, entry *schedule.Entry, now time.Time) (spans []schedule.Span, at string, trouble, err error) {
	d, found, err := e.facts.DocumentNamed(r, as, entry.ExcludeCalendar)
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
	key := daysKeyOf(d.SHA256, entry.Timezone, now)
	off, ok := e.daysOff.Get(key)
	switch {
	case ok:
	case d.Size > ical.MaxSize:
		off.Fault = errs.New(errs.Invalid, "is larger than %d bytes, the most that a calendar may have", ical.MaxSize)
	case d.InFile:
		return nil, at, nil, &Ahead{key}
	default:
		off = readDaysOff(key, d.Content, e.zones)
		e.daysOff.Put(key, off)
	}
	return off.Spans, at, off.Fault, nil
}

// Resolve finds the calendar that a new form of an entry names, as the user or
// team as whom the entry acts, and lets the entry observe it. What is wrong with
// the calendar becomes a fault of v. An *Ahead is returned if the calendar must
// be read first.
func (e *Calendars) Resolve(r store.Reader, as identity.Principal, v document.Value, entry *schedule.Entry, now time.Time) error {
	spans, at, trouble, err := e.holidaysOf(r, as, entry, now)
	switch {
	case err != nil:
		return err
	case errs.Is(trouble, errs.NotFound):
		v.Fail(errs.CodeNotFound, "%s", DetailOf(trouble))
	case trouble != nil:
		v.Fail(errs.CodeFormat, "%s", DetailOf(trouble))
	default:
		entry.ExcludeCalendar = at
		if planned := !entry.NextIteration.IsZero(); !entry.Observe(spans, now) && planned {
			v.Fail(errs.CodeNeverFires, "excludes every instant of the entry: it would never create a case")
		}
	}
	return nil
}

// DetailOf returns the detail of an error of package errs, and the text of any
// other error.
func DetailOf(err error) string {
	if told, ok := errors.AsType[*errs.Error](err); ok {
		return told.Detail
	}
	return err.Error()
}

// ReadEntry reads a stored entry and lets it observe its calendar. If the
// calendar cannot be read, trouble says why, and the entry excludes no day. An
// *Ahead is returned as err if the calendar must be read first.
func (e *Calendars) ReadEntry(r store.Reader, stored *store.Entry, now time.Time) (entry *schedule.Entry, trouble, err error) {
	if entry, err = e.readForm(stored); err != nil || entry.ExcludeCalendar == "" {
		return entry, nil, err
	}
	as := e.facts.Principal(stored.ContextID)
	spans, _, trouble, err := e.holidaysOf(r, as, entry, now)
	switch {
	case err != nil:
		return nil, nil, err
	case trouble != nil:
		trouble = errs.New(errs.NotFound, "The calendar that the entry excludes cannot be used: %s", fmt.Sprintf("%s: %s.", entry.ExcludeCalendar, strings.TrimSuffix(DetailOf(trouble), ".")))
	default:
		entry.Observe(spans, now)
	}
	return entry, trouble, nil
}

// ReadForView does the same for a caller that can wait for the disk.
func (e *Calendars) ReadForView(ctx context.Context, r store.Reader, stored *store.Entry) (entry *schedule.Entry, trouble, err error) {
	read := func() (err error) {
		entry, trouble, err = e.ReadEntry(r, stored, e.maker.Clock.Now())
		return err
	}
	err = e.maker.Ahead(ctx, read(), read)
	return entry, trouble, err
}

// readForm reads a stored entry without its calendar.
func (e *Calendars) readForm(stored *store.Entry) (*schedule.Entry, error) {
	entry, err := schedule.ReadForm(stored.Form, e.zones)
	return entry, errs.Wrap("read a stored schedule entry", err)
}
