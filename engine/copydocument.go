package engine

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
}

// mostCopied bounds a COPY of a folder: it is one unit, for which all others
// wait.
const mostCopied = 10_000

// transferring is a COPY or MOVE within Documents/.
type transferring struct {
	*Files
	tx       store.Tx
	req      Request
	from, to *documentPlace
	move     bool
	Transfer
}

// CopyDocument copies the document or folder at one path to another. Errors:
// errs.NotFound for the source, errs.MissingParent for the destination,
// errs.NotAllowed, errs.Precondition if the destination exists and may not be
// replaced, errs.TooLarge for too many files, errs.Full.
func (e *Files) CopyDocument(ctx context.Context, req Request, from, to DocumentPath, t Transfer) (*Outcome, error) {
	return e.transferDocument(ctx, &transferring{req: req, Transfer: t}, from, to)
}

// MoveDocument moves the document or folder at one path to another, with its
// history and everything below it, in one unit. Its locks end. Errors:
// errs.NotFound for the source, errs.MissingParent for the destination,
// errs.NotAllowed, errs.Precondition if the destination exists and may not be
// replaced, errs.Locked.
func (e *Files) MoveDocument(ctx context.Context, req Request, from, to DocumentPath, t Transfer) (*Outcome, error) {
	return e.transferDocument(ctx, &transferring{req: req, move: true, Transfer: t}, from, to)
}

func (e *Files) transferDocument(ctx context.Context, x *transferring, from, to DocumentPath) (*Outcome, error) {
	var out *Outcome
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

func (x *transferring) run(from, to DocumentPath) (out *Outcome, err error) {
	if x.from, err = x.documentAt(x.tx, x.req.By, from); err != nil {
		return nil, err
	}
	if x.from.found == nil {
		return nil, change.Absent("document")
	}
	if x.to, err = x.documentAt(x.tx, x.req.By, to); errs.Is(err, errs.NotFound) {
		return nil, noFolder(to)
	}
	if err == nil {
		err = x.judge()
	}
	if err != nil {
		return nil, err
	}
	existed := x.to.found != nil
	d, err := x.do()
	if err == nil {
		err = x.tx.Write().Documents().TouchFolder(x.to.folder.ID, x.req.Now)
	}
	if err == nil && x.move && x.from.folder.ID != x.to.folder.ID {
		err = x.tx.Write().Documents().TouchFolder(x.from.folder.ID, x.req.Now)
	}
	if err == nil && !x.move {
		err = x.quota.Check(x.tx.Blobs(), x.req.By.ID, 0)
	}
	if err != nil {
		return nil, err
	}
	return &Outcome{Created: !existed, Changed: true, Name: x.to.path.String(), ETag: d.ETag(), Modified: d.Modified}, nil
}

func noFolder(path DocumentPath) error {
	return errs.New(errs.MissingParent, "There is no folder for %q, or you may not see it.", path.String())
}

// judge makes the checks in the order of docs/contract/drive.md#order-of-checks.
func (x *transferring) judge() error {
	if err := x.writable(x.req.By, x.to.root); err != nil {
		return err
	}
	if x.move {
		if err := x.writable(x.req.By, x.from.root); err != nil {
			return err
		}
		if x.from.folder == nil {
			return errs.New(errs.NotMovable, "The folder of a user or team cannot be moved; move what is in it.")
		}
	}
	if len(x.to.path) == 1 {
		return errs.New(errs.NotAllowed, "The folder of a user or team cannot be replaced; copy into it.")
	}
	if err := x.apart(); err != nil {
		return err
	}
	if err := x.CheckCondition(x.tx.Locks(), x.req, documentVersion(x.from.found), x.from.scene(false)); err != nil {
		return err
	}
	if x.to.found != nil && !x.Overwrite {
		return errs.New(errs.Precondition, "There is something at %q already, and Overwrite is F.", x.to.path.String())
	}
	if x.move {
		if err := x.CheckLocks(x.tx.Locks(), x.req, x.from.scene(true)); err != nil {
			return err
		}
	}
	if err := x.CheckLocks(x.tx.Locks(), x.req, x.to.scene(!x.replaces())); err != nil {
		return err
	}
	return x.to.placeable()
}

// apart refuses a destination that is the source, or lies in it, or holds it
// (RFC 4918, sections 9.8.5 and 9.9.4): a copy would not end, what is moved
// would lie in itself, and what is replaced would take the source with it.
func (x *transferring) apart() error {
	short := min(len(x.from.path), len(x.to.path))
	if !slices.Equal(x.from.path[:short], x.to.path[:short]) {
		return nil
	}
	switch cmp.Compare(len(x.from.path), len(x.to.path)) {
	case 0:
		return errs.New(errs.NotAllowed, "%q is both the source and the destination.", x.to.path.String())
	case 1:
		return errs.New(errs.NotAllowed, "%q contains what would replace it.", x.to.path.String())
	}
	if x.Shallow && !x.move {
		return nil // a folder without its members has an end
	}
	return errs.New(errs.NotAllowed, "%q is in %q; a folder cannot be put into itself.", x.to.path.String(), x.from.path.String())
}

// replaces reports whether a COPY gives a file another content: what is there
// stays itself, with its locks.
func (x *transferring) replaces() bool {
	return !x.move && x.to.found != nil && !x.to.found.Folder && !x.from.found.Folder
}

func (x *transferring) name() string { return x.to.path[len(x.to.path)-1] }

// do makes the change, and returns what is at the destination then.
func (x *transferring) do() (*store.Document, error) {
	if x.replaces() {
		return x.replace()
	}
	var tree []store.Document
	if x.from.found.Folder && !x.move && !x.Shallow {
		var err error
		if _, tree, err = x.tx.Documents().Under(x.from.root.ID, x.from.path[1:], store.Under{Deep: true, Limit: mostCopied}); err != nil {
			return nil, err
		}
		if len(tree) >= mostCopied {
			return nil, errs.New(errs.TooLarge, "The folder holds %d files and folders or more, which are too many to copy at once; copy it folder by folder.", mostCopied)
		}
	}
	if x.to.found != nil {
		if err := x.removeDocument(x.tx, x.req, x.to); err != nil {
			return nil, err
		}
	}
	d := *x.from.found
	d.Name, d.ParentID, d.ContextID = x.name(), x.to.folder.ID, 0
	if x.move {
		if err := x.releaseTree(x.tx, x.req, x.from); err != nil {
			return nil, err
		}
		x.publishDocument(x.tx, x.from, &d, ChangeDeleted, x.req.Now)
		x.publishDocument(x.tx, x.to, &d, ChangeCreated, x.req.Now)
		return &d, x.tx.Write().Documents().Move(d.ID, d.ParentID, d.Name)
	}
	d.Created, d.Modified, d.Revision = x.req.Now, x.req.Now, 1
	var err error
	if d.ID, err = x.tx.Write().Documents().Copy(x.from.found.ID, d.ParentID, d.Name, x.req.By.ID, x.req.Now); err != nil {
		return nil, err
	}
	x.publishDocument(x.tx, x.to, &d, ChangeCreated, x.req.Now)
	return &d, x.copyTree(tree, d.ID)
}

// copyTree copies what was below the source into its copy, folder by folder.
func (x *transferring) copyTree(tree []store.Document, to int64) error {
	in := map[int64][]*store.Document{}
	for i := range tree {
		in[tree[i].ParentID] = append(in[tree[i].ParentID], &tree[i])
	}
	type step struct{ from, to int64 }
	for queue := []step{{x.from.found.ID, to}}; len(queue) > 0; queue = queue[1:] {
		for _, d := range in[queue[0].from] {
			id, err := x.tx.Write().Documents().Copy(d.ID, queue[0].to, d.Name, x.req.By.ID, x.req.Now)
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
	d, err := x.makeDocument(x.tx, x.req, x.to, documentContent(x.from.found))
	if err == nil && d.Properties != x.from.found.Properties {
		err = x.tx.Write().Documents().SetProperties(d.ID, x.from.found.Properties)
	}
	return d, err
}

// MayTake answers whether the caller may move the document at the path away,
// under the conditions of the request.
func (e *Files) MayTake(ctx context.Context, req Request, path DocumentPath) (*Taken, error) {
	var taken *Taken
	err := e.Store.View(ctx, func(r store.Reader) error {
		at, err := e.documentAt(r, req.By, path)
		if err != nil {
			return err
		}
		if at.found == nil || at.found.Folder {
			return change.Absent("document")
		}
		if err := e.writable(req.By, at.root); err != nil {
			return err
		}
		taken = &Taken{Document: path, ID: at.found.ID, Revision: at.found.Revision}
		return e.CheckRequest(r.Locks(), req, documentVersion(at.found), at.scene(true))
	})
	return taken, err
}

// deleteMoveSource deletes what a request takes its content from.
func (e *Files) deleteMoveSource(tx store.Tx, req Request) error {
	if req.Takes == nil {
		return nil
	}
	if req.Takes.Scratch != nil {
		return e.deleteSideFile(tx, req)
	}
	at, err := e.documentAt(tx, req.By, req.Takes.Document)
	if err != nil {
		return err
	}
	if at.found == nil || at.found.ID != req.Takes.ID || at.found.Revision != req.Takes.Revision {
		return errs.New(errs.InUse, "%q was changed while it was moved; move it again.", at.path.String())
	}
	if err := e.writable(req.By, at.root); err != nil {
		return err
	}
	if err := e.CheckLocks(tx.Locks(), req, at.scene(true)); err != nil {
		return err
	}
	if err := e.removeDocument(tx, req, at); err != nil {
		return err
	}
	return tx.Write().Documents().TouchFolder(at.folder.ID, req.Now)
}
