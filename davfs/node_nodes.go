package davfs

import (
	"context"

	"flowdrive/engine"
)

// nodesFolder is Admin/Nodes/: the nodes of the database, for administrators to read.
type nodesFolder struct{ *scope }

func (n nodesFolder) home() []string { return []string{"dav", "Admin", "Nodes"} }

func (n nodesFolder) stat(context.Context) (*info, error) { return folderInfo("Nodes", n.since), nil }

func (n nodesFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	stem, ext := splitName(name)
	if ext != ".json" {
		return nil, absent()
	}
	return formFile{n.scope, name, typeJSON, func(ctx context.Context) (*engine.Resource, error) {
		return n.engine.Server.Node(ctx, n.by, stem)
	}}, nil
}

func (n nodesFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n nodesFolder) filters() []string { return nil }

// page cuts the page out of all, which are few.
func (n nodesFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	all, err := n.engine.Server.Nodes(ctx, n.by)
	return cutPage(all, f), err
}

func (n nodesFolder) listed(r *engine.Resource) *info { return formInfo(r.Name+".json", r) }
