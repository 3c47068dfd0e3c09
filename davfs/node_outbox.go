package davfs

import (
	"context"
	"strconv"
	"strings"

	"flowdrive/engine"
)

// outboxFolder is Cases/<id>/Outbox/: what became of each delivery that a step of the
// case has asked for. It can be read only.
type outboxFolder struct {
	*scope
	id int64
}

func (n outboxFolder) home() []string {
	return []string{"dav", "Workflow", "Cases", strconv.FormatInt(n.id, 10), "Outbox"}
}

func (n outboxFolder) stat(ctx context.Context) (*info, error) {
	about, err := caseFolder(n).stat(ctx)
	if err != nil {
		return nil, err
	}
	return folderInfo("Outbox", about.modified), nil
}

func (n outboxFolder) child(_ context.Context, name string) (node, error) {
	if same(name, contentsName) || same(name, lsName) {
		return special(n.scope, n, name), nil
	}
	stem, ext := splitName(name)
	if ext != ".json" || !strings.Contains(stem, ".") {
		return nil, absent()
	}
	return formFile{n.scope, name, typeJSON, func(ctx context.Context) (*engine.Resource, error) {
		return n.engine.Cases.Delivery(ctx, n.by, n.id, stem)
	}}, nil
}

func (n outboxFolder) list(ctx context.Context) ([]*info, error) {
	all, err := n.engine.Cases.Outbox(ctx, n.by, n.id)
	if err != nil {
		return nil, err
	}
	out := make([]*info, len(all))
	for i := range all {
		out[i] = n.listed(&all[i])
	}
	return out, nil
}

func (n outboxFolder) filters() []string { return nil }

func (n outboxFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	all, err := n.engine.Cases.Outbox(ctx, n.by, n.id)
	if err != nil {
		return nil, err
	}
	all = all[min(max(f.After, 0), int64(len(all))):] // they are numbered from 1
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	return all, nil
}

func (n outboxFolder) listed(r *engine.Resource) *info { return formInfo(r.Name+".json", r) }
