// Package scratch has what a user keeps beside the documents of the workflow
// (docs/contract/drive.md#side-files): what editors and desktops write there, drafts,
// and content that was refused. It asks nothing of cases, routes, schedule entries or
// documents.
package scratch

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/expiry"
	"flowdrive/engine/quota"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"

	"github.com/rs/zerolog"
)

// Area is the scratch area of each user.
type Area struct {
	*change.Maker
	contents *contents.Keeper
	quota    quota.Bytes
	arriving *quota.Arriving
	log      zerolog.Logger
	expiry   *expiry.Loop
}

// Config is what an Area is made of. All fields are required.
type Config struct {
	Maker    *change.Maker
	Contents *contents.Keeper
	Quota    quota.Bytes
	Arriving *quota.Arriving // what users are sending, here and elsewhere
	Log      zerolog.Logger
}

// New returns the scratch area over a store.
func New(cfg Config) *Area {
	return &Area{
		Maker: cfg.Maker, contents: cfg.Contents, quota: cfg.Quota, arriving: cfg.Arriving, log: cfg.Log, expiry: expiry.New(),
	}
}

// Version is what conditions on a side file are about; nil is none.
func Version(s *store.Scratch) change.Version {
	if s == nil {
		return change.Version{}
	}
	return change.Version{Exists: true, ETag: s.ETag(), Modified: s.Modified}
}

// Opened is a scratch file with its content, to be read and closed.
type Opened struct {
	store.Scratch
	Body io.ReadSeekCloser
}

const (
	// lasts is how long a scratch file lives after its last change.
	lasts = 24 * time.Hour
	// secretLasts is how long one does that may hold a password.
	secretLasts = 10 * time.Minute
	// most bounds the scratch area of a user, within the quota.
	most = 256 << 20
	// rowBytes is what a row counts in addition to its content.
	rowBytes = 4 << 10
	// mostDropped bounds how many old rows one change drops for room.
	mostDropped = 4096
)

// Live returns what is at the place and has not expired, or nil.
func Live(r store.Reader, author identity.ID, at store.ScratchPlace, now time.Time) (*store.Scratch, error) {
	s, err := store.OrNil(r.Scratch().Get(author, at.Normal()))
	if err != nil || s == nil || !s.Expires.After(now) {
		return nil, err
	}
	return s, nil
}

// Get returns what by has at the place. In this use case and its neighbours
// now and Request.Now are the machine's time, in a sandbox too. Errors:
// errs.NotFound if there is nothing.
func (a *Area) Get(ctx context.Context, by identity.Principal, now time.Time, at store.ScratchPlace) (*store.Scratch, error) {
	var s *store.Scratch
	err := a.Store.View(ctx, func(r store.Reader) (err error) {
		s, err = Live(r, by.ID, at, now)
		return err
	})
	if err == nil && s == nil {
		err = change.Absent("file")
	}
	return s, err
}

// Open opens what by has at the place. Errors: errs.NotFound if there is
// nothing.
func (a *Area) Open(ctx context.Context, by identity.Principal, now time.Time, at store.ScratchPlace) (*Opened, error) {
	var out *Opened
	err := a.contents.Reading(func() error {
		s, err := a.Get(ctx, by, now, at)
		if err != nil {
			return err
		}
		body, err := a.contents.OpenRow(s.InFile, s.SHA256, s.Content)
		out = &Opened{Scratch: *s, Body: body}
		return err
	})
	return out, err
}

// In returns what by has in the folders, by folder and name.
func (a *Area) In(ctx context.Context, by identity.Principal, now time.Time, folders ...string) ([]store.Scratch, error) {
	var all []store.Scratch
	err := a.Store.View(ctx, func(r store.Reader) error {
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

// Put creates or replaces a side file. Errors: errs.Method if it is a
// folder, errs.TooLarge, errs.Full.
func (a *Area) Put(ctx context.Context, req change.Request, at store.ScratchPlace, up contents.Upload) (*change.Outcome, error) {
	return a.putFor(ctx, req, at, up, lasts)
}

// PutSecret does the same with what may hold a password: it lives for minutes, which is
// long enough for a program that saves by a temporary file and a rename.
func (a *Area) PutSecret(ctx context.Context, req change.Request, at store.ScratchPlace, up contents.Upload) (*change.Outcome, error) {
	return a.putFor(ctx, req, at, up, secretLasts)
}

func (a *Area) putFor(ctx context.Context, req change.Request, at store.ScratchPlace, up contents.Upload, lives time.Duration) (*change.Outcome, error) {
	if err := change.LegalDocumentName(at.Name); err != nil {
		return nil, err
	}
	var room int64
	err := a.Store.View(ctx, func(r store.Reader) error { // before the body is read
		if _, err := a.target(r, req, at); err != nil {
			return err
		}
		var err error
		room, err = a.room(r, req.By.ID, up.Size)
		return err
	})
	if err != nil {
		return nil, err
	}
	if up.MediaType == "" {
		up.MediaType = mediatype.Of(at.Name)
	}
	in, done := a.arriving.Reader(a.quota, req.By.ID, up.Body, room)
	defer done()
	c, err := a.contents.Read(up.MediaType, in, req.DryRun)
	if err != nil {
		return nil, err
	}
	var out *change.Outcome
	err = a.contents.StoringContent(ctx, c, func() error {
		return a.Update(ctx, func(tx store.Tx) (err error) {
			out, err = a.putSideFile(tx, req, at, c, lives)
			return err
		})
	})
	a.expiry.Stored(err)
	return out, err
}

// target returns what a PUT to the place replaces, nil for nothing.
func (a *Area) target(r store.Reader, req change.Request, at store.ScratchPlace) (*store.Scratch, error) {
	found, err := Live(r, req.By.ID, at, req.Now)
	if err != nil {
		return nil, err
	}
	if found != nil && found.Kind == store.ScratchFolder {
		return nil, errs.New(errs.Method, "%q is a folder; a file cannot replace it.", at.Name)
	}
	return found, a.CheckRequest(r.Locks(), req, Version(found), ScopeOf(req.By.ID, at))
}

// room returns how large a scratch file may be: what the area and the
// quota hold once everything else in the area is dropped.
func (a *Area) room(r store.Reader, author identity.ID, announced int64) (int64, error) {
	stored, err := r.Blobs().StoredBytes(author)
	if err != nil {
		return 0, err
	}
	scratch, err := r.Scratch().Bytes(author)
	if err != nil {
		return 0, err
	}
	// The rows' own weight counts as stored here: the room is a little less.
	room := max(0, min(most, a.quota.Of(author)-max(0, stored-scratch))-rowBytes)
	if announced > room {
		return 0, a.full(room)
	}
	return room, nil
}

func (a *Area) full(room int64) error {
	return &errs.Error{
		Kind:   errs.Full,
		Detail: fmt.Sprintf("There is room for %d bytes of temporary files; store large files in Documents/.", room),
		Err:    quota.ErrUsedUp,
	}
}

func (a *Area) putSideFile(tx store.Tx, req change.Request, at store.ScratchPlace, c *contents.Content, lives time.Duration) (*change.Outcome, error) {
	found, err := a.target(tx, req, at)
	if err != nil {
		return nil, err
	}
	s := &store.Scratch{
		Author: req.By.ID, Place: at.Normal(), Kind: store.SideFile, MediaType: c.MediaType, Size: c.Size(), SHA256: c.Sum(),
		InFile: c.InFile(), Content: c.Inline,
		Created: req.Now, Modified: req.Now, Expires: req.Now.Add(lives),
	}
	if found != nil {
		s.Created = found.Created
	}
	if err := a.keep(tx, s); err != nil {
		return nil, err
	}
	out := &change.Outcome{Created: found == nil, Changed: true, Name: s.Place.Path(), ETag: s.ETag(), Modified: s.Modified}
	if req.DryRun {
		out.Form = document.Form(map[string]any{"name": s.Place.Name, "type": s.MediaType, "size": s.Size})
	}
	return out, a.Finish(tx, req, out)
}

// keep stores a row. If the area or the quota would be too full, it
// deletes the author's oldest other rows.
func (a *Area) keep(tx store.Tx, s *store.Scratch) error {
	if _, err := tx.Write().Scratch().DeleteExpired(s.Modified, droppedAtOnce); err != nil {
		return err
	}
	if err := tx.Write().Scratch().Put(s); err != nil {
		return err
	}
	a.contents.RouseAfter(tx)
	for range mostDropped {
		scratch, err := tx.Scratch().Bytes(s.Author)
		if err != nil {
			return err
		}
		stored, err := tx.Blobs().StoredBytes(s.Author)
		if err != nil {
			return err
		}
		if scratch <= most && stored <= a.quota.Of(s.Author) {
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
	return a.full(0)
}

// MakeFolder makes a folder for side files. Errors: errs.Method if the
// name is taken, errs.Full.
func (a *Area) MakeFolder(ctx context.Context, req change.Request, at store.ScratchPlace) (*change.Outcome, error) {
	if err := change.LegalDocumentName(at.Name); err != nil {
		return nil, err
	}
	var out *change.Outcome
	err := a.Update(ctx, func(tx store.Tx) error {
		found, err := Live(tx, req.By.ID, at, req.Now)
		if err != nil {
			return err
		}
		if found != nil {
			return errs.New(errs.Method, "%q exists already.", at.Name)
		}
		if err := change.CheckVersion(req.If, change.Version{}); err != nil {
			return err
		}
		s := empty(req, at, store.ScratchFolder, req.Now.Add(lasts))
		out = &change.Outcome{Created: true, Changed: true, Name: s.Place.Path(), Modified: s.Modified}
		return a.keep(tx, s)
	})
	a.expiry.Stored(err)
	return out, err
}

func empty(req change.Request, at store.ScratchPlace, kind store.ScratchKind, expires time.Time) *store.Scratch {
	s := &store.Scratch{
		Author: req.By.ID, Place: at.Normal(), Kind: kind, SHA256: store.DigestOf(nil), Content: []byte{},
		Created: req.Now, Modified: req.Now, Expires: expires,
	}
	if kind == store.Draft {
		s.MediaType = mediatype.Of(at.Name)
	}
	return s
}

// Delete deletes what the caller has at the place, a folder with all
// that is below it. Errors: errs.NotFound if there is nothing.
func (a *Area) Delete(ctx context.Context, req change.Request, at store.ScratchPlace) error {
	return a.Update(ctx, func(tx store.Tx) error {
		found, err := Live(tx, req.By.ID, at, req.Now)
		if err != nil {
			return err
		}
		if found == nil {
			return change.Absent("file")
		}
		if err := a.CheckRequest(tx.Locks(), req, Version(found), ScopeOf(req.By.ID, at)); err != nil {
			return err
		}
		return a.remove(tx, found)
	})
}

// Move moves a side file or folder within the scratch area. With
// overwrite it replaces what is there; created reports that nothing was.
// Errors: errs.NotFound, errs.NotMovable into itself,
// errs.Precondition if something is there and overwrite is not set.
func (a *Area) Move(ctx context.Context, req change.Request, from, to store.ScratchPlace, overwrite bool) (*change.Outcome, error) {
	if err := change.LegalDocumentName(to.Name); err != nil {
		return nil, err
	}
	var out *change.Outcome
	err := a.Update(ctx, func(tx store.Tx) error {
		found, err := Live(tx, req.By.ID, from, req.Now)
		if err != nil {
			return err
		}
		if found == nil {
			return change.Absent("file")
		}
		if err := a.CheckRequest(tx.Locks(), req, Version(found), ScopeOf(req.By.ID, from)); err != nil {
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
			if err := a.CheckLocks(tx.Locks(), req, ScopeOf(req.By.ID, to)); err != nil {
				return err
			}
			if err := a.remove(tx, there); err != nil {
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
