package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/engine/status"
	"flowdrive/internal/identity"
	"flowdrive/schedule"
	"flowdrive/store"
)

// Status has the files of Workflow/Status/: where entries and cases are, and what
// comes next (docs/contract/drive.md#status).
type Status struct {
	*base
	schedules *Schedules
	cases     *Cases
	worklists *Worklists
	kept      statusCache
}

// MostStatusFiles is how many entries, or cases, have files in a listing: each must be
// written to know its size. The others are found by their names.
const MostStatusFiles = 500

// StatusFile is a file of Workflow/Status/, in both of its forms.
type StatusFile struct {
	Name     string // without extension
	Text     []byte
	JSON     []byte
	TextETag string
	JSONETag string
	Modified time.Time
}

// statusPage writes a file.
type statusPage interface {
	Text() []byte
	JSON() []byte
}

// newStatusFile returns the file of what it says.
func newStatusFile(name string, of statusPage, modified time.Time) *StatusFile {
	f := &StatusFile{Name: name, Text: of.Text(), JSON: of.JSON(), Modified: modified}
	f.TextETag, f.JSONETag = change.SourceETag(f.Text), change.SourceETag(f.JSON)
	return f
}

// version returns what the files for a user are made from.
func (e *Status) version(zone status.Zone) statusVersion {
	day := zone.Day(e.Clock.Now())
	return statusVersion{changes: e.Store.Changes(), disk: e.disk.version(), parties: e.accounts.Table(), day: day.Unix(), zone: zone.String()}
}

// Entry returns the file of the first schedule entry that one of the references
// names, or of the one that had such a name and has ended in the last thirty days.
// Errors: errs.NotFound if there is none that by may see.
func (e *Status) Entry(ctx context.Context, by identity.Principal, refs []Ref) (*StatusFile, error) {
	look := e.look(by)
	var out *StatusFile
	err := e.Store.View(ctx, func(r store.Reader) error {
		for _, ref := range refs {
			stored, given, err := e.schedules.findEntry(r, by, ref)
			if err != nil {
				return err
			}
			if stored != nil {
				out, err = look.entry(ctx, r, stored, given)
				return err
			}
		}
		ended, err := e.findEnded(r, by, refs)
		if err != nil {
			return err
		}
		if ended == nil {
			return change.Absent("schedule entry")
		}
		out, err = look.ended(r, ended)
		return err
	})
	return out, err
}

// findEnded returns the entry that has ended last of those that the references name,
// nil for none that by may see.
func (e *Status) findEnded(r store.Reader, by identity.Principal, refs []Ref) (*store.EndedEntry, error) {
	all, err := e.allEnded(r, by, !by.Admin())
	if err != nil {
		return nil, err
	}
	for i := range all {
		ended := &all[i]
		named := func(ref Ref) bool {
			if ref.Identity() {
				return ref.Entry == ended.UUID
			}
			return ref.Author == ended.Author && identity.Fold(ref.Name) == identity.Fold(ended.Name)
		}
		if slices.ContainsFunc(refs, named) {
			return ended, nil
		}
	}
	return nil, nil
}

// allEnded returns the entries that have ended in the last thirty days, the newest
// first: those of the user's contexts, or all.
func (e *Status) allEnded(r store.Reader, by identity.Principal, own bool) ([]store.EndedEntry, error) {
	const most = 10_000
	var contexts []identity.ID
	if own {
		contexts = by.Contexts()
	}
	return r.Entries().AllEnded(contexts, e.Clock.Now().Add(-endedLasts), most)
}

// Entries returns the files of the schedule entries in the contexts of by: the newest
// ones, in order of creation, then those of entries that have ended, the newest first.
// There are at most MostStatusFiles.
func (e *Status) Entries(ctx context.Context, by identity.Principal) ([]StatusFile, error) {
	look := e.look(by)
	var out []StatusFile
	err := e.Store.View(ctx, func(r store.Reader) error {
		all, err := r.Entries().List(store.EntryFilter{Contexts: by.Contexts()})
		if err != nil {
			return err
		}
		for i := max(0, len(all)-MostStatusFiles); i < len(all); i++ {
			given, err := store.OrNil(r.Names().Of(store.FolderSchedule, all[i].UUID, 0))
			if err != nil {
				return err
			}
			f, err := look.entry(ctx, r, &all[i], given)
			if err != nil {
				return err
			}
			out = append(out, *f)
		}
		ended, err := e.allEnded(r, by, true)
		for i := 0; i < len(ended) && len(out) < MostStatusFiles && err == nil; i++ {
			var f *StatusFile
			if f, err = look.ended(r, &ended[i]); err == nil {
				out = append(out, *f)
			}
		}
		return err
	})
	return out, err
}

// Case returns the file of a case. Errors: errs.NotFound if by may not see the case.
func (e *Status) Case(ctx context.Context, by identity.Principal, id int64) (*StatusFile, error) {
	look := e.look(by)
	var out *StatusFile
	err := e.Store.View(ctx, func(r store.Reader) error {
		row, _, err := e.findCase(r, by, Ref{CaseID: id})
		if err != nil {
			return err
		}
		if row == nil {
			return change.Absent("case")
		}
		out, err = look.of(r, row)
		return err
	})
	return out, err
}

// Cases returns the files of the newest open cases that Cases/ lists for by, in order
// of ids, and of those that by has canceled lately: at most MostStatusFiles.
func (e *Status) Cases(ctx context.Context, by identity.Principal) ([]StatusFile, error) {
	look := e.look(by)
	all, err := e.cases.Cases(ctx, by, Filter{OwnOnly: true, Unfinished: true})
	if err != nil {
		return nil, err
	}
	all = all[max(0, len(all)-MostStatusFiles):]
	out := make([]StatusFile, 0, len(all))
	err = e.Store.View(ctx, func(r store.Reader) error {
		for i := range all {
			row, err := store.OrNil(r.Cases().Get(all[i].Seq))
			if err != nil {
				return err
			}
			if row == nil {
				continue // deleted since
			}
			f, err := look.of(r, row)
			if err != nil {
				return err
			}
			out = append(out, *f)
		}
		canceled, err := e.canceledLately(r, by)
		for i := 0; i < len(canceled) && len(out) < MostStatusFiles && err == nil; i++ {
			var f *StatusFile
			if f, err = look.of(r, canceled[i]); err == nil {
				out = append(out, *f)
			}
		}
		return err
	})
	return out, err
}

// statusLook makes files for a user. What was made already is taken from the cache, as
// long as nothing has changed.
type statusLook struct {
	*Status
	by      identity.Principal
	zone    status.Zone
	queued  []int64        // cases that the user may have started, for what is held back
	givenUp map[int64]bool // failed cases in which all that had failed was given up, as late finds them
	version statusVersion
}

func (e *Status) look(by identity.Principal) *statusLook {
	zone := status.Zone{Location: e.zoneOf(by)}
	return &statusLook{Status: e, by: by, zone: zone, givenUp: map[int64]bool{}, version: e.version(zone)}
}

// keep returns the file with that key, which write makes if it is not in the cache.
func (l *statusLook) keep(key string, write func() (*StatusFile, error)) (*StatusFile, error) {
	at := statusKey{l.by.ID, key}
	if f := l.kept.Get(at, l.version); f != nil {
		return f, nil
	}
	f, err := write()
	if err != nil {
		return nil, err
	}
	return l.kept.Put(at, l.version, f), nil
}

// nameFor returns the name under which the user sees a given name, without extension.
func (l *statusLook) nameFor(uuid store.UUID, author identity.ID, given string) string {
	if given == "" {
		return uuid.String()
	}
	stem := given[:strings.LastIndexByte(given, '.')]
	if author == l.by.ID {
		return stem
	}
	party := l.directory().ByID(author)
	if party == nil {
		return uuid.String()
	}
	return stem + "@" + string(party.Name)
}

// entry returns the file of a schedule entry.
func (l *statusLook) entry(ctx context.Context, r store.Reader, stored *store.Entry, given *store.GivenName) (*StatusFile, error) {
	return l.keep("schedule/"+stored.UUID.String(), func() (*StatusFile, error) {
		entry, trouble, err := l.schedules.calendars.ReadForView(ctx, r, stored)
		if err == nil {
			err = l.schedules.warnAgain(r, entry)
		}
		if err != nil {
			return nil, err
		}
		f := status.Entry{Zone: l.zone, Name: stored.UUID.String(), Entry: entry, Next: schedule.Preview(entry, time.Time{}, status.MostNext), PausedSince: stored.Paused, Disabled: !l.directory().Active(stored.ContextID)}
		if given != nil {
			f.Name = l.nameFor(stored.UUID, given.Author, given.Name)
		}
		if n := len(f.Next); n > 0 && trouble == nil {
			f.LeftOut = entry.LeftOut(f.Next[n-1], status.MostNext)
		}
		if trouble == nil {
			_, _, trouble = l.schedules.startable(r, stored, entry)
		}
		if trouble != nil {
			f.Trouble = reasonOf(trouble)
		} else if f.Held, err = l.heldBack(r, stored.RouteID); err != nil {
			return nil, err
		}
		return l.withOccurrences(r, &f, stored.UUID, stored.Modified)
	})
}

// heldBack says in a sentence what keeps cases of the route from starting, "" for nothing.
func (l *statusLook) heldBack(r store.Reader, routeID int64) (string, error) {
	info := l.rights.Route(routeID)
	holds, err := r.Queue().Holds()
	if err != nil || info == nil || len(holds) == 0 {
		return "", err
	}
	used, err := l.use(r, info)
	if err != nil {
		return "", err
	}
	return heldBack(holds, info.Name, used.Compiled.Group, l.by), nil
}

// ended returns the file of an entry that has ended.
func (l *statusLook) ended(r store.Reader, ended *store.EndedEntry) (*StatusFile, error) {
	return l.keep("schedule/"+ended.UUID.String(), func() (*StatusFile, error) {
		entry, err := l.readForm(&store.Entry{Form: ended.Form})
		if err != nil {
			return nil, err
		}
		f := status.Entry{
			Zone: l.zone, Name: l.nameFor(ended.UUID, ended.Author, ended.Name), Entry: entry,
			Ended: ended.Ended, Actor: ended.Actor, Expires: ended.Ended.Add(endedLasts),
		}
		return l.withOccurrences(r, &f, ended.UUID, ended.Ended)
	})
}

// withOccurrences adds what became of the last instants, and writes the file.
func (l *statusLook) withOccurrences(r store.Reader, f *status.Entry, uuid store.UUID, modified time.Time) (*StatusFile, error) {
	var err error
	if f.Occurrences, err = r.Entries().Occurrences(uuid, status.MostOccurrences); err != nil {
		return nil, err
	}
	for i := range f.Occurrences {
		if at := f.Occurrences[i].FiredAt; at.After(modified) {
			modified = at
		}
	}
	if f.Undone, err = undoneIn(r, f.Occurrences); err != nil {
		return nil, err
	}
	return newStatusFile(f.Name, f, modified), nil
}

// undoneIn returns what has failed in cases that are complete all the same: a command may fail
// after its case has ended. Of a case that is failed its state says so.
func undoneIn(r store.Reader, occurrences []store.Occurrence) (map[int64]string, error) {
	undone := map[int64]string{}
	for i := range occurrences {
		o := &occurrences[i]
		if machine.Life(o.State) != machine.Completed {
			continue
		}
		row, err := store.OrNil(r.Cases().Get(o.CaseID))
		if err != nil {
			return nil, err
		}
		if row == nil {
			continue
		}
		c, err := machine.ReadMarking(row.Marking)
		if err != nil {
			return nil, err
		}
		if all := c.AllUndone(); len(all) > 0 {
			undone[o.CaseID] = all[0].Fault
		}
	}
	return undone, nil
}

// of returns the file of a case.
func (l *statusLook) of(r store.Reader, row *store.Case) (*StatusFile, error) {
	return l.keep("cases/"+strconv.FormatInt(row.ID, 10), func() (*StatusFile, error) {
		h, err := l.cases.decider.loadRow(r, l.by, row, nil)
		if err != nil {
			return nil, err
		}
		f := status.Case{Zone: l.zone, Case: h.core, Route: h.route.Compiled, Sandbox: l.sandbox, Named: row.Named}
		if h.core.IsDraft() {
			f.Why = machine.DraftWhy(h.core, h.route.Compiled)
		} else if h.core.Life == machine.Queued {
			if f.Why, err = l.cases.decider.whyQueued(r, row, l.by); err != nil {
				return nil, err
			}
		}
		if f.Unstarted, err = whyUnstarted(l.cases.decider, r, h.core); err != nil {
			return nil, err
		}
		if f.Forecast, err = l.cases.decider.forecast(h); err != nil {
			return nil, err
		}
		if f.Files, err = l.fileNames(r, h.core); err != nil {
			return nil, err
		}
		modified := h.core.Modified
		if len(h.route.Compiled.Reaches()) > 0 {
			if f.Written, err = writtenIn(r, row.ID); err != nil {
				return nil, err
			}
			for i := range f.Written {
				if at := f.Written[i].At; at.After(modified) {
					modified = at
				}
			}
		}
		return newStatusFile(f.Name(), &f, modified), nil
	})
}

// writtenIn returns the newest messages of a case that hold what commands wrote.
func writtenIn(r store.Reader, id int64) ([]status.Written, error) {
	all, err := r.Cases().Messages().List(id)
	if err != nil {
		return nil, err
	}
	var written []status.Written
	for i := range all {
		if m := &all[i]; outbox.IsOutput(m.Label) {
			written = append(written, status.Written{Label: m.Label, Size: m.Size, At: m.Modified})
		}
	}
	return written[max(0, len(written)-status.MostWritten):], nil
}
