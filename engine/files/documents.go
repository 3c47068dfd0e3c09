package files

import (
	"context"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// DocumentVersion is what conditions on a document are about; nil is none.
func DocumentVersion(d *store.Document) change.Version {
	if d == nil {
		return change.Version{}
	}
	return change.Version{Exists: true, ETag: d.ETag(), Modified: d.Modified}
}

// documentForm is a document or folder in .contents.
type documentForm struct {
	ID       int64   `json:"id"`
	Name     string  `json:"name"`
	Kind     string  `json:"kind"`
	Type     *string `json:"type"`
	Size     *int64  `json:"size"`
	SHA256   *string `json:"sha256"`
	ETag     string  `json:"etag"`
	Author   *string `json:"author"`
	Created  string  `json:"created"`
	Modified string  `json:"modified"`
}

// documentResource returns the document as .contents and .ls have it; its Form is
// rendered for the purpose.
func (e *Files) documentResource(d *store.Document) change.Resource {
	out, form := e.describeDocument(d)
	out.Form = document.Form(form)
	return out
}

func (e *Files) describeDocument(d *store.Document) (change.Resource, documentForm) {
	form := documentForm{
		ID: d.ID, Name: d.Name, Kind: "folder", ETag: d.ETag(),
		Created: d.Created.UTC().Format(time.RFC3339), Modified: d.Modified.UTC().Format(time.RFC3339),
	}
	if p := e.accounts.Table().Directory().ByID(d.AuthorID); p != nil {
		name := string(p.Name)
		form.Author = &name
	}
	if !d.Folder {
		sum := hex.EncodeToString(d.SHA256[:])
		form.Kind, form.Type, form.Size, form.SHA256 = "file", &d.MediaType, &d.Size, &sum
	}
	return change.Resource{
		Name: d.Name, Seq: d.ID, FormETag: form.ETag, SourceETag: form.ETag, SourceSize: d.Size,
		MediaType: d.MediaType, Created: d.Created, Modified: d.Modified,
	}, form
}

// Place is the result of following a path.
type Place struct {
	Root   *identity.Party
	Path   change.DocumentPath // as it is spelled in the store
	folder *store.Document     // the folder of the path's last name; nil if it does not exist, or at a root
	Found  *store.Document     // nil if nothing is there
	above  []int64             // the folders down to folder, the root first

	illegal error // why the names of the path are not allowed; nil if they are
}

// PlaceAt follows the path for a caller who may read there. Errors:
// errs.NotFound if by may not see the root.
func (e *Files) PlaceAt(r store.Reader, by identity.Principal, path change.DocumentPath) (*Place, error) {
	at, err := e.placeOf(by, path)
	if err != nil || at.illegal != nil { // else nothing is there
		return at, err
	}
	return at, at.find(r)
}

// placeOf returns the place of the path before the store is asked what is
// there.
func (e *Files) placeOf(by identity.Principal, path change.DocumentPath) (*Place, error) {
	if len(path) == 0 {
		return nil, change.Absent("document")
	}
	root := e.accounts.Table().Directory().ByName(identity.Name(path[0]))
	if root == nil || !ReadsDocuments(by, root.ID) {
		return nil, change.Absent("document")
	}
	at := &Place{Root: root, Path: path.Normal()}
	at.Path[0] = string(root.Name)
	for _, name := range at.Path[1:] {
		if err := change.LegalDocumentName(name); at.illegal == nil {
			at.illegal = err
		}
	}
	return at, nil
}

func (at *Place) find(r store.Reader) error {
	along, err := r.Documents().Along(at.Root.ID, at.Path[1:])
	at.follow(along)
	return err
}

// follow follows the path along the rows found for it, from the root down.
func (at *Place) follow(along []store.Document) {
	for i := range along {
		d := &along[i]
		if i == 0 {
			d.Name = at.Path[0]
		}
		switch len(at.Path) - i {
		case 1:
			at.Found = d
			continue
		case 2:
			if d.Folder {
				at.folder = d
			}
		}
		at.above = append(at.above, d.ID)
	}
}

// LockScope is the place as a change finds it: whether its locks allow it. joins
// says that something comes there, or goes.
func (at *Place) LockScope(joins bool) change.LockScope {
	s := change.LockScope{Joins: joins && at.folder != nil}
	if at.Found != nil {
		s.Self = store.DocumentKey(at.Root.ID, at.Found.ID)
	}
	for _, id := range slices.Backward(at.above) {
		s.Folders = append(s.Folders, store.DocumentKey(at.Root.ID, id))
	}
	return s
}

// readDocument returns the document that is at the path.
func (e *Files) readDocument(r store.Reader, by identity.Principal, path change.DocumentPath) (*store.Document, error) {
	at, err := e.PlaceAt(r, by, path)
	if err != nil {
		return nil, err
	}
	if at.Found == nil {
		return nil, change.Absent("document")
	}
	return at.Found, nil
}

// readFolder returns the folder that is at the path.
func (e *Files) readFolder(r store.Reader, by identity.Principal, path change.DocumentPath) (*store.Document, error) {
	d, err := e.readDocument(r, by, path)
	if err == nil && !d.Folder {
		return nil, change.Absent("folder")
	}
	return d, err
}

// Document returns the document or folder at the path. Errors: errs.NotFound if
// by may not see it; errs.FiniteDepth if there is too much below it.
func (e *Files) Document(ctx context.Context, by identity.Principal, path change.DocumentPath) (*store.Document, error) {
	key, at, parties := cacheKeyOf(by, path), e.Store.Changes(), e.accounts.Table()
	if d := e.documents.get(key, at, parties); d != nil {
		return d, nil
	}
	var d *store.Document
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		d, err = e.readDocument(r, by, path)
		return err
	})
	if err == nil {
		e.documents.put(key, d, at, parties)
	}
	return d, err
}

// OpenDocument is a document with its content, to be read and closed.
type OpenDocument struct {
	store.Document
	Body io.ReadSeekCloser
}

// OpenDocument opens the document at the path. Errors: errs.NotFound if by may
// not see it.
func (e *Files) OpenDocument(ctx context.Context, by identity.Principal, path change.DocumentPath) (*OpenDocument, error) {
	var out *OpenDocument
	err := e.contents.Reading(func() error {
		d, err := e.Document(ctx, by, path)
		if err != nil {
			return err
		}
		if d.Folder {
			return change.Absent("document")
		}
		body, err := e.contents.OpenRow(d.InFile, d.SHA256, d.Content)
		out = &OpenDocument{Document: *d, Body: body}
		return err
	})
	if err != nil {
		return nil, err
	}
	e.auditDocument(ctx, by, path)
	return out, nil
}

// OpenFound opens the document that Document has found at the path in the same
// request: a small content is there already, and needs no second look.
func (e *Files) OpenFound(ctx context.Context, by identity.Principal, path change.DocumentPath, found *store.Document) (*OpenDocument, error) {
	if found.Folder || found.InFile || int64(len(found.Content)) != found.Size {
		return e.OpenDocument(ctx, by, path)
	}
	e.auditDocument(ctx, by, path)
	return &OpenDocument{Document: *found, Body: contents.InMemory(found.Content)}, nil
}

// auditDocument notes that an administrator has read what is in another's
// document or folder.
func (e *Files) auditDocument(ctx context.Context, by identity.Principal, path change.DocumentPath) {
	if root := e.accounts.Table().Directory().ByName(identity.Name(path[0])); root != nil {
		e.audit.Looked(ctx, by, root.ID, audit.DocumentRead, "Documents/"+strings.Join(path, "/"))
	}
}

// DocumentRoots returns the roots of the caller's contexts by name, and
// unless own of all contexts that the caller may read.
func (e *Files) DocumentRoots(ctx context.Context, by identity.Principal, own bool) ([]store.Document, error) {
	contexts := by.Contexts()
	if by.Admin() && !own {
		contexts = nil
	}
	var out []store.Document
	err := e.Store.View(ctx, func(r store.Reader) error {
		roots, err := r.Documents().Roots(contexts)
		for i := range roots {
			if p := e.accounts.Table().Directory().ByID(roots[i].ContextID); p != nil {
				roots[i].Name = string(p.Name)
				out = append(out, roots[i])
			}
		}
		return err
	})
	slices.SortFunc(out, func(a, b store.Document) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// Listing is a document or folder with its members.
type Listing struct {
	Top   *store.Document
	Below []store.Document // in no order; ParentID is the folder of each
}

// DocumentListing returns what is at the path and what that holds, with one
// question to the store. More than its limit is errs.FiniteDepth.
func (e *Files) DocumentListing(ctx context.Context, by identity.Principal, path change.DocumentPath, o store.Under) (*Listing, error) {
	limit := o.Limit
	if o.Limit >= 0 {
		o.Limit++
	}
	at, err := e.placeOf(by, path)
	if err != nil {
		return nil, err
	}
	if at.illegal != nil {
		return nil, change.Absent("document")
	}
	var out Listing
	err = e.Store.View(ctx, func(r store.Reader) error {
		along, below, err := r.Documents().Under(at.Root.ID, at.Path[1:], o)
		at.follow(along)
		out.Top, out.Below = at.Found, below
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case out.Top == nil:
		return nil, change.Absent("document")
	case limit >= 0 && len(out.Below) > limit:
		return nil, errs.New(errs.FiniteDepth, "There are more than %d files and folders below this one; ask folder by folder.", limit)
	case out.Top.Folder:
		e.auditDocument(ctx, by, path)
	}
	return &out, nil
}

// Documents returns a page of the members of the folder at the path, or, if the
// path is empty, of the roots that by may read. They are in order of creation,
// with their forms. Errors: errs.NotFound if by may not see the folder.
func (e *Files) Documents(ctx context.Context, by identity.Principal, path change.DocumentPath, f change.Filter) ([]change.Resource, error) {
	next := e.rootsAfter(ctx, by)
	if len(path) > 0 {
		next = e.membersAfter(ctx, by, path)
	}
	var out []change.Resource
	size := f.Limit
	if size <= 0 {
		size = documentPage
	}
	for after := f.After; ; {
		page, err := next(after, size)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if strings.Contains(identity.Fold(page[i].Name), identity.Fold(f.Query)) {
				out = append(out, e.documentResource(&page[i]))
			}
			if f.Limit > 0 && len(out) == f.Limit {
				return out, nil
			}
		}
		if len(page) < size {
			return out, nil
		}
		after = page[len(page)-1].ID
	}
}

// documentPage is how many documents are read at a time.
const documentPage = 500

type documentPager func(after int64, limit int) ([]store.Document, error)

func (e *Files) membersAfter(ctx context.Context, by identity.Principal, path change.DocumentPath) documentPager {
	return func(after int64, limit int) (page []store.Document, err error) {
		err = e.Store.View(ctx, func(r store.Reader) error {
			d, err := e.readFolder(r, by, path)
			if err != nil {
				return err
			}
			page, err = r.Documents().Page(d.ID, after, limit)
			return err
		})
		if err == nil && after == 0 {
			e.auditDocument(ctx, by, path)
		}
		return page, err
	}
}

func (e *Files) rootsAfter(ctx context.Context, by identity.Principal) documentPager {
	return func(after int64, limit int) ([]store.Document, error) {
		roots, err := e.DocumentRoots(ctx, by, false)
		roots = slices.DeleteFunc(roots, func(d store.Document) bool { return d.ID <= after })
		slices.SortFunc(roots, func(a, b store.Document) int { return int(a.ID - b.ID) })
		return roots[:min(limit, len(roots))], err
	}
}
