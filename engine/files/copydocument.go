package files

import (
	"cmp"
	"context"
	"slices"

	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// Transfer is what a COPY or MOVE of documents asks for in addition to source
// and destination (RFC 4918, sections 9.8 and 9.9).
type Transfer struct {
	Overwrite bool // what is at the destination is replaced
	Shallow   bool // a folder is copied without what is in it
	Move      bool // of a version: it is moved, not copied
}

// mostCopied bounds a COPY of a folder: it is one unit, for which all others
// wait.
const mostCopied = 10_000

// transferring is a COPY or MOVE within Documents/.
type transferring struct {
	*Files
	tx       store.Tx
	req      change.Request
	from, to *Place
	move     bool
	past     *VersionPath // of a source that is a version, else nil
	spot     *VersionSpot // what that leads to
	Transfer
}

// CopyDocument copies the document or folder at one path to another. Errors:
// errs.NotFound for the source, errs.MissingParent for the destination,
// errs.NotAllowed, errs.Precondition if the destination exists and may not be
// replaced, errs.TooLarge for too many files, errs.Full.
func (e *Files) CopyDocument(ctx context.Context, req change.Request, from, to change.DocumentPath, t Transfer) (*change.Outcome, error) {
	return e.transferDocument(ctx, &transferring{req: req, Transfer: t}, from, to)
}

// MoveDocument moves the document or folder at one path to another, with its
// history and everything below it, in one unit. Its locks end. Errors:
// errs.NotFound for the source, errs.MissingParent for the destination,
// errs.NotAllowed, errs.Precondition if the destination exists and may not be
// replaced, errs.Locked.
func (e *Files) MoveDocument(ctx context.Context, req change.Request, from, to change.DocumentPath, t Transfer) (*change.Outcome, error) {
	return e.transferDocument(ctx, &transferring{req: req, move: true, Transfer: t}, from, to)
}

func (e *Files) transferDocument(ctx context.Context, x *transferring, from, to change.DocumentPath) (*change.Outcome, error) {
	var out *change.Outcome
	err := e.Store.Update(ctx, func(tx store.Tx) (err error) {
		x.Files, x.tx = e, tx
		out, err = x.run(from, to)
		return err
	})
	if err == nil {
		e.auditDocument(ctx, x.req.By, from)
	}
	return out, err
}

func (x *transferring) run(from, to change.DocumentPath) (out *change.Outcome, err error) {
	if err := x.source(from); err != nil {
		return nil, err
	}
	if x.to, err = x.PlaceAt(x.tx, x.req.By, to); errs.Is(err, errs.NotFound) {
		return nil, noFolder(to)
	}
	if err == nil {
		err = x.judge()
	}
	if err != nil {
		return nil, err
	}
	existed := x.to.Found != nil
	d, err := x.do()
	if err == nil {
		err = x.finish()
	}
	if err != nil {
		return nil, err
	}
	return &change.Outcome{Created: !existed, Changed: true, Name: x.to.Path.String(), ETag: d.ETag(), Modified: d.Modified}, nil
}

// source finds what is copied or moved.
func (x *transferring) source(from change.DocumentPath) (err error) {
	if x.past != nil {
		return x.sourceVersion()
	}
	if x.from, err = x.PlaceAt(x.tx, x.req.By, from); err == nil && x.from.Found == nil {
		err = change.Absent("document")
	}
	return err
}

// finish counts the change of the folders, and keeps versions and quota within their
// bounds: after the change, so that a version that is taken back is there until then.
func (x *transferring) finish() error {
	err := x.tx.Write().Documents().TouchFolder(x.to.folder.ID, x.req.Now)
	if err == nil && x.move && x.from.folder != nil && x.from.folder.ID != x.to.folder.ID {
		err = x.tx.Write().Documents().TouchFolder(x.from.folder.ID, x.req.Now)
	}
	if err == nil && x.to.Found != nil {
		err = x.bound(x.tx, x.req, x.to)
	}
	if err == nil && !x.move {
		err = x.makeRoom(x.tx, x.req.By.ID)
	}
	return err
}

func noFolder(path change.DocumentPath) error {
	return errs.New(errs.MissingParent, "There is no folder for %q, or you may not see it.", path.String())
}

// judge makes the checks in the order of docs/contract/drive.md#order-of-checks.
func (x *transferring) judge() error {
	if err := x.Writable(x.req.By, x.to.Root); err != nil {
		return err
	}
	if x.move {
		if err := x.Writable(x.req.By, x.from.Root); err != nil {
			return err
		}
		if x.from.folder == nil && x.past == nil {
			return errs.New(errs.NotMovable, "The folder of a user or team cannot be moved; move what is in it.")
		}
	}
	if len(x.to.Path) == 1 {
		return errs.New(errs.NotAllowed, "The folder of a user or team cannot be replaced; copy into it.")
	}
	if err := x.apart(); err != nil {
		return err
	}
	if err := x.CheckCondition(x.tx.Locks(), x.req, DocumentVersion(x.from.Found), x.from.LockScope(false)); err != nil {
		return err
	}
	if x.to.Found != nil && !x.Overwrite {
		return errs.New(errs.Precondition, "There is something at %q already, and Overwrite is F.", x.to.Path.String())
	}
	if x.move {
		if err := x.CheckLocks(x.tx.Locks(), x.req, x.from.LockScope(true)); err != nil {
			return err
		}
	}
	if err := x.CheckLocks(x.tx.Locks(), x.req, x.to.LockScope(!x.replaces())); err != nil {
		return err
	}
	return x.to.Placeable()
}

// apart refuses a destination that is the source, or lies in it, or holds it
// (RFC 4918, sections 9.8.5 and 9.9.4): a copy would not end, what is moved
// would lie in itself, and what is replaced would take the source with it.
func (x *transferring) apart() error {
	short := min(len(x.from.Path), len(x.to.Path))
	if !slices.Equal(x.from.Path[:short], x.to.Path[:short]) {
		return nil
	}
	switch cmp.Compare(len(x.from.Path), len(x.to.Path)) {
	case 0:
		return errs.New(errs.NotAllowed, "%q is both the source and the destination.", x.to.Path.String())
	case 1:
		return errs.New(errs.NotAllowed, "%q contains what would replace it.", x.to.Path.String())
	}
	if x.Shallow && !x.move {
		return nil // a folder without its members has an end
	}
	return errs.New(errs.NotAllowed, "%q is in %q; a folder cannot be put into itself.", x.to.Path.String(), x.from.Path.String())
}

// replaces reports whether a COPY gives a file another content: what is there
// stays itself, with its locks.
func (x *transferring) replaces() bool {
	return !x.move && x.to.Found != nil && !x.to.Found.Folder && !x.from.Found.Folder
}

func (x *transferring) name() string { return x.to.Path[len(x.to.Path)-1] }

// do makes the change, and returns what is at the destination then.
func (x *transferring) do() (*store.Document, error) {
	if x.replaces() {
		return x.replace()
	}
	tree, err := x.tree()
	if err != nil {
		return nil, err
	}
	if x.move {
		if err := x.keepMoved(); err != nil {
			return nil, err
		}
	}
	if x.to.Found != nil {
		if err := x.removeDocument(x.tx, x.req, x.to); err != nil {
			return nil, err
		}
	}
	d := *x.from.Found
	d.Name, d.ParentID, d.ContextID = x.name(), x.to.folder.ID, 0
	if x.move {
		return &d, x.moveTo(&d)
	}
	d.Created, d.Modified, d.Revision = x.req.Now, x.req.Now, 1
	if d.ID, err = x.copyOne(x.from.Found, d.ParentID, d.Name); err != nil {
		return nil, err
	}
	if err := x.publishDocument(x.tx, x.to, &d, Created, x.req.Now); err != nil {
		return nil, err
	}
	return &d, x.copyTree(tree, d.ID)
}

// tree returns what is copied with a folder.
func (x *transferring) tree() (tree []store.Document, err error) {
	switch {
	case !x.from.Found.Folder || x.move || x.Shallow:
		return nil, nil
	case x.past != nil:
		tree, err = x.treeOfVersion()
	default:
		_, tree, err = x.tx.Documents().Under(x.from.Root.ID, x.from.Path[1:], store.Under{Deep: true, Limit: mostCopied})
	}
	if err == nil && len(tree) >= mostCopied {
		err = errs.New(errs.TooLarge, "The folder holds %d files and folders or more, which are too many to copy at once; copy it folder by folder.", mostCopied)
	}
	return tree, err
}

// moveTo puts what is moved into its new folder.
func (x *transferring) moveTo(d *store.Document) error {
	if x.past == nil {
		if err := x.releaseTree(x.tx, x.req, x.from); err != nil {
			return err
		}
		if err := x.publishDocument(x.tx, x.from, d, Deleted, x.req.Now); err != nil {
			return err
		}
	}
	if err := x.publishDocument(x.tx, x.to, d, Created, x.req.Now); err != nil {
		return err
	}
	if x.past != nil {
		return x.takeBack(d)
	}
	return x.tx.Write().Documents().Move(d.ID, d.ParentID, d.Name)
}

// copyOne stores a copy of a file, or of a folder without its members. That of a
// version keeps its time.
func (x *transferring) copyOne(d *store.Document, folder int64, name string) (int64, error) {
	id, err := x.tx.Write().Documents().Copy(d.ID, folder, name, x.req.By.ID, x.req.Now)
	if err == nil && x.past != nil {
		err = x.tx.Write().Documents().SetModified(id, d.Modified)
	}
	return id, err
}

// copyTree copies what was below the source into its copy, folder by folder.
func (x *transferring) copyTree(tree []store.Document, to int64) error {
	in := map[int64][]*store.Document{}
	for i := range tree {
		in[tree[i].ParentID] = append(in[tree[i].ParentID], &tree[i])
	}
	type step struct{ from, to int64 }
	for queue := []step{{x.from.Found.ID, to}}; len(queue) > 0; queue = queue[1:] {
		for _, d := range in[queue[0].from] {
			id, err := x.copyOne(d, queue[0].to, d.Name)
			if err != nil {
				return err
			}
			if d.Folder {
				queue = append(queue, step{d.ID, id})
			}
		}
	}
	return nil
}

// replace gives the file at the destination the content of the source, and its
// properties.
func (x *transferring) replace() (*store.Document, error) {
	d, err := x.MakeDocument(x.tx, x.req, x.to, documentContent(x.from.Found))
	if err == nil && d.Properties != x.from.Found.Properties {
		err = x.tx.Write().Documents().SetProperties(d.ID, x.from.Found.Properties)
	}
	if err == nil && x.past != nil {
		d.Modified = x.from.Found.Modified
		err = x.tx.Write().Documents().SetModified(d.ID, d.Modified)
	}
	return d, err
}

// MayTake answers whether the caller may move the document at the path away,
// under the conditions of the request.
func (e *Files) MayTake(ctx context.Context, req change.Request, path change.DocumentPath) (*change.Taken, error) {
	var taken *change.Taken
	err := e.Store.View(ctx, func(r store.Reader) error {
		at, err := e.PlaceAt(r, req.By, path)
		if err != nil {
			return err
		}
		if at.Found == nil || at.Found.Folder {
			return change.Absent("document")
		}
		if err := e.Writable(req.By, at.Root); err != nil {
			return err
		}
		taken = &change.Taken{Document: path, ID: at.Found.ID, Revision: at.Found.Revision}
		return e.CheckRequest(r.Locks(), req, DocumentVersion(at.Found), at.LockScope(true))
	})
	return taken, err
}

// DeleteTaken deletes the document that a request takes its content from: what a MOVE
// leaves behind.
func (e *Files) DeleteTaken(tx store.Tx, req change.Request) error {
	at, err := e.PlaceAt(tx, req.By, req.Takes.Document)
	if err != nil {
		return err
	}
	if at.Found == nil || at.Found.ID != req.Takes.ID || at.Found.Revision != req.Takes.Revision {
		return errs.New(errs.InUse, "%q was changed while it was moved; move it again.", at.Path.String())
	}
	if err := e.Writable(req.By, at.Root); err != nil {
		return err
	}
	if err := e.CheckLocks(tx.Locks(), req, at.LockScope(true)); err != nil {
		return err
	}
	return e.deleteDocument(tx, req, at)
}
