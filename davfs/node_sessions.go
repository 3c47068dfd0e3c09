package davfs

import (
	"context"
	"io"

	"flowdrive/engine"
)

// sessionsFolder is Account/Sessions/, the caller's log-ins to the pages, or
// Admin/Sessions/, those of all users.
type sessionsFolder struct {
	*scope
	above string // "Account" or "Admin"
}

// all reports whether the folder has the sessions of all users.
func (n sessionsFolder) all() bool { return n.above == "Admin" }

func (n sessionsFolder) home() []string { return []string{"dav", n.above, "Sessions"} }

func (n sessionsFolder) stat(context.Context) (*info, error) {
	return folderInfo("Sessions", n.since), nil
}

func (n sessionsFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	stem, ext := splitName(name)
	if ext != ".json" {
		return nil, absent()
	}
	return sessionFile{n, stem}, nil
}

func (n sessionsFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n sessionsFolder) filters() []string { return nil }

// page cuts the page out of all, which are held in memory.
func (n sessionsFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	all, err := n.engine.Accounts.SessionFiles(ctx, n.by, n.all())
	return cutPage(all, f), err
}

func (n sessionsFolder) listed(r *engine.Resource) *info { return formInfo(r.Name+".json", r) }

// sessionFile is Sessions/<id>.json, which can be read and, to end the session, deleted.
type sessionFile struct {
	sessions sessionsFolder
	name     string
}

func (n sessionFile) load(ctx context.Context) (*engine.Resource, error) {
	return n.sessions.engine.Accounts.SessionFile(ctx, n.sessions.by, n.sessions.all(), n.name)
}

func (n sessionFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return formInfo(r.Name+".json", r), nil
}

func (n sessionFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return formInfo(r.Name+".json", r), contentOf(r.Form), nil
}

func (n sessionFile) options() []string { return nil }

func (n sessionFile) remove(ctx context.Context, req engine.Request, _ query) error {
	return n.sessions.engine.Accounts.DeleteSession(ctx, req, n.sessions.all(), n.name)
}
