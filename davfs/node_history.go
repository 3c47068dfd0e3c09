package davfs

import (
	"context"
	"io"

	"flowdrive/engine"
	"flowdrive/store"
)

// historic is a folder of whose documents a history is kept.
type historic interface {
	folder
	history() store.Folder
}

func (scheduleFolder) history() store.Folder { return store.FolderSchedule }
func (routesFolder) history() store.Folder   { return store.FolderRoutes }
func (casesFolder) history() store.Folder    { return store.FolderCases }

// historyFolder is .history/ in a folder: the source documents that were
// overwritten or deleted, "<time> <name>" each, to be read and copied back. To
// mounting clients it is listed while it holds something: they look names up in
// listings.
type historyFolder struct {
	*scope
	of store.Folder
}

func (historyFolder) isSideFile() {}

// withHistory adds .history/ to what a listing of the folder shows.
func (x *request) withHistory(ctx context.Context, dir folder, members []*info) ([]*info, error) {
	of, ok := dir.(historic)
	if !ok || x.script {
		return members, nil
	}
	some, err := x.engine.Histories.HasHistory(ctx, x.by, of.history())
	if err != nil || !some {
		return members, err
	}
	return append(members, folderInfo(historyName, x.since)), nil
}

func (n historyFolder) stat(context.Context) (*info, error) {
	return folderInfo(historyName, n.since), nil
}

func (n historyFolder) list(ctx context.Context) ([]*info, error) {
	all, err := n.engine.Histories.History(ctx, n.by, n.of)
	out := make([]*info, len(all))
	for i := range all {
		out[i] = pastInfo(&all[i])
	}
	return out, err
}

func pastInfo(r *engine.Resource) *info {
	_, ext := splitName(r.Name)
	return sourceInfo(r.Name, sourceType(ext), r)
}

func (n historyFolder) child(ctx context.Context, name string) (node, error) {
	all, err := n.engine.Histories.History(ctx, n.by, n.of)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if foldName(all[i].Name) == foldName(name) {
			return historyFile{n.scope, n.of, &all[i]}, nil
		}
	}
	return nil, absent()
}

// historyFile is a document as it was.
type historyFile struct {
	*scope
	of    store.Folder
	found *engine.Resource
}

func (n historyFile) stat(context.Context) (*info, error) { return pastInfo(n.found), nil }

func (n historyFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.engine.Histories.Past(ctx, n.by, n.of, n.found.Seq)
	if err != nil {
		return nil, nil, err
	}
	return pastInfo(r), contentOf(r.Source), nil
}
