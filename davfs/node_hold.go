package davfs

import (
	"context"
	"io"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// holdsFolder is Admin/Holds/.
type holdsFolder struct{ *scope }

func (n holdsFolder) home() []string { return []string{"dav", "Admin", "Holds"} }

func (n holdsFolder) stat(context.Context) (*info, error) { return folderInfo("Holds", n.since), nil }

func (n holdsFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	name = norm.NFC.String(name)
	stem, ext := splitName(name)
	file := holdFile{scope: n.scope, name: stem, illegal: legalName(name)}
	if ext != ".json" {
		file.illegal = errs.New(errs.NameNotAllowed, "A file here has the name of a hold and ends with .json.")
	}
	return file, nil
}

func (n holdsFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n holdsFolder) hasMeaning(context.Context, string) (bool, error) { return false, nil }

func (n holdsFolder) filters() []string { return nil }

// page cuts the page out of all: there are few holds.
func (n holdsFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	all, err := n.engine.Holds.Holds(ctx, n.by)
	return cutPage(all, f), err
}

func (n holdsFolder) listed(r *engine.Resource) *info { return formInfo(r.Name+".json", r) }

// holdFile is Holds/<name>.json: always the complete form.
type holdFile struct {
	*scope
	name    string
	illegal error
}

func (n holdFile) load(ctx context.Context) (*engine.Resource, error) {
	if n.illegal != nil {
		return nil, absent()
	}
	return n.engine.Holds.Hold(ctx, n.by, n.name)
}

func (n holdFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return formInfo(r.Name+".json", r), nil
}

func (n holdFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return formInfo(r.Name+".json", r), contentOf(r.Form), nil
}

func (n holdFile) putRules() putRules { return putRules{illegal: n.illegal} }

func (n holdFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return n.engine.Holds.PutHold(ctx, req, n.name, in.data)
}

func (n holdFile) describe(a *answer, o *engine.Outcome) {
	a.locate("dav", "Admin", "Holds", o.Name+".json")
}

func (n holdFile) options() []string { return nil }

func (n holdFile) remove(ctx context.Context, req engine.Request, _ query) error {
	if n.illegal != nil {
		return absent()
	}
	return n.engine.Holds.DeleteHold(ctx, req, n.name)
}

func (n holdFile) lockTarget() engine.Target {
	t := engine.Target{Kind: engine.OnHold}
	if n.illegal == nil {
		t.Name = n.name
	}
	return t
}

func (n holdsFolder) lockArea() store.LockKey { return store.LocksOnHolds }
func (n holdFile) lockArea() store.LockKey    { return store.LocksOnHolds }
