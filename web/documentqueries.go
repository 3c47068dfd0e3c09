package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/account"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// DocumentQueries are what the pages read of the documents.
type DocumentQueries interface {
	// Documents returns what is at a path below Documents/, with its members.
	Documents(ctx context.Context, by identity.Principal, path engine.DocumentPath) (*DocumentFolder, error)
	// DocumentsBelow counts what is below a folder at any depth; more says that there
	// are others than those n.
	DocumentsBelow(ctx context.Context, by identity.Principal, path engine.DocumentPath) (n int, more bool, err error)
	// DocumentAreas returns the names of the areas of by's own contexts.
	DocumentAreas(ctx context.Context, by identity.Principal) ([]string, error)
	// DocumentsNamed returns what of by's own areas has the folded text in its name, the
	// newest first.
	DocumentsNamed(ctx context.Context, by identity.Principal, text string) ([]NamedDocument, error)
	// Quota returns how much by has stored and may still store.
	Quota(ctx context.Context, by identity.Principal) (engine.Quota, error)
}

// PersonByID implements PeopleQueries.
func (q queries) PersonByID(id identity.ID) Person {
	p := q.engine.Accounts.Table().Directory().ByID(id)
	if p == nil {
		return Person{}
	}
	return q.called(p)
}

// TeamsLed implements PeopleQueries.
func (q queries) TeamsLed(by identity.Principal) (out []string) {
	d := q.engine.Accounts.Table().Directory()
	for _, p := range d.Parties() {
		if p.Kind == identity.Team && p.ID != d.EveryoneID() && d.Administers(by, p.ID) {
			out = append(out, string(p.Name))
		}
	}
	slices.Sort(out)
	return out
}

// Sessions implements PeopleQueries.
func (q queries) Sessions(by identity.Principal, token string) []account.Session {
	return q.engine.Accounts.Sessions(by.ID, token)
}

// Documents implements DocumentQueries.
func (q queries) Documents(ctx context.Context, by identity.Principal, path engine.DocumentPath) (*DocumentFolder, error) {
	l, err := q.engine.Files.DocumentListing(ctx, by, path, files.Members(false))
	if err != nil {
		return nil, err
	}
	out := &DocumentFolder{Top: *l.Top, Below: l.Below, Locked: map[int64]string{}}
	if root := q.engine.Accounts.Table().Directory().ByName(identity.Name(path[0])); root != nil {
		path[0] = string(root.Name)
		out.Writable = q.engine.Files.Writable(by, root) == nil
	}
	locks, err := q.engine.Locks.LocksBelow(ctx, store.LocksOnDocuments)
	for i := range locks {
		id, failed := strconv.ParseInt(strings.TrimPrefix(string(locks[i].On), string(store.LocksOnDocuments)), 10, 64)
		if failed == nil {
			out.Locked[id] = q.PersonByID(locks[i].HolderID).Name
		}
	}
	return out, err
}

// mostBelow bounds how many documents below a folder are counted.
const mostBelow = 1000

// DocumentsBelow implements DocumentQueries.
func (q queries) DocumentsBelow(ctx context.Context, by identity.Principal, path engine.DocumentPath) (n int, more bool, err error) {
	l, err := q.engine.Files.DocumentListing(ctx, by, path, files.Tree(mostBelow, false))
	if errs.KindOf(err) == errs.FiniteDepth {
		return mostBelow, true, nil
	}
	if err != nil {
		return 0, false, err
	}
	return len(l.Below), false, nil
}

// DocumentAreas implements DocumentQueries.
func (q queries) DocumentAreas(ctx context.Context, by identity.Principal) (out []string, err error) {
	roots, err := q.engine.Files.DocumentRoots(ctx, by, true)
	for i := range roots {
		out = append(out, roots[i].Name)
	}
	return out, err
}

// DocumentsNamed implements DocumentQueries.
func (q queries) DocumentsNamed(ctx context.Context, by identity.Principal, text string) (out []NamedDocument, err error) {
	roots, err := q.engine.Files.DocumentRoots(ctx, by, true)
	if err != nil {
		return nil, err
	}
	var found []store.Document
	paths := map[int64]engine.DocumentPath{}
	for i := range roots {
		path := engine.DocumentPath{roots[i].Name}
		l, err := q.engine.Files.DocumentListing(ctx, by, path, files.Tree(mostBelow, false))
		if errs.KindOf(err) == errs.FiniteDepth {
			l, err = q.engine.Files.DocumentListing(ctx, by, path, files.Members(false))
		}
		if err != nil {
			return nil, err
		}
		byID := map[int64]*store.Document{}
		for i := range l.Below {
			byID[l.Below[i].ID] = &l.Below[i]
		}
		for i := range l.Below {
			d := &l.Below[i]
			if !strings.Contains(identity.Fold(d.Name), text) {
				continue
			}
			var names []string
			for at := d; at != nil; at = byID[at.ParentID] {
				names = append(names, at.Name)
			}
			slices.Reverse(names)
			found = append(found, *d)
			paths[d.ID] = append(slices.Clone(path), names...)
		}
	}
	slices.SortFunc(found, func(a, b store.Document) int { return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(b.ID, a.ID)) })
	for i := range found {
		out = append(out, NamedDocument{Path: paths[found[i].ID], Folder: found[i].Folder})
	}
	return out, nil
}

// Quota implements DocumentQueries.
func (q queries) Quota(ctx context.Context, by identity.Principal) (engine.Quota, error) {
	return q.engine.Files.Quota(ctx, by)
}
