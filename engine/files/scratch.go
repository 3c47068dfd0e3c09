package files

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/quota"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// ScratchVersion is what conditions on a side file are about; nil is none.
func ScratchVersion(s *store.Scratch) change.Version {
	if s == nil {
		return change.Version{}
	}
	return change.Version{Exists: true, ETag: s.ETag(), Modified: s.Modified}
}

// OpenScratch is a scratch file with its content, to be read and closed.
type OpenScratch struct {
	store.Scratch
	Body io.ReadSeekCloser
}

const (
	// scratchLasts is how long a scratch file lives after its last change.
	scratchLasts = 24 * time.Hour
	// mostScratch bounds the scratch area of a user, within the quota.
	mostScratch = 256 << 20
	// scratchRow is what a row counts in addition to its content.
	scratchRow = 4 << 10
	// mostDropped bounds how many old rows one change drops for room.
	mostDropped = 4096
)

// LiveScratch returns what is at the place and has not expired, or nil.
func LiveScratch(r store.Reader, author identity.ID, at store.ScratchPlace, now time.Time) (*store.Scratch, error) {
	s, err := store.OrNil(r.Scratch().Get(author, at.Normal()))
	if err != nil || s == nil || !s.Expires.After(now) {
		return nil, err
	}
	return s, nil
}

// Scratch returns what by has at the place. In this use case and its neighbours
// now and Request.Now are the machine's time, in a sandbox too. Errors:
// errs.NotFound if there is nothing.
func (e *Files) Scratch(ctx context.Context, by identity.Principal, now time.Time, at store.ScratchPlace) (*store.Scratch, error) {
	var s *store.Scratch
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		s, err = LiveScratch(r, by.ID, at, now)
		return err
	})
	if err == nil && s == nil {
		err = change.Absent("file")
	}
	return s, err
}

// OpenScratch opens what by has at the place. Errors: errs.NotFound if there is
// nothing.
func (e *Files) OpenScratch(ctx context.Context, by identity.Principal, now time.Time, at store.ScratchPlace) (*OpenScratch, error) {
	var out *OpenScratch
	err := e.contents.Reading(func() error {
		s, err := e.Scratch(ctx, by, now, at)
		if err != nil {
			return err
		}
		body, err := e.contents.OpenRow(s.InFile, s.SHA256, s.Content)
		out = &OpenScratch{Scratch: *s, Body: body}
		return err
	})
	return out, err
}

// ScratchIn returns what by has in the folders, by folder and name.
func (e *Files) ScratchIn(ctx context.Context, by identity.Principal, now time.Time, folders ...string) ([]store.Scratch, error) {
	var all []store.Scratch
	err := e.Store.View(ctx, func(r store.Reader) error {
		rows, err := r.Scratch().In(by.ID, folders...)
		for i := range rows {
			if rows[i].Expires.After(now) {
				all = append(all, rows[i])
			}
		}
		return err
	})
	return all, err
}

// PutScratch creates or replaces a side file. Errors: errs.Method if it is a
// folder, errs.TooLarge, errs.Full.
func (e *Files) PutScratch(ctx context.Context, req change.Request, at store.ScratchPlace, up Upload) (*change.Outcome, error) {
	if err := change.LegalDocumentName(at.Name); err != nil {
		return nil, err
	}
	var room int64
	err := e.Store.View(ctx, func(r store.Reader) error { // before the body is read
		if _, err := e.scratchTarget(r, req, at); err != nil {
			return err
		}
		var err error
		room, err = e.scratchRoom(r, req.By.ID, up.Size)
		return err
	})
	if err != nil {
		return nil, err
	}
	if up.MediaType == "" {
		up.MediaType = mediatype.Of(at.Name)
	}
	in, done := e.arriving.Reader(e.quota, req.By.ID, up.Body, room)
	defer done()
	c, err := e.contents.Read(up.MediaType, in, req.DryRun)
	if err != nil {
		return nil, err
	}
	var out *change.Outcome
	err = e.contents.StoringContent(ctx, c, func() error {
		return e.Update(ctx, func(tx store.Tx) (err error) {
			out, err = e.putSideFile(tx, req, at, c)
			return err
		})
	})
	e.expiry.note(err)
	return out, err
}

// scratchTarget returns what a PUT to the place replaces, nil for nothing.
func (e *Files) scratchTarget(r store.Reader, req change.Request, at store.ScratchPlace) (*store.Scratch, error) {
	found, err := LiveScratch(r, req.By.ID, at, req.Now)
	if err != nil {
		return nil, err
	}
	if found != nil && found.Kind == store.ScratchFolder {
		return nil, errs.New(errs.Method, "%q is a folder; a file cannot replace it.", at.Name)
	}
	return found, e.CheckRequest(r.Locks(), req, ScratchVersion(found), ScopeOfScratch(req.By.ID, at))
}

// scratchRoom returns how large a scratch file may be: what the area and the
// quota hold once everything else in the area is dropped.
func (e *Files) scratchRoom(r store.Reader, author identity.ID, announced int64) (int64, error) {
	stored, err := r.Blobs().StoredBytes(author)
	if err != nil {
		return 0, err
	}
	scratch, err := r.Scratch().Bytes(author)
	if err != nil {
		return 0, err
	}
	// The rows' own weight counts as stored here: the room is a little less.
	room := max(0, min(mostScratch, int64(e.quota)-max(0, stored-scratch))-scratchRow)
	if announced > room {
		return 0, e.overScratch(room)
	}
	return room, nil
}

func (e *Files) overScratch(room int64) error {
	return &errs.Error{
		Kind:   errs.Full,
		Detail: fmt.Sprintf("There is room for %d bytes of temporary files; store large files in Documents/.", room),
		Err:    quota.ErrUsedUp,
	}
}

func (e *Files) putSideFile(tx store.Tx, req change.Request, at store.ScratchPlace, c *contents.Content) (*change.Outcome, error) {
	found, err := e.scratchTarget(tx, req, at)
	if err != nil {
		return nil, err
	}
	s := &store.Scratch{
		Author: req.By.ID, Place: at.Normal(), Kind: store.SideFile, MediaType: c.MediaType, Size: c.Size(), SHA256: c.Sum(),
		InFile: c.InFile(), Content: c.Inline,
		Created: req.Now, Modified: req.Now, Expires: req.Now.Add(scratchLasts),
	}
	if found != nil {
		s.Created = found.Created
	}
	if err := e.keepScratch(tx, s); err != nil {
		return nil, err
	}
	out := &change.Outcome{Created: found == nil, Changed: true, Name: s.Place.Path(), ETag: s.ETag(), Modified: s.Modified}
	if req.DryRun {
		out.Form = document.Form(map[string]any{"name": s.Place.Name, "type": s.MediaType, "size": s.Size})
	}
	return out, e.Finish(tx, req, out)
}

// keepScratch stores a row. If the area or the quota would be too full, it
// deletes the author's oldest other rows.
func (e *Files) keepScratch(tx store.Tx, s *store.Scratch) error {
	if _, err := tx.Write().Scratch().DeleteExpired(s.Modified, purgeAtOnce); err != nil {
		return err
	}
	if err := tx.Write().Scratch().Put(s); err != nil {
		return err
	}
	e.contents.RouseAfter(tx)
	for range mostDropped {
		scratch, err := tx.Scratch().Bytes(s.Author)
		if err != nil {
			return err
		}
		stored, err := tx.Blobs().StoredBytes(s.Author)
		if err != nil {
			return err
		}
		if scratch <= mostScratch && stored <= int64(e.quota) {
			return nil
		}
		oldest, err := tx.Scratch().Oldest(s.Author)
		if err != nil {
			return err
		}
		if oldest == s.ID || oldest == 0 {
			break
		}
		if err := tx.Write().Scratch().DeleteByID(oldest); err != nil {
			return err
		}
	}
	return e.overScratch(0)
}

// MakeScratchFolder makes a folder for side files. Errors: errs.Method if the
// name is taken, errs.Full.
func (e *Files) MakeScratchFolder(ctx context.Context, req change.Request, at store.ScratchPlace) (*change.Outcome, error) {
	if err := change.LegalDocumentName(at.Name); err != nil {
		return nil, err
	}
	var out *change.Outcome
	err := e.Update(ctx, func(tx store.Tx) error {
		found, err := LiveScratch(tx, req.By.ID, at, req.Now)
		if err != nil {
			return err
		}
		if found != nil {
			return errs.New(errs.Method, "%q exists already.", at.Name)
		}
		if err := change.CheckVersion(req.If, change.Version{}); err != nil {
			return err
		}
		s := emptyScratch(req, at, store.ScratchFolder, req.Now.Add(scratchLasts))
		out = &change.Outcome{Created: true, Changed: true, Name: s.Place.Path(), Modified: s.Modified}
		return e.keepScratch(tx, s)
	})
	e.expiry.note(err)
	return out, err
}

func emptyScratch(req change.Request, at store.ScratchPlace, kind store.ScratchKind, expires time.Time) *store.Scratch {
	s := &store.Scratch{
		Author: req.By.ID, Place: at.Normal(), Kind: kind, SHA256: store.DigestOf(nil), Content: []byte{},
		Created: req.Now, Modified: req.Now, Expires: expires,
	}
	if kind == store.Draft {
		s.MediaType = mediatype.Of(at.Name)
	}
	return s
}

// DeleteScratch deletes what the caller has at the place, a folder with all
// that is below it. Errors: errs.NotFound if there is nothing.
func (e *Files) DeleteScratch(ctx context.Context, req change.Request, at store.ScratchPlace) error {
	return e.Update(ctx, func(tx store.Tx) error {
		found, err := LiveScratch(tx, req.By.ID, at, req.Now)
		if err != nil {
			return err
		}
		if found == nil {
			return change.Absent("file")
		}
		if err := e.CheckRequest(tx.Locks(), req, ScratchVersion(found), ScopeOfScratch(req.By.ID, at)); err != nil {
			return err
		}
		return e.removeScratch(tx, found)
	})
}

// MoveScratch moves a side file or folder within the scratch area. With
// overwrite it replaces what is there; created reports that nothing was.
// Errors: errs.NotFound, errs.NotMovable into itself,
// errs.Precondition if something is there and overwrite is not set.
func (e *Files) MoveScratch(ctx context.Context, req change.Request, from, to store.ScratchPlace, overwrite bool) (*change.Outcome, error) {
	if err := change.LegalDocumentName(to.Name); err != nil {
		return nil, err
	}
	var out *change.Outcome
	err := e.Update(ctx, func(tx store.Tx) error {
		found, err := LiveScratch(tx, req.By.ID, from, req.Now)
		if err != nil {
			return err
		}
		if found == nil {
			return change.Absent("file")
		}
		if err := e.CheckRequest(tx.Locks(), req, ScratchVersion(found), ScopeOfScratch(req.By.ID, from)); err != nil {
			return err
		}
		if atOrBelow(found.Place.Path(), to.Path()) {
			return errs.New(errs.NotMovable, "%q cannot be moved into itself.", found.Place.Name)
		}
		there, err := store.OrNil(tx.Scratch().Get(req.By.ID, to.Normal()))
		if err != nil {
			return err
		}
		live := there != nil && there.Expires.After(req.Now)
		if live && !overwrite {
			return errs.New(errs.Precondition, "There is %q already, and Overwrite is F.", to.Name)
		}
		if there != nil {
			if err := e.CheckLocks(tx.Locks(), req, ScopeOfScratch(req.By.ID, to)); err != nil {
				return err
			}
			if err := e.removeScratch(tx, there); err != nil {
				return err
			}
		}
		if err := tx.Write().Locks().DeleteOn(store.ScratchKey(req.By.ID, from)); err != nil {
			return err
		}
		if err := dropNotes(tx, req.By.ID, from); err != nil {
			return err
		}
		out = &change.Outcome{
			Created: !live, Changed: true, Name: to.Normal().Path(),
			ETag: found.ETag(), Modified: found.Modified,
		}
		return tx.Write().Scratch().Move(req.By.ID, found.Place, to.Normal())
	})
	return out, err
}

// atOrBelow reports whether a path is another one or lies below it.
func atOrBelow(above, path string) bool {
	above, path = identity.Fold(above), identity.Fold(path)
	return above == path || strings.HasPrefix(path, above+"/")
}
