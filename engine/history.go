package engine

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// FolderRoutes is Routes/, of whose documents a history is kept as well.
const FolderRoutes Folder = "routes"

// Past is a source document that was overwritten or deleted: its author and
// administrators find it under .history/ of its folder for thirty days
// (docs/contract/drive.md#history).
type Past struct {
	ID       int64
	Folder   Folder
	AuthorID identity.ID
	Name     string    // of the file
	Replaced time.Time // when, in whole seconds; unique for a name
	ETag     string
	Size     int64
	Source   []byte // nil where it was left out
}

// HistoryReader reads what was stored before.
type HistoryReader interface {
	// History returns what was replaced in the folder after the instant, of
	// the author or, where that is 0, of all, without Source, by author, name
	// and time.
	History(folder Folder, author identity.ID, after time.Time) ([]Past, error)
	Past(id int64) (*Past, error)

	// Departed returns what the user deleted under the name after the instant.
	Departed(user identity.ID, folder Folder, name string, after time.Time) (remains []byte, err error)
}

// HistoryWriter writes what was stored before.
type HistoryWriter interface {
	// InsertPast stores a source, in the next second that the name has free.
	InsertPast(p *Past) error
	DeleteHistoryBefore(t time.Time, limit int) error

	// PutDeparted notes what a user has deleted, as JSON, and forgets what was
	// deleted before the instant.
	PutDeparted(user identity.ID, folder Folder, name string, deleted time.Time, remains []byte, before time.Time) error
	DeleteDeparted(user identity.ID, folder Folder, name string) error
}

const (
	// historyLasts is how long what was stored before stays recoverable, by
	// the drive's clock.
	historyLasts = 30 * 24 * time.Hour
	// revivalLasts is how long after a DELETE a PUT of the name goes on with
	// what was deleted, by the machine's clock: some clients delete before
	// they write.
	revivalLasts = time.Minute
	// purgedHistory is how many old rows one change deletes at most.
	purgedHistory = 100
)

// keepPast keeps a source that is overwritten or deleted at now.
func keepPast(tx Tx, p Past, now time.Time) error {
	p.Replaced = now
	if err := tx.DeleteHistoryBefore(now.Add(-historyLasts), purgedHistory); err != nil {
		return err
	}
	return tx.InsertPast(&p)
}

// keepPastName keeps the source of a given name.
func keepPastName(tx Tx, given *GivenName, now time.Time) error {
	return keepPast(tx, Past{
		Folder: given.Folder, AuthorID: given.Author, Name: given.Name, ETag: given.ETag, Source: given.Source,
	}, now)
}

// keepPastRoute keeps the source of a route.
func keepPastRoute(tx Tx, s *Route, now time.Time) error {
	ext := ".json"
	if s.YAML {
		ext = ".yaml"
	}
	return keepPast(tx, Past{
		Folder: FolderRoutes, AuthorID: s.AuthorID, Name: s.Name + ext, ETag: s.ETag, Source: s.Source,
	}, now)
}

// History returns what was overwritten and deleted in a folder of late, as
// resources: of by, and of everybody to administrators, who find what others
// wrote under names that tell whose it was.
func (e *Engine) History(ctx context.Context, by identity.Principal, folder Folder) ([]Resource, error) {
	author := by.ID
	if by.Admin() {
		author = 0
	}
	var out []Resource
	err := e.store.View(ctx, func(r Reader) error {
		all, err := r.History(folder, author, e.clock.Now().Add(-historyLasts))
		for i := range all {
			out = append(out, e.pastResource(by, &all[i]))
		}
		return err
	})
	return out, err
}

func (e *Engine) pastResource(by identity.Principal, p *Past) Resource {
	name := generatedName(p.Replaced, p.Name)
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

// Past returns one that History lists, with its Source.
func (e *Engine) Past(ctx context.Context, by identity.Principal, folder Folder, id int64) (*Resource, error) {
	var out *Resource
	err := e.store.View(ctx, func(r Reader) error {
		p, err := orNil(r.Past(id))
		if err != nil {
			return err
		}
		if p == nil || p.Folder != folder || p.AuthorID != by.ID && !by.Admin() || !p.Replaced.After(e.clock.Now().Add(-historyLasts)) {
			return absent("document")
		}
		out = new(e.pastResource(by, p))
		return nil
	})
	return out, err
}

// departedRoute is what a route goes on with that is PUT again right after it
// was deleted; of a schedule entry it is the whole.
type departedRoute struct {
	ID      int64     `json:"id"`
	Version int64     `json:"version"`
	Created time.Time `json:"created"`
}

// depart notes what a user has deleted under a name.
func (e *Engine) depart(tx Tx, user identity.ID, folder Folder, name string, remains any) error {
	now := e.wall()
	return tx.PutDeparted(user, folder, name, now, document.Line(remains), now.Add(-revivalLasts))
}

// departed reads what a user has deleted under a name a moment ago; false for
// nothing.
func (e *Engine) departed(r Reader, user identity.ID, folder Folder, name string, remains any) (bool, error) {
	if name == "" {
		return false, nil
	}
	stored, err := r.Departed(user, folder, name, e.wall().Add(-revivalLasts))
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	if err == nil {
		err = errs.Wrap("read what was deleted", json.Unmarshal(stored, remains))
	}
	return err == nil, err
}

// departEntry notes the entry for its author to go on with, and keeps its form
// where it has no source. A case is not noted: deleting one has canceled it.
func (e *Engine) departEntry(tx Tx, req Request, stored *Entry, given *GivenName) error {
	if given == nil {
		return keepPast(tx, Past{
			Folder: FolderSchedule, AuthorID: stored.AuthorID, Name: stored.UUID.String() + ".json", ETag: sourceETag(stored.Form), Source: stored.Form,
		}, req.Now)
	}
	if given.Author != req.By.ID {
		return nil
	}
	return e.depart(tx, req.By.ID, FolderSchedule, given.Name, stored)
}

// revivable returns the entry that the caller has deleted under the name a
// moment ago, nil for none.
func (e *Engine) revivable(r Reader, req Request, ref Ref) (*Entry, error) {
	if ref.Author != req.By.ID {
		return nil, nil
	}
	var stored Entry
	found, err := e.departed(r, req.By.ID, FolderSchedule, ref.Name, &stored)
	if err != nil || !found || !seesEntry(req.By, stored.ContextID) || !e.mayChangeEntry(req.By, stored.ContextID, stored.AuthorID) {
		return nil, err
	}
	return &stored, nil
}

// departRoute keeps the source of a route that is deleted, and notes the route
// for who deletes it to go on with.
func (e *Engine) departRoute(tx Tx, req Request, stored *Route) error {
	if err := keepPastRoute(tx, stored, req.Now); err != nil {
		return err
	}
	remains := departedRoute{ID: stored.ID, Version: stored.Version, Created: stored.Created}
	return e.depart(tx, req.By.ID, FolderRoutes, stored.Name, remains)
}

// newRoute begins a route that is not there: one that the caller has deleted a
// moment ago goes on with its identity and its versions.
func (e *Engine) newRoute(r Reader, req Request, name string) (Route, error) {
	s := Route{Name: name, AuthorID: req.By.ID, Created: req.Now}
	var remains departedRoute
	found, err := e.departed(r, req.By.ID, FolderRoutes, name, &remains)
	if err != nil {
		return s, err
	}
	if !found {
		s.ID = e.newID(req)
		return s, nil
	}
	s.ID, s.Version, s.Created = remains.ID, remains.Version, remains.Created
	return s, nil
}
