package davfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/mediatype"
	"flowdrive/store"
)

// fakeQuota is how much each user of the fake may store.
const fakeQuota = 1000

// documentPlace is where a path of the fake leads.
type documentPlace struct {
	root   *identity.Party
	path   engine.DocumentPath
	folder *store.Document
	found  *store.Document
}

// documentAt walks down from the root of a context, which comes to be when
// somebody looks at it.
func (f *fake) documentAt(by identity.Principal, p engine.DocumentPath) (*documentPlace, error) {
	f.calls["document"]++
	root := f.directory.ByName(identity.Name(p[0]))
	if root == nil || !by.Admin() && !by.In(root.ID) {
		return nil, notThere()
	}
	at := &documentPlace{root: root, path: engine.DocumentPath{string(root.Name)}, found: f.rootOf(root)}
	for _, name := range p[1:] {
		name = norm.NFC.String(name)
		at.path = append(at.path, name)
		at.folder, at.found = at.found, f.member(at.found, name)
	}
	return at, nil
}

func (f *fake) rootOf(p *identity.Party) *store.Document {
	for _, d := range f.documents {
		if d.ContextID == p.ID {
			return d
		}
	}
	d := &store.Document{ID: f.nextID(), ContextID: p.ID, Name: string(p.Name), Folder: true, Revision: 1, Created: f.now, Modified: f.now}
	f.documents = append(f.documents, d)
	return d
}

func (f *fake) copyDocuments() []*store.Document {
	out := make([]*store.Document, len(f.documents))
	for i, d := range f.documents {
		clone := *d
		out[i] = &clone
	}
	return out
}

func (f *fake) member(folder *store.Document, name string) *store.Document {
	for _, d := range f.membersOf(folder) {
		if d.Name == name {
			return d
		}
	}
	return nil
}

func (f *fake) membersOf(folder *store.Document) (out []*store.Document) {
	for _, d := range f.documents {
		if folder != nil && d.ParentID == folder.ID {
			out = append(out, d)
		}
	}
	return out
}

func (f *fake) documentOf(by identity.Principal, p engine.DocumentPath, folder bool) (*store.Document, error) {
	at, err := f.documentAt(by, p)
	if err != nil {
		return nil, err
	}
	if at.found == nil || folder && !at.found.Folder {
		return nil, notThere()
	}
	return at.found, nil
}

func (f *fake) Document(_ context.Context, by identity.Principal, p engine.DocumentPath) (*store.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.documentOf(by, p, false)
}

func (f *fake) OpenFound(_ context.Context, by identity.Principal, p engine.DocumentPath, _ *store.Document) (*engine.OpenDocument, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.documentOf(by, p, false)
	if err != nil {
		return nil, err
	}
	return &engine.OpenDocument{Document: *d, Body: inMemory{bytes.NewReader(d.Content)}}, nil
}

func (f *fake) DocumentRoots(_ context.Context, by identity.Principal, own bool) ([]store.Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []store.Document
	for _, p := range f.directory.Parties() {
		if by.In(p.ID) || by.Admin() && !own {
			out = append(out, *f.rootOf(p))
		}
	}
	slices.SortFunc(out, func(a, b store.Document) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (f *fake) DocumentListing(_ context.Context, by identity.Principal, p engine.DocumentPath, o store.Under) (*engine.Listing, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	top, err := f.documentOf(by, p, false)
	if err != nil {
		return nil, err
	}
	l := &engine.Listing{Top: top}
	for queue := []*store.Document{top}; len(queue) > 0; queue = queue[1:] {
		for _, m := range f.membersOf(queue[0]) {
			clone := *m
			if o.Properties -= len(m.Properties); o.Properties < 0 {
				clone.Properties, clone.Unread = "", m.Properties != ""
			}
			l.Below = append(l.Below, clone)
			if m.Folder && o.Deep {
				queue = append(queue, m)
			}
		}
	}
	slices.Reverse(l.Below) // no particular order
	if o.Limit >= 0 && len(l.Below) > o.Limit {
		return nil, errs.New(errs.FiniteDepth, "There is too much below.")
	}
	return l, nil
}

// PatchDocument keeps the properties that were set, the latest last.
func (f *fake) PatchDocument(_ context.Context, req engine.Request, p engine.DocumentPath, changes []store.Property) (failed int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.documentAt(req.By, p)
	if err != nil {
		return -1, err
	}
	if err := f.writable(req, at); err != nil {
		if errs.Is(err, errs.NotAllowed) {
			return 0, err
		}
		return -1, err
	}
	list, err := at.found.Properties.List()
	for _, c := range changes {
		list = slices.DeleteFunc(list, func(p store.Property) bool { return p.Space == c.Space && p.Name == c.Name })
		if c.XML != "" {
			list = append(list, c)
		}
	}
	at.found.Properties = store.Properties(mustMarshal(list))
	if len(at.found.Properties) > 2000 {
		return len(changes) - 1, errs.New(errs.Full, "That is too much.")
	}
	return -1, err
}

func (f *fake) Documents(ctx context.Context, by identity.Principal, p engine.DocumentPath, filter engine.Filter) ([]engine.Resource, error) {
	list, err := f.DocumentRoots(ctx, by, false)
	if len(p) > 0 {
		var l *engine.Listing
		if l, err = f.DocumentListing(ctx, by, p, engine.Members(false)); err == nil {
			list = l.Below
		}
	}
	slices.SortFunc(list, func(a, b store.Document) int { return int(a.ID - b.ID) })
	var out []engine.Resource
	for i := range list {
		d := &list[i]
		if d.ID <= filter.After || !strings.Contains(d.Name, filter.Query) || filter.Limit > 0 && len(out) == filter.Limit {
			continue
		}
		out = append(out, engine.Resource{
			Name: d.Name, Seq: d.ID, Form: mustMarshal(map[string]any{"id": d.ID, "name": d.Name}), SourceETag: d.ETag(),
			SourceSize: d.Size, MediaType: d.MediaType, Created: d.Created, Modified: d.Modified,
		})
	}
	return out, err
}

// writable says why by may not make or change what is at the place.
func (f *fake) writable(req engine.Request, at *documentPlace) error {
	if !f.directory.MayOwn(req.By, at.root.ID) {
		return errs.New(errs.NotAllowed, "You may only read here.")
	}
	version := engine.Version{}
	if at.found != nil {
		version = engine.Version{Exists: true, ETag: at.found.ETag(), Modified: at.found.Modified}
	}
	if req.If == nil {
		return nil
	}
	return req.If(version)
}

func (f *fake) placeable(at *documentPlace) error {
	if strings.ContainsFunc(at.path[len(at.path)-1], unwritable) || strings.Contains(at.path[len(at.path)-1], "/") {
		return errs.New(errs.NameNotAllowed, "Nothing can have this name.")
	}
	if at.folder == nil || !at.folder.Folder {
		return errs.New(errs.MissingParent, "There is no folder for it.")
	}
	return nil
}

func (f *fake) PutDocument(_ context.Context, req engine.Request, p engine.DocumentPath, up engine.Upload) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.documentAt(req.By, p)
	if err != nil {
		return nil, err
	}
	if at.found != nil && at.found.Folder {
		return nil, errs.New(errs.Method, "It is a folder.")
	}
	if err := f.writable(req, at); err != nil {
		return nil, err
	}
	if err := f.placeable(at); err != nil {
		return nil, err
	}
	defer f.rehearse(req)()
	if up.Size > fakeQuota {
		return nil, errs.New(errs.Full, "You have no room for it.")
	}
	content, err := io.ReadAll(up.Body)
	if err != nil {
		return nil, err
	}
	if err := f.free(req); err != nil {
		return nil, err
	}
	d := at.found
	if d == nil {
		d = &store.Document{ID: f.nextID(), ParentID: at.folder.ID, Name: at.path[len(at.path)-1], Created: f.now}
		f.documents = append(f.documents, d)
	}
	if d.MediaType = up.MediaType; d.MediaType == "" {
		d.MediaType = mediatype.Of(d.Name)
	}
	d.AuthorID, d.Size, d.SHA256, d.Content, d.Modified = req.By.ID, int64(len(content)), sha256.Sum256(content), content, f.now
	at.folder.Revision++
	o := &engine.Outcome{Created: at.found == nil, Changed: true, Name: at.path.String(), ETag: d.ETag()}
	if req.DryRun {
		o.Form = mustMarshal(map[string]any{"name": d.Name, "size": d.Size})
	}
	return f.keep(req, o), nil
}

func (f *fake) MakeFolder(_ context.Context, req engine.Request, p engine.DocumentPath) (*engine.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.documentAt(req.By, p)
	if err != nil {
		return nil, err
	}
	if err := f.writable(req, at); err != nil {
		return nil, err
	}
	if err := f.placeable(at); err != nil {
		return nil, err
	}
	d := &store.Document{
		ID: f.nextID(), ParentID: at.folder.ID, Name: at.path[len(at.path)-1], Folder: true, Revision: 1, Created: f.now, Modified: f.now,
	}
	f.documents = append(f.documents, d)
	at.folder.Revision++
	return &engine.Outcome{Created: true, Changed: true, Name: at.path.String(), ETag: d.ETag()}, nil
}

func (f *fake) DeleteDocument(_ context.Context, req engine.Request, p engine.DocumentPath) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.documentAt(req.By, p)
	if err != nil {
		return err
	}
	if err := f.writable(req, at); err != nil {
		return err
	}
	if at.folder == nil {
		return errs.New(errs.NotDeletable, "A root stays.")
	}
	at.folder.Revision++
	f.deleteTree(at.found)
	return nil
}

func (f *fake) deleteTree(d *store.Document) {
	for _, m := range f.membersOf(d) {
		f.deleteTree(m)
	}
	f.documents = slices.DeleteFunc(f.documents, func(o *store.Document) bool { return o == d })
}

func (f *fake) Quota(_ context.Context, by identity.Principal) (engine.Quota, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := engine.Quota{Available: fakeQuota}
	for _, d := range f.documents {
		if d.AuthorID == by.ID {
			q.Used, q.Available = q.Used+d.Size, q.Available-d.Size
		}
	}
	return q, nil
}
