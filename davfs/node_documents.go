package davfs

import (
	"context"
	"encoding/xml"
	"io"
	"path"
	"slices"
	"strings"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

const documentsRoot = "Documents"

// maxTree bounds how many members the answer to a PROPFIND of infinite depth
// has: they are fetched at once, so that it shows one moment.
const maxTree = 20_000

// documentsFolder is /dav/Documents/: a root for each of the caller's
// contexts, each a complete, ordinary file area
// (docs/contract/labels-attachments.md#5-documents).
type documentsFolder struct{ *scope }

func (n documentsFolder) home() []string { return []string{"dav", documentsRoot} }

func (n documentsFolder) stat(context.Context) (*info, error) {
	return folderInfo(documentsRoot, n.since), nil
}

func (n documentsFolder) child(_ context.Context, name string) (node, error) {
	if at := documentKey(n.scope, n, name); at != nil {
		return at, nil
	}
	return documentPath{n.scope, engine.DocumentPath{name}}, nil
}

func (n documentsFolder) list(ctx context.Context) ([]*info, error) {
	roots, err := n.engine.Documents.DocumentRoots(ctx, n.by, true)
	return documentInfos(roots), err
}

func (n documentsFolder) below(ctx context.Context) (map[string][]*info, error) {
	roots, err := n.engine.Documents.DocumentRoots(ctx, n.by, true)
	if err != nil {
		return nil, err
	}
	all := map[string][]*info{"": documentInfos(roots)}
	room := maxTree
	for i := range roots {
		o := *n.under
		o.Limit = room
		l, err := n.engine.Documents.DocumentListing(ctx, n.by, engine.DocumentPath{roots[i].Name}, o)
		if err != nil {
			return nil, err
		}
		for folder, members := range membersByFolder(l.Top, l.Below) {
			all[path.Join(roots[i].Name, folder)] = members
			room -= len(members)
		}
	}
	return all, nil
}

func (n documentsFolder) filters() []string { return []string{"q"} }

func (n documentsFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	return n.engine.Documents.Documents(ctx, n.by, nil, f)
}

func (n documentsFolder) listed(r *engine.Resource) *info { return listedDocument(r) }

// documentKey returns a hidden key of a folder below Documents/, nil for any
// other name: there every other name is an ordinary one.
func documentKey(s *scope, c collection, name string) node {
	if name == contentsName || name == lsName {
		return hiddenFile{s, c, name}
	}
	return nil
}

func documentInfo(d *store.Document) *info {
	about := &info{}
	about.describe(d)
	return about
}

func (i *info) describe(d *store.Document) {
	*i = info{
		name: d.Name, dir: d.Folder, size: d.Size, etag: d.ETag(), mediaType: d.MediaType, created: d.Created, modified: d.Modified,
		lockKey: documentLock(d), stored: d.Properties, unread: d.Unread,
	}
}

func documentInfos(all []store.Document) []*info {
	out, infos := make([]*info, len(all)), make([]info, len(all))
	for i := range all {
		infos[i].describe(&all[i])
		out[i] = &infos[i]
	}
	return out
}

func listedDocument(r *engine.Resource) *info {
	return &info{
		name: r.Name, size: r.SourceSize, etag: r.SourceETag, mediaType: r.MediaType, created: r.Created, modified: r.Modified,
	}
}

// documentPath is a path below Documents/. What is there has not been asked yet.
type documentPath struct {
	*scope
	path engine.DocumentPath
}

func (n documentPath) stat(ctx context.Context) (*info, error) {
	at, err := n.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return at.stat(ctx)
}

//nolint:unparam // folder's method may fail
func (n documentPath) child(_ context.Context, name string) (node, error) {
	if at := documentKey(n.scope, documentFolder{documentPath: n}, name); at != nil {
		return at, nil
	}
	if name == historyName {
		return pastPlace{n.scope, files.VersionPath{Folder: n.path}}, nil
	}
	return documentPath{n.scope, append(slices.Clip(n.path), name)}, nil
}

func (n documentPath) list(ctx context.Context) ([]*info, error) {
	l, err := n.engine.Documents.DocumentListing(ctx, n.by, n.path, files.Members(false))
	if err != nil {
		return nil, err
	}
	return inOrder(documentInfos(l.Below)), nil
}

func inOrder(members []*info) []*info {
	slices.SortFunc(members, byName)
	return members
}

// resolve returns what is at the path: a folder, a file, or the place of one.
func (n documentPath) resolve(ctx context.Context) (node, error) {
	d, below, err := n.look(ctx)
	switch {
	case errs.Is(err, errs.NotFound) && len(n.path) > 1:
		return newDocument{documentTarget(n)}, nil
	case err != nil:
		return nil, err
	case d.Folder:
		return documentFolder{n, d, below}, nil
	}
	return documentFile{documentTarget(n), d}, nil
}

// look asks what is at the path, and for a listing also what that holds.
func (n documentPath) look(ctx context.Context) (*store.Document, []store.Document, error) {
	if n.under == nil {
		d, err := n.engine.Documents.Document(ctx, n.by, n.path)
		return d, nil, err
	}
	l, err := n.engine.Documents.DocumentListing(ctx, n.by, n.path, *n.under)
	if err != nil {
		return nil, nil, err
	}
	return l.Top, l.Below, nil
}

// documentFolder is a folder below Documents/. Of a hidden key's it is not
// asked whether it is there: the engine says so when it lists it.
type documentFolder struct {
	documentPath
	found   *store.Document
	members []store.Document // what is below, as far as the scope asks for it
}

func (n documentFolder) stat(context.Context) (*info, error) { return documentInfo(n.found), nil }

func (n documentFolder) remove(ctx context.Context, req engine.Request, _ query) error {
	return n.engine.Documents.DeleteDocument(ctx, req, n.path)
}

func (n documentFolder) options() []string { return nil }

func (n documentFolder) patch(ctx context.Context, req engine.Request, changes []dav.PropChange) (int, error) {
	return n.engine.Documents.PatchDocument(ctx, req, n.path, documentPatch(changes))
}

func (n documentFolder) storesProperty(xml.Name) bool { return true }

func (n documentFolder) home() []string { return documentSegments(n.path) }

func (n documentFolder) list(ctx context.Context) ([]*info, error) {
	if n.under == nil {
		return n.documentPath.list(ctx)
	}
	return inOrder(documentInfos(n.members)), nil
}

//nolint:unparam // tree's method may fail
func (n documentFolder) below(context.Context) (map[string][]*info, error) {
	return membersByFolder(n.found, n.members), nil
}

func (n documentFolder) filters() []string { return []string{"q"} }

func (n documentFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	return n.engine.Documents.Documents(ctx, n.by, n.path, f)
}

func (n documentFolder) listed(r *engine.Resource) *info { return listedDocument(r) }

func documentSegments(p engine.DocumentPath) []string {
	return append([]string{"dav", documentsRoot}, p...)
}

// membersByFolder describes what is below a folder: the members of each
// folder by its path from there, in order of name.
func membersByFolder(top *store.Document, tree []store.Document) map[string][]*info {
	byID := make(map[int64]*store.Document, len(tree))
	for i := range tree {
		byID[tree[i].ID] = &tree[i]
	}
	paths := map[int64]string{top.ID: ""}
	var pathOf func(folder int64) string
	pathOf = func(folder int64) string {
		if known, ok := paths[folder]; ok {
			return known
		}
		d := byID[folder]
		paths[folder] = path.Join(pathOf(d.ParentID), d.Name)
		return paths[folder]
	}
	out := map[string][]*info{}
	for i := range tree {
		in := pathOf(tree[i].ParentID)
		out[in] = append(out[in], documentInfo(&tree[i]))
	}
	for _, members := range out {
		inOrder(members)
	}
	return out
}

// documentTarget is where a PUT below Documents/ stores a file.
type documentTarget struct {
	*scope
	path engine.DocumentPath
}

func (n documentTarget) putRules() putRules { return putRules{content: true} }

func (n documentTarget) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	up := in.content()
	up.Modified, up.Checksum = in.modified, in.checksum
	return n.engine.Documents.PutDocument(ctx, req, n.path, up)
}

func (n documentTarget) describe(a *answer, o *engine.Outcome) {
	a.locate(strings.TrimPrefix(o.Name, "/"))
}

// documentFile is a file below Documents/.
type documentFile struct {
	documentTarget
	found *store.Document
}

func (n documentFile) stat(context.Context) (*info, error) { return documentInfo(n.found), nil }

func (n documentFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	d, err := n.engine.Documents.OpenFound(ctx, n.by, n.path, n.found)
	if err != nil {
		return nil, nil, err
	}
	return documentInfo(&d.Document), d.Body, nil
}

func (n documentFile) remove(ctx context.Context, req engine.Request, _ query) error {
	return n.engine.Documents.DeleteDocument(ctx, req, n.path)
}

func (n documentFile) options() []string { return nil }

func (n documentFile) patch(ctx context.Context, req engine.Request, changes []dav.PropChange) (int, error) {
	return n.engine.Documents.PatchDocument(ctx, req, n.path, documentPatch(changes))
}

func (n documentFile) storesProperty(xml.Name) bool { return true }

// newDocument is the place of a new file or folder below Documents/.
type newDocument struct{ documentTarget }

func (n newDocument) stat(context.Context) (*info, error) { return nil, absent() }

func (n newDocument) makeFolder(ctx context.Context, req engine.Request) (*engine.Outcome, error) {
	return n.engine.Documents.MakeFolder(ctx, req, n.path)
}
