package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Document is a file or folder below Documents/
// (docs/contract/labels-attachments.md#5-documents). Content is held here while
// it is small; else a file named by SHA256 holds it.
type Document struct {
	ID        int64       // order of creation, set by the store
	ContextID identity.ID // of a root, else 0
	ParentID  int64       // the folder it lies in, 0 of a root
	Name      string      // of a root the context's, which the store does not know
	Folder    bool
	AuthorID  identity.ID // who wrote what it holds: whose quota it counts against
	Revision  int64       // counts changes; of a folder also those of its members
	MediaType string
	Size      int64
	SHA256    Digest
	InFile    bool   // the content is the blob SHA256
	Content   []byte // of a file, when not InFile; nil where it was left out
	Created   time.Time
	Modified  time.Time // of a folder also when a member was changed, came or went

	Properties Properties // "" also where they were left out
	Unread     bool       // there are Properties, more than were asked for
}

// DocumentReader reads the trees below Documents/.
type DocumentReader interface {
	// DocumentsAlong returns what lies along the path from the root of the
	// context down: the root, and as many of the names as exist.
	DocumentsAlong(context identity.ID, names []string) ([]Document, error)

	// DocumentsUnder returns the same without Content, and what the place at
	// the path's end holds, in no particular order. It is one question to the
	// database, whatever there is.
	DocumentsUnder(context identity.ID, names []string, o Under) (along, below []Document, err error)

	// The following leave out Content and Properties. DocumentRoots returns
	// the roots of the contexts, nil for all, in no particular order;
	// DocumentPage a part of what is in a folder, by id, after the given one.
	DocumentRoots(contexts []identity.ID) ([]Document, error)
	DocumentPage(folder, after int64, limit int) ([]Document, error)

	// DetachedDocuments reports whether anything waits for PurgeDocuments.
	DetachedDocuments() (bool, error)
}

// Under says what DocumentsUnder looks for.
type Under struct {
	Deep       bool // at any depth, else in the folder itself
	Limit      int  // at most so many, -1: all
	Properties int  // so many bytes of properties in all, 0: none
}

// DocumentWriter writes the trees below Documents/.
type DocumentWriter interface {
	// InsertDocument stores a new document or folder and sets its ID. A name
	// in use in its folder is errs.NameTaken.
	InsertDocument(d *Document) error
	ReplaceDocument(d *Document) error              // a file, by ID
	TouchFolder(id int64, modified time.Time) error // counts a change of its members
	SetProperties(id int64, p Properties) error
	DeleteDocument(id int64) error // a file, or a folder without members

	// MoveDocument puts a document or folder, with all that is below it, into
	// another folder or under another name. CopyDocument stores a copy of a
	// file, or of a folder without its members, and returns its id.
	MoveDocument(id, folder int64, name string) error
	CopyDocument(id, folder int64, name string, author identity.ID, now time.Time) (int64, error)

	// DetachFolder takes a folder with all that is below it out of its tree,
	// at a stroke, to be deleted by PurgeDocuments.
	DetachFolder(id int64) error

	// PurgeDocuments deletes about so many rows of what was detached, and
	// reports whether there are more.
	PurgeDocuments(limit int) (more bool, err error)
}

// ETag is the entity tag of a document, quoted: of a file its content, of a
// folder its counter of changes.
func (d *Document) ETag() string {
	if d.Folder {
		return fmt.Sprintf(`"%x-%x.%d"`, d.ID, d.Created.UnixMilli(), d.Revision)
	}
	tag := append(make([]byte, 0, 34), '"')
	return string(append(hex.AppendEncode(tag, d.SHA256[:16]), '"'))
}

func documentVersion(d *Document) Version {
	if d == nil {
		return Version{}
	}
	return Version{Exists: true, ETag: d.ETag(), Modified: d.Modified}
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
func (e *Engine) documentResource(d *Document) Resource {
	form := documentForm{
		ID: d.ID, Name: d.Name, Kind: "folder", ETag: d.ETag(),
		Created: d.Created.UTC().Format(time.RFC3339), Modified: d.Modified.UTC().Format(time.RFC3339),
	}
	if p := e.directory().ByID(d.AuthorID); p != nil {
		name := string(p.Name)
		form.Author = &name
	}
	if !d.Folder {
		sum := hex.EncodeToString(d.SHA256[:])
		form.Kind, form.Type, form.Size, form.SHA256 = "file", &d.MediaType, &d.Size, &sum
	}
	return Resource{
		Name: d.Name, Seq: d.ID, Form: document.Line(form), FormETag: form.ETag, SourceETag: form.ETag, SourceSize: d.Size,
		MediaType: d.MediaType, Created: d.Created, Modified: d.Modified,
	}
}

// documentPlace is where a path leads.
type documentPlace struct {
	root   *identity.Party
	path   DocumentPath // as it is spelled in the store
	folder *Document    // that holds it or would; nil where there is none, or at a root
	found  *Document    // nil where nothing is there
	above  []int64      // the folders down to folder, the root first

	illegal error // why nothing can have the path's names, nil where it can
}

// documentAt returns where the path leads, for who may read there; a root
// that is not for by to see is errs.NotFound.
func (e *Engine) documentAt(r Reader, by identity.Principal, path DocumentPath) (*documentPlace, error) {
	at, err := e.placeOf(by, path)
	if err != nil || at.illegal != nil { // else nothing is there
		return at, err
	}
	return at, at.find(r)
}

// placeOf returns the place that the path names, before anybody has looked
// what is there.
func (e *Engine) placeOf(by identity.Principal, path DocumentPath) (*documentPlace, error) {
	if len(path) == 0 {
		return nil, absent("document")
	}
	root := e.directory().ByName(identity.Name(path[0]))
	if root == nil || !readsDocuments(by, root.ID) {
		return nil, absent("document")
	}
	at := &documentPlace{root: root, path: path.normal()}
	at.path[0] = string(root.Name)
	for _, name := range at.path[1:] {
		if err := legalDocumentName(name); at.illegal == nil {
			at.illegal = err
		}
	}
	return at, nil
}

func (at *documentPlace) find(r Reader) error {
	along, err := r.DocumentsAlong(at.root.ID, at.path[1:])
	at.lead(along)
	return err
}

// lead notes where what lies along the path leads.
func (at *documentPlace) lead(along []Document) {
	for i := range along {
		d := &along[i]
		if i == 0 {
			d.Name = at.path[0]
		}
		switch len(at.path) - i {
		case 1:
			at.found = d
			continue
		case 2:
			if d.Folder {
				at.folder = d
			}
		}
		at.above = append(at.above, d.ID)
	}
}

// scene is the place as a change finds it: whether its locks allow it. joins
// says that something comes there, or goes.
func (at *documentPlace) scene(joins bool) scene {
	s := scene{joins: joins && at.folder != nil}
	if at.found != nil {
		s.self = documentKey(at.root.ID, at.found.ID)
	}
	for _, id := range slices.Backward(at.above) {
		s.folders = append(s.folders, documentKey(at.root.ID, id))
	}
	return s
}

// readDocument returns the document that is at the path.
func (e *Engine) readDocument(r Reader, by identity.Principal, path DocumentPath) (*Document, error) {
	at, err := e.documentAt(r, by, path)
	if err != nil {
		return nil, err
	}
	if at.found == nil {
		return nil, absent("document")
	}
	return at.found, nil
}

// readFolder returns the folder that is at the path.
func (e *Engine) readFolder(r Reader, by identity.Principal, path DocumentPath) (*Document, error) {
	d, err := e.readDocument(r, by, path)
	if err == nil && !d.Folder {
		return nil, absent("folder")
	}
	return d, err
}

// Document returns the document or folder at the path.
func (e *Engine) Document(ctx context.Context, by identity.Principal, path DocumentPath) (*Document, error) {
	key, at, parties := cacheKeyOf(by, path), e.store.Changes(), e.parties.Load()
	if d := e.documents.get(key, at, parties); d != nil {
		return d, nil
	}
	var d *Document
	err := e.store.View(ctx, func(r Reader) (err error) {
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
	Document
	Body io.ReadSeekCloser
}

// OpenDocument opens the document at the path.
func (e *Engine) OpenDocument(ctx context.Context, by identity.Principal, path DocumentPath) (*OpenDocument, error) {
	var out *OpenDocument
	err := e.contents.Reading(func() error {
		d, err := e.Document(ctx, by, path)
		if err != nil {
			return err
		}
		if d.Folder {
			return absent("document")
		}
		out = &OpenDocument{Document: *d, Body: inMemory{bytes.NewReader(d.Content)}}
		if d.InFile {
			out.Body, err = e.contents.Open(d.SHA256)
		}
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
func (e *Engine) OpenFound(ctx context.Context, by identity.Principal, path DocumentPath, found *Document) (*OpenDocument, error) {
	if found.Folder || found.InFile || int64(len(found.Content)) != found.Size {
		return e.OpenDocument(ctx, by, path)
	}
	e.auditDocument(ctx, by, path)
	return &OpenDocument{Document: *found, Body: inMemory{bytes.NewReader(found.Content)}}, nil
}

// auditDocument notes that an administrator has read what is in another's
// document or folder.
func (e *Engine) auditDocument(ctx context.Context, by identity.Principal, path DocumentPath) {
	if root := e.directory().ByName(identity.Name(path[0])); root != nil {
		e.auditLook(ctx, by, root.ID, audit.DocumentRead, "Documents/"+strings.Join(path, "/"))
	}
}

// DocumentRoots returns the roots of the caller's contexts by name, and
// unless own of all contexts that the caller may read.
func (e *Engine) DocumentRoots(ctx context.Context, by identity.Principal, own bool) ([]Document, error) {
	contexts := by.Contexts()
	if by.Admin() && !own {
		contexts = nil
	}
	var out []Document
	err := e.store.View(ctx, func(r Reader) error {
		roots, err := r.DocumentRoots(contexts)
		for i := range roots {
			if p := e.directory().ByID(roots[i].ContextID); p != nil {
				roots[i].Name = string(p.Name)
				out = append(out, roots[i])
			}
		}
		return err
	})
	slices.SortFunc(out, func(a, b Document) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// Listing is a document or folder with what it holds.
type Listing struct {
	Top   *Document
	Below []Document // in no particular order: ParentID says what lies where
}

// DocumentListing returns what is at the path and what that holds, with one
// question to the store. More than its limit is errs.FiniteDepth.
func (e *Engine) DocumentListing(ctx context.Context, by identity.Principal, path DocumentPath, o Under) (*Listing, error) {
	limit := o.Limit
	if o.Limit >= 0 {
		o.Limit++
	}
	at, err := e.placeOf(by, path)
	if err != nil {
		return nil, err
	}
	if at.illegal != nil {
		return nil, absent("document")
	}
	var out Listing
	err = e.store.View(ctx, func(r Reader) error {
		along, below, err := r.DocumentsUnder(at.root.ID, at.path[1:], o)
		at.lead(along)
		out.Top, out.Below = at.found, below
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case out.Top == nil:
		return nil, absent("document")
	case limit >= 0 && len(out.Below) > limit:
		return nil, errs.New(errs.FiniteDepth, "There are more than %d files and folders below this one; ask folder by folder.", limit)
	case out.Top.Folder:
		e.auditDocument(ctx, by, path)
	}
	return &out, nil
}

// Documents returns a page of the members of the folder at the path, or of
// the roots that by may read where the path is empty: in order of creation,
// with their forms.
func (e *Engine) Documents(ctx context.Context, by identity.Principal, path DocumentPath, f Filter) ([]Resource, error) {
	next := e.rootsAfter(ctx, by)
	if len(path) > 0 {
		next = e.membersAfter(ctx, by, path)
	}
	var out []Resource
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

type documentPager func(after int64, limit int) ([]Document, error)

func (e *Engine) membersAfter(ctx context.Context, by identity.Principal, path DocumentPath) documentPager {
	return func(after int64, limit int) (page []Document, err error) {
		err = e.store.View(ctx, func(r Reader) error {
			d, err := e.readFolder(r, by, path)
			if err != nil {
				return err
			}
			page, err = r.DocumentPage(d.ID, after, limit)
			return err
		})
		if err == nil && after == 0 {
			e.auditDocument(ctx, by, path)
		}
		return page, err
	}
}

func (e *Engine) rootsAfter(ctx context.Context, by identity.Principal) documentPager {
	return func(after int64, limit int) ([]Document, error) {
		roots, err := e.DocumentRoots(ctx, by, false)
		roots = slices.DeleteFunc(roots, func(d Document) bool { return d.ID <= after })
		slices.SortFunc(roots, func(a, b Document) int { return int(a.ID - b.ID) })
		return roots[:min(limit, len(roots))], err
	}
}
