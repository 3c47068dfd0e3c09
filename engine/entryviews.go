package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/schedule"
	"flowdrive/store"
)

// EntryView is a schedule entry as a page shows it.
type EntryView struct {
	*schedule.Entry
	Place     int64  // in the order of creation
	ETag      string // that a change can name in If-Match
	Author    string
	Own       bool               // it is one of the reader's contexts
	MayChange bool               // the reader may
	Disabled  bool               // its owner is disabled: it starts no cases
	Trouble   string             // why its instants to come cannot be known, "" if they can
	Outcomes  []store.Occurrence // of its last instants, the newest first
	Undone    map[int64]string   // cases of these that have ended, and in which something has failed: what; of a detail
	LastFails bool               // its last instant had no case, or its last case has failed

	Ended time.Time // zero: it has not
	Actor string    // who deleted it, "": it has fired for the last time
}

// EntryQuery selects schedule entries for a page. Zero fields select all.
type EntryQuery struct {
	Route   string
	Context string
	Query   string // in titles, routes and notes
	Failed  bool   // those whose last instant or case failed
	Paused  bool
	After   int64 // place
	Limit   int
}

// EntryPage are the entries of a page, in order of creation.
type EntryPage struct {
	Entries []*EntryView
	Next    int64 // the place after which the next page begins, 0: there is none

	// Of the entries that the reader sees, at most MostCountedEntries:
	Count, Paused, Failed int
	First                 *schedule.Entry // that fires next, nil: none does
}

const (
	// MostCountedEntries is how many entries are counted for a page, and how many
	// are looked at to fill one, so that none takes long however many there are.
	MostCountedEntries = 1000
	// ShownOutcomes is how many of the last instants of an entry a list shows.
	ShownOutcomes = 30
)

// EntryViews returns a page of the schedule entries that by sees.
func (e *Schedules) EntryViews(ctx context.Context, by identity.Principal, q EntryQuery) (*EntryPage, error) {
	out := &EntryPage{}
	filter := store.EntryFilter{Limit: MostCountedEntries}
	if !by.Admin() {
		filter.Contexts = by.Contexts()
	}
	err := e.Store.View(ctx, func(r store.Reader) error {
		rows, err := r.Entries().List(filter)
		if err != nil {
			return err
		}
		if err := e.countEntries(r, out, rows); err != nil {
			return err
		}
		if filter.After = q.After; q.Route != "" {
			info := e.rights.Visible(by, q.Route)
			if info == nil {
				return nil
			}
			filter.RouteID = info.ID
		}
		if filter.After != 0 || filter.RouteID != 0 {
			if rows, err = r.Entries().List(filter); err != nil {
				return err
			}
		}
		v := &entryViewer{Schedules: e, reader: r, by: by, query: q}
		return v.add(ctx, out, rows)
	})
	return out, err
}

// countEntries says how things stand with the entries.
func (e *Schedules) countEntries(r store.Reader, out *EntryPage, rows []store.Entry) error {
	entries, fail, err := e.readForms(r, rows)
	if err != nil {
		return err
	}
	out.Count = len(rows)
	for i, entry := range entries {
		if entry.Paused {
			out.Paused++
		}
		if fail[i] {
			out.Failed++
		}
		if next := entry.NextIteration; !next.IsZero() && e.directory().Active(rows[i].ContextID) && (out.First == nil || next.Before(out.First.NextIteration)) {
			out.First = entry
		}
	}
	return nil
}

// readForms reads entries, and which of them fail: their last instants had no cases, or their
// last cases have failed.
func (e *Schedules) readForms(r store.Reader, rows []store.Entry) (entries []*schedule.Entry, fail []bool, err error) {
	entries, fail = make([]*schedule.Entry, len(rows)), make([]bool, len(rows))
	cases := make([]int64, 0, len(rows))
	for i := range rows {
		if entries[i], err = e.readForm(&rows[i]); err != nil {
			return nil, nil, err
		}
		if id := entries[i].LastCase; id != 0 {
			cases = append(cases, id)
		}
	}
	failed, err := r.Entries().FailedCases(cases)
	for i, entry := range entries {
		_, caseFailed := slices.BinarySearch(failed, entry.LastCase)
		fail[i] = entry.LastError != "" || caseFailed
	}
	return entries, fail, err
}

// entryViewer makes a page of entries.
type entryViewer struct {
	*Schedules
	reader store.Reader
	by     identity.Principal
	query  EntryQuery
}

// add adds those of the entries that the query selects, until the page is full.
func (e *entryViewer) add(ctx context.Context, out *EntryPage, rows []store.Entry) error {
	entries, fail, err := e.readForms(e.reader, rows)
	if err != nil {
		return err
	}
	for i, entry := range entries {
		if !e.selects(&rows[i], entry) || e.query.Failed && !fail[i] {
			continue
		}
		if len(out.Entries) == e.query.Limit {
			out.Next = out.Entries[e.query.Limit-1].Place
			return nil
		}
		v, err := e.viewEntry(ctx, e.reader, e.by, &rows[i])
		if err != nil {
			return err
		}
		if v.Outcomes, err = e.reader.Entries().Occurrences(rows[i].UUID, ShownOutcomes); err != nil {
			return err
		}
		v.LastFails = fail[i]
		out.Entries = append(out.Entries, v)
	}
	if len(rows) == MostCountedEntries {
		out.Next = rows[len(rows)-1].Seq
	}
	return nil
}

// selects applies the filters that the store does not know.
func (e *entryViewer) selects(s *store.Entry, entry *schedule.Entry) bool {
	q := &e.query
	if q.Paused && !entry.Paused || !e.rights.InContext(e.by, q.Context, s.ContextID) {
		return false
	}
	text := identity.Fold(strings.TrimSpace(q.Query))
	return text == "" || strings.Contains(identity.Fold(entry.Title+"\n"+entry.Note+"\n"+entry.Route), text)
}

// viewEntry returns an entry with what by may do with it.
func (e *Schedules) viewEntry(ctx context.Context, r store.Reader, by identity.Principal, s *store.Entry) (*EntryView, error) {
	entry, trouble, err := e.calendars.ReadForView(ctx, r, s)
	if err == nil {
		err = e.warnAgain(r, entry)
	}
	if err != nil {
		return nil, err
	}
	v := &EntryView{
		Entry: entry, Place: s.Seq, ETag: entryETag(s), Own: by.In(s.ContextID),
		MayChange: e.rights.MayChangeEntry(by, s.ContextID, s.AuthorID), Disabled: !e.directory().Active(s.ContextID),
	}
	if p := e.directory().ByID(s.AuthorID); p != nil {
		v.Author = string(p.Name)
	}
	if trouble != nil {
		v.Trouble = reasonOf(trouble)
	}
	return v, nil
}

// EntryDetail returns a schedule entry, or one that has ended in the last thirty days,
// with what became of its last instants, or of those before an instant; more says that
// there are others before. Errors: errs.NotFound if by may not see the entry.
func (e *Schedules) EntryDetail(ctx context.Context, by identity.Principal, uuid string, before time.Time, limit int) (v *EntryView, more bool, err error) {
	id, ok := store.ParseUUID(uuid)
	if !ok {
		return nil, false, change.Absent("schedule entry")
	}
	err = e.Store.View(ctx, func(r store.Reader) error {
		stored, _, err := e.findEntry(r, by, Ref{Entry: id})
		if err != nil {
			return err
		}
		if stored != nil {
			v, err = e.viewEntry(ctx, r, by, stored)
		} else {
			v, err = e.endedView(r, by, id)
		}
		if err != nil {
			return err
		}
		if before.IsZero() {
			v.Outcomes, err = r.Entries().Occurrences(id, limit+1)
		} else {
			v.Outcomes, err = r.Entries().OccurrencesBefore(id, before, limit+1)
		}
		if more = len(v.Outcomes) > limit; more {
			v.Outcomes = v.Outcomes[:limit]
		}
		if err != nil {
			return err
		}
		if v.Undone, err = undoneIn(r, v.Outcomes); err != nil {
			return err
		}
		failed, err := r.Entries().FailedCases([]int64{v.LastCase})
		v.LastFails = v.LastError != "" || len(failed) > 0
		return err
	})
	return v, more, err
}

// endedView returns an entry that has ended.
func (e *Schedules) endedView(r store.Reader, by identity.Principal, uuid store.UUID) (*EntryView, error) {
	ended, err := store.OrNil(r.Entries().Ended(uuid))
	if err != nil {
		return nil, err
	}
	if ended == nil || !ended.Ended.After(e.Clock.Now().Add(-endedLasts)) || !access.SeesEntry(by, ended.ContextID) {
		return nil, change.Absent("schedule entry")
	}
	entry, err := e.readForm(&store.Entry{Form: ended.Form})
	if err != nil {
		return nil, err
	}
	return &EntryView{Entry: entry, Own: by.In(ended.ContextID), Ended: ended.Ended, Actor: ended.Actor}, nil
}

// ForeseenEntry is what comes of an entry as a dry run has answered it.
type ForeseenEntry struct {
	*schedule.Entry
	Trouble string
	Title   string     // of the first case
	Xattrs  label.Dict // likewise
	Unknown []string   // labels that are not known
}

// ForeseeEntry reads the complete form that a dry run has answered, and what its first
// case would have. Errors: errs.Internal if it is not such a form.
func (e *Schedules) ForeseeEntry(ctx context.Context, by identity.Principal, form []byte) (*ForeseenEntry, error) {
	out := &ForeseenEntry{}
	read, err := e.readForm(&store.Entry{Form: form})
	if err != nil {
		return nil, errs.Wrap("read the answer to a dry run", err)
	}
	err = e.Store.View(ctx, func(r store.Reader) error {
		v, err := e.viewEntry(ctx, r, by, &store.Entry{Form: form, ContextID: identity.ID(read.ContextID)})
		if err == nil {
			out.Entry, out.Trouble = v.Entry, v.Trouble
		}
		return err
	})
	if err != nil || out.NextIteration.IsZero() {
		return out, err
	}
	values := label.Values{
		Now: out.NextIteration, Zone: e.zoneNamed(out.Timezone), Created: out.NextIteration, Login: out.Context, Route: out.Route,
		ScheduledFor: out.NextIteration, Iteration: out.IterationsPerformed + 1,
	}
	var missed []string
	out.Xattrs, out.Unknown, _ = label.Expand(xattrs(out.XattrDict), &values)
	values.XAttrs = out.Xattrs
	out.Title, missed, _ = expandTitle(out.Entry.Title, values)
	out.Unknown = slices.Compact(append(out.Unknown, missed...))
	return out, nil
}
