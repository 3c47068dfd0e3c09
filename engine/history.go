package engine

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/filename"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	// historyLasts is how long what was stored before stays recoverable, by
	// the drive's clock.
	historyLasts = 30 * 24 * time.Hour
	// tombstoneLifetime is how long after a DELETE a PUT of the name goes on with
	// what was deleted, by the machine's clock: some clients delete before
	// they write.
	tombstoneLifetime = time.Minute
	// purgedHistory is how many old rows one change deletes at most.
	purgedHistory = 100
)

// addHistory keeps a source that is overwritten or deleted at now.
func addHistory(tx store.Tx, p store.HistoryEntry, now time.Time) error {
	p.Replaced = now
	if err := tx.Write().History().DeleteBefore(now.Add(-historyLasts), purgedHistory); err != nil {
		return err
	}
	return tx.Write().History().Insert(&p)
}

// keepPastName keeps the source of a given name.
func keepPastName(tx store.Tx, given *store.GivenName, now time.Time) error {
	return addHistory(tx, store.HistoryEntry{
		Folder: given.Folder, AuthorID: given.Author, Name: given.Name, ETag: given.ETag, Source: given.Source,
	}, now)
}

// keepPastRoute keeps the source of a route.
func keepPastRoute(tx store.Tx, s *store.Route, now time.Time) error {
	ext := ".json"
	if s.YAML {
		ext = ".yaml"
	}
	return addHistory(tx, store.HistoryEntry{
		Folder: store.FolderRoutes, AuthorID: s.AuthorID, Name: s.Name + ext, ETag: s.ETag, Source: s.Source,
	}, now)
}

// History returns what was overwritten and deleted in a folder, as resources:
// what by wrote. Administrators get what all users wrote, under names that tell
// the user.
func (e *History) History(ctx context.Context, by identity.Principal, folder store.Folder) ([]Resource, error) {
	author := authorOfHistory(by)
	var out []Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		all, err := r.History().List(folder, author, e.Clock.Now().Add(-historyLasts))
		for i := range all {
			out = append(out, e.pastResource(by, &all[i]))
		}
		return err
	})
	return out, err
}

// authorOfHistory returns whose documents by may see as they were, 0 for all.
func authorOfHistory(by identity.Principal) identity.ID {
	if by.Admin() {
		return 0
	}
	return by.ID
}

// HasHistory reports whether History returns something.
func (e *History) HasHistory(ctx context.Context, by identity.Principal, folder store.Folder) (some bool, err error) {
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		some, err = r.History().Any(folder, authorOfHistory(by), e.Clock.Now().Add(-historyLasts))
		return err
	})
	return some, err
}

func (e *History) pastResource(by identity.Principal, p *store.HistoryEntry) Resource {
	name := filename.Stamped(p.Replaced, p.Name)
	if p.AuthorID != by.ID {
		if author := e.directory().ByID(p.AuthorID); author != nil {
			i := max(strings.LastIndexByte(name, '.'), 0)
			name = name[:i] + "@" + string(author.Name) + name[i:]
		}
	}
	return Resource{
		Name: name, Seq: p.ID, AuthorID: p.AuthorID, Source: p.Source, SourceETag: p.ETag, SourceSize: p.Size,
		Created: p.Replaced, Modified: p.Replaced,
	}
}

// Past returns one that History lists, with its Source. Errors: errs.NotFound
// if there is none that by may see.
func (e *History) Past(ctx context.Context, by identity.Principal, folder store.Folder, id int64) (*Resource, error) {
	var out *Resource
	err := e.Store.View(ctx, func(r store.Reader) error {
		p, err := store.OrNil(r.History().Get(id))
		if err != nil {
			return err
		}
		if p == nil || p.Folder != folder || p.AuthorID != by.ID && !by.Admin() || !p.Replaced.After(e.Clock.Now().Add(-historyLasts)) {
			return change.Absent("document")
		}
		out = new(e.pastResource(by, p))
		e.audit.Looked(ctx, by, p.AuthorID, audit.HistoryRead, strings.ToUpper(string(folder[:1]))+string(folder[1:])+"/.history/"+out.Name)
		return nil
	})
	return out, err
}

// deletedRoute is what a route goes on with that is PUT again right after it
// was deleted; of a schedule entry it is the whole.
type deletedRoute struct {
	ID      int64     `json:"id"`
	Version int64     `json:"version"`
	Created time.Time `json:"created"`
}

// putTombstone keeps of what a user has deleted under a name what restores it.
func (e *base) putTombstone(tx store.Tx, t store.Tombstone, kept any) error {
	t.Deleted, t.Kept = e.Wall(), document.Line(kept)
	return tx.Write().History().PutTombstone(&t, t.Deleted.Add(-tombstoneLifetime))
}

// findTombstone reads into kept what is kept of what a user has deleted under a
// name a moment ago; false for nothing.
func (e *base) findTombstone(r store.Reader, user identity.ID, folder store.Folder, name string, kept any) (bool, error) {
	if name == "" {
		return false, nil
	}
	stored, err := r.History().Tombstone(user, folder, name, e.Wall().Add(-tombstoneLifetime))
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	if err == nil {
		err = errs.Wrap("read what was deleted", json.Unmarshal(stored, kept))
	}
	return err == nil, err
}

// keepEntry puts a tombstone of the entry for its author, and keeps its form
// if it has no source. A case needs none: deleting it has canceled it.
func (e *Schedules) keepEntry(tx store.Tx, req Request, stored *store.Entry, given *store.GivenName) error {
	if given == nil {
		return addHistory(tx, store.HistoryEntry{
			Folder: store.FolderSchedule, AuthorID: stored.AuthorID, Name: stored.UUID.String() + ".json", ETag: change.SourceETag(stored.Form), Source: stored.Form,
		}, req.Now)
	}
	if given.Author != req.By.ID {
		return nil
	}
	return e.putTombstone(tx, store.Tombstone{User: req.By.ID, Folder: store.FolderSchedule, Name: given.Name}, stored)
}

// restorable returns the entry that the caller has deleted under the name a
// moment ago, nil for none.
func (e *Schedules) restorable(r store.Reader, req Request, ref Ref) (*store.Entry, error) {
	if ref.Author != req.By.ID {
		return nil, nil
	}
	var stored store.Entry
	found, err := e.findTombstone(r, req.By.ID, store.FolderSchedule, ref.Name, &stored)
	if err != nil || !found || !access.SeesEntry(req.By, stored.ContextID) || !e.rights.MayChangeEntry(req.By, stored.ContextID, stored.AuthorID) {
		return nil, err
	}
	return &stored, nil
}

// keepRoute keeps the source of a route that is deleted, and notes the route
// for who deletes it to go on with.
func (e *Routes) keepRoute(tx store.Tx, req Request, stored *store.Route) error {
	if err := keepPastRoute(tx, stored, req.Now); err != nil {
		return err
	}
	kept := deletedRoute{ID: stored.ID, Version: stored.Version, Created: stored.Created}
	return e.putTombstone(tx, store.Tombstone{User: req.By.ID, Folder: store.FolderRoutes, Name: stored.Name}, kept)
}

// newRoute begins a route that is not there: one that the caller has deleted a
// moment ago goes on with its identity and its versions.
func (e *Routes) newRoute(r store.Reader, req Request, name string) (store.Route, error) {
	s := store.Route{Name: name, AuthorID: req.By.ID, Created: req.Now}
	var kept deletedRoute
	found, err := e.findTombstone(r, req.By.ID, store.FolderRoutes, name, &kept)
	if err != nil {
		return s, err
	}
	if !found {
		s.ID = e.NewID(req)
		return s, nil
	}
	s.ID, s.Version, s.Created = kept.ID, kept.Version, kept.Created
	return s, nil
}
