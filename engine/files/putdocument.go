package files

import (
	"context"

	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// PutDocument creates or replaces the document at the path. A body that breaks
// off or is too large changes nothing. Errors: errs.NotFound for the root,
// errs.MissingParent, errs.NameNotAllowed, errs.NotAllowed, errs.Method if it
// is a folder, errs.TooLarge, errs.Full.
func (e *Files) PutDocument(ctx context.Context, req change.Request, path change.DocumentPath, up contents.Upload) (*change.Outcome, error) {
	var room int64
	err := e.Store.View(ctx, func(r store.Reader) error { // before the body is read
		at, err := e.putTarget(r, req, path)
		if err != nil {
			return err
		}
		freed := int64(0)
		if at.Found != nil && at.Found.AuthorID == req.By.ID {
			freed = at.Found.Size
		}
		room, err = e.Room(r, req.By.ID, freed, up.Size)
		return err
	})
	if err != nil {
		return nil, err
	}
	if up.MediaType == "" {
		up.MediaType = mediatype.Of(path[len(path)-1])
	}
	in, done := e.arriving.Reader(e.quota, req.By.ID, up.Body, room)
	defer done()
	content, err := e.contents.Read(up.MediaType, in, req.DryRun)
	if err != nil {
		return nil, err
	}
	var out *change.Outcome
	err = e.contents.StoringContent(ctx, content, func() error {
		return e.Update(ctx, func(tx store.Tx) (err error) {
			out, err = e.putDocument(tx, req, path, content, up)
			return err
		})
	})
	return out, err
}

// Writable returns an error if by may not write below the root.
func (e *Files) Writable(by identity.Principal, root *identity.Party) error {
	if e.writesDocuments(by, root.ID) {
		return nil
	}
	if root.ID == e.accounts.Table().Directory().EveryoneID() {
		return errs.New(errs.NotAllowed, "Only administrators may write into the documents of everyone; all users may read them.")
	}
	return errs.New(errs.NotAllowed, "Only members of %s may write its documents; administrators may only read them.", root.Name)
}

// putTarget follows the path and checks that the caller may store a document
// there.
func (e *Files) putTarget(r store.Reader, req change.Request, path change.DocumentPath) (*Place, error) {
	at, err := e.PlaceAt(r, req.By, path)
	if err != nil {
		return nil, err
	}
	if at.Found != nil && at.Found.Folder {
		return nil, errs.New(errs.Method, "%q is a folder; a file cannot replace it.", at.Path.String())
	}
	if err := e.Writable(req.By, at.Root); err != nil {
		return nil, err
	}
	if err := e.CheckRequest(r.Locks(), req, DocumentVersion(at.Found), at.LockScope(at.Found == nil)); err != nil {
		return nil, err
	}
	return at, at.Placeable()
}

// Placeable answers why nothing can be created at the place: its name, or
// the folder that would hold it (RFC 4918, sections 9.3.1 and 9.7.1).
func (at *Place) Placeable() error {
	switch {
	case at.illegal != nil:
		return at.illegal
	case len(at.Path) == 2 && at.Path[1] == HistoryName:
		return noVersions(at.Path)
	case at.folder == nil:
		return errs.New(errs.MissingParent, "The folder for %q does not exist; make it first.", at.Path.String())
	}
	return nil
}

func (e *Files) putDocument(tx store.Tx, req change.Request, path change.DocumentPath, c *contents.Content, up contents.Upload) (*change.Outcome, error) {
	at, err := e.putTarget(tx, req, path) // while the body came, things may have moved
	if err != nil {
		return nil, err
	}
	d, err := e.MakeDocument(tx, req, at, c)
	if err == nil {
		err = keepTold(tx, d, up)
	}
	if err != nil {
		return nil, err
	}
	out := &change.Outcome{Created: at.Found == nil, Changed: true, Name: at.Path.String(), ETag: d.ETag(), Modified: d.Modified}
	if req.DryRun {
		out.Form = e.documentResource(d).Form
	}
	return out, e.Finish(tx, req, out)
}

// MakeDocument stores the content as the document at the place.
func (e *Files) MakeDocument(tx store.Tx, req change.Request, at *Place, c *contents.Content) (d *store.Document, err error) {
	d = &store.Document{ParentID: at.folder.ID, Name: at.Path[len(at.Path)-1], Created: req.Now}
	if at.Found != nil {
		if err := e.keepReplaced(tx, req, at, c.Sum()); err != nil {
			return nil, err
		}
		d = at.Found
		if d.InFile {
			e.contents.RouseAfter(tx)
		}
	}
	d.AuthorID, d.MediaType, d.Size, d.SHA256 = req.By.ID, c.MediaType, c.Size(), c.Sum()
	d.InFile, d.Content = c.InFile(), c.Inline
	d.Revision++
	d.Modified = req.Now
	became := Changed
	if at.Found == nil {
		became, err = Created, tx.Write().Documents().Insert(d)
	} else {
		err = tx.Write().Documents().Replace(d)
	}
	if err == nil {
		err = e.publishDocument(tx, at, d, became, req.Now)
	}
	if err == nil {
		err = tx.Write().Documents().TouchFolder(at.folder.ID, req.Now)
	}
	if err == nil && became == Changed {
		err = e.bound(tx, req, at)
	}
	if err == nil {
		err = e.makeRoom(tx, req.By.ID)
	}
	return d, err
}

// MakeFolder makes an empty folder at the path. Errors: errs.NotFound for the
// root, errs.MissingParent, errs.NameNotAllowed, errs.NotAllowed, errs.Method
// if the name is taken.
func (e *Files) MakeFolder(ctx context.Context, req change.Request, path change.DocumentPath) (*change.Outcome, error) {
	var out *change.Outcome
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		at, err := e.PlaceAt(tx, req.By, path)
		if err != nil {
			return err
		}
		if at.Found != nil {
			return errs.New(errs.Method, "%q exists already.", at.Path.String())
		}
		if err := e.Writable(req.By, at.Root); err != nil {
			return err
		}
		if err := e.CheckRequest(tx.Locks(), req, change.Version{}, at.LockScope(true)); err != nil {
			return err
		}
		if err := at.Placeable(); err != nil {
			return err
		}
		d := &store.Document{
			ParentID: at.folder.ID, Name: at.Path[len(at.Path)-1], Folder: true, AuthorID: req.By.ID, Revision: 1,
			Created: req.Now, Modified: req.Now,
		}
		if err := tx.Write().Documents().Insert(d); err != nil {
			return err
		}
		if err := e.makeRoom(tx, req.By.ID); err != nil {
			return err
		}
		if err := e.publishDocument(tx, at, d, Created, req.Now); err != nil {
			return err
		}
		out = &change.Outcome{Created: true, Changed: true, Name: at.Path.String(), ETag: d.ETag(), Modified: d.Modified}
		return tx.Write().Documents().TouchFolder(at.folder.ID, req.Now)
	})
	return out, err
}

// purgeAtOnce is how many documents are deleted in one unit: others wait for
// that long.
const purgeAtOnce = 1000

// DeleteDocument deletes the document at the path, or the folder with all that
// is below it, which become a version. What does not is gone at once for every
// reader; the rows of a large tree are deleted later. Errors: errs.NotFound, errs.NotAllowed,
// errs.NotDeletable, errs.Precondition, errs.Locked, errs.InUse for what a
// schedule entry needs.
func (e *Files) DeleteDocument(ctx context.Context, req change.Request, path change.DocumentPath) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		at, err := e.PlaceAt(tx, req.By, path)
		if err != nil {
			return err
		}
		if at.Found == nil {
			return change.Absent("document")
		}
		if err := e.Writable(req.By, at.Root); err != nil {
			return err
		}
		if at.folder == nil {
			return errs.New(errs.NotDeletable, "The folder of a user or team cannot be deleted; delete what is in it.")
		}
		if err := e.CheckRequest(tx.Locks(), req, DocumentVersion(at.Found), at.LockScope(true)); err != nil {
			return err
		}
		uses, err := e.uses(tx, req.By, path)
		if err != nil {
			return err
		}
		if !uses.None() {
			return uses.InUse(path.String(), "Name another document there, or delete the entry; then it can be deleted.")
		}
		return e.deleteDocument(tx, req, at)
	})
}

// deleteDocument deletes what is at the place, and counts that in its folder.
func (e *Files) deleteDocument(tx store.Tx, req change.Request, at *Place) error {
	err := e.removeDocument(tx, req, at)
	if err == nil {
		err = e.bound(tx, req, at)
	}
	if err == nil {
		err = tx.Write().Documents().TouchFolder(at.folder.ID, req.Now)
	}
	return err
}

// removeDocument takes what is at the place out of its folder, with its locks and
// all that is below it: it becomes a version, or is deleted.
func (e *Files) removeDocument(tx store.Tx, req change.Request, at *Place) error {
	if err := e.releaseTree(tx, req, at); err != nil {
		return err
	}
	e.contents.RouseAfter(tx)
	if err := e.publishDocument(tx, at, at.Found, Deleted, req.Now); err != nil {
		return err
	}
	if kept, err := e.keeps(tx, at); err != nil {
		return err
	} else if kept {
		v, err := e.newVersion(tx, req, at)
		if err == nil {
			err = tx.Write().Documents().Versions().Keep(v)
		}
		return err
	}
	if !at.Found.Folder {
		return tx.Write().Documents().Delete(at.Found.ID)
	}
	if err := tx.Write().Documents().DetachFolder(at.Found.ID); err != nil {
		return err
	}
	_, err := tx.Write().Documents().Purge(purgeAtOnce)
	return err
}

// Purge deletes what was taken out of its tree and not deleted yet.
func (e *Files) Purge(ctx context.Context) error {
	var more bool
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		more, err = r.Documents().Detached()
		return err
	})
	for more && err == nil {
		err = e.Store.Update(ctx, func(tx store.Tx) (err error) {
			more, err = tx.Write().Documents().Purge(purgeAtOnce)
			return err
		})
	}
	return err
}

// ReadsDocuments reports whether the documents of the context exist for by.
func ReadsDocuments(by identity.Principal, context identity.ID) bool {
	return by.Admin() || by.In(context)
}

// writesDocuments reports whether by may write the documents of the context:
// its members, and administrators those of everyone.
func (e *Files) writesDocuments(by identity.Principal, context identity.ID) bool {
	return e.accounts.Table().Directory().MayOwn(by, context)
}
