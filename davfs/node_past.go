package davfs

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// What was overwritten and deleted in Documents/
// (docs/contract/labels-attachments.md#history-of-documents).

// mountsWithVersions are the beginnings of the User-Agent of programs by which people
// look into folders: they are shown .history/ in the folder of a user or team. Programs
// that keep two folders alike would take it for files of that folder.
var mountsWithVersions = []string{"davfs2/", "gvfs/", "cadaver/", "WebDAVFS/", "WebDAVLib/"}

// withVersions adds .history/ to what a listing of the folder of a user or team shows
// to people, while it holds something.
func (x *request) withVersions(ctx context.Context, dir folder, members []*info) ([]*info, error) {
	of, ok := dir.(documentFolder)
	if !ok || x.script || len(of.path) != 1 {
		return members, nil
	}
	page := x.r.Method == http.MethodGet || x.r.Method == http.MethodHead
	agent := x.r.UserAgent()
	if !page && !slices.ContainsFunc(mountsWithVersions, func(known string) bool { return strings.HasPrefix(agent, known) }) {
		return members, nil
	}
	some, err := x.engine.Versions.HasVersions(ctx, x.by, of.path)
	if err != nil || !some {
		return members, err
	}
	return append(members, folderInfo(historyName, x.since)), nil
}

// pastPlace is a path through .history/ of a folder below Documents/. What is there
// has not been asked yet. A folder .history of one's own, below that of a user or team,
// comes first.
type pastPlace struct {
	*scope
	at files.VersionPath
}

func (n pastPlace) stat(ctx context.Context) (*info, error) {
	at, err := n.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return at.stat(ctx)
}

func (n pastPlace) child(_ context.Context, name string) (node, error) {
	below := files.VersionPath{Folder: n.at.Folder, Below: append(slices.Clip(n.at.Below), name)}
	if at := documentKey(n.scope, pastFolder{n.scope, n.at, nil}, name); at != nil {
		return at, nil
	}
	return pastPlace{n.scope, below}, nil
}

func (n pastPlace) list(ctx context.Context) ([]*info, error) {
	at, err := n.resolve(ctx)
	if err != nil {
		return nil, err
	}
	if dir, ok := at.(folder); ok {
		return dir.list(ctx)
	}
	return nil, absent()
}

// document is the place as one of an ordinary document.
func (n pastPlace) document(names ...string) documentPath {
	return documentPath{n.scope, slices.Concat(n.at.Folder, engine.DocumentPath{historyName}, names)}
}

// resolve returns what is at the path: a version, a folder of versions, or what would be
// there if it were an ordinary path.
func (n pastPlace) resolve(ctx context.Context) (node, error) {
	top := len(n.at.Folder) == 1
	if !top {
		_, err := n.engine.Documents.Document(ctx, n.by, n.document().path)
		if err == nil {
			return n.document(n.at.Below...).resolve(ctx)
		}
		if !errs.Is(err, errs.NotFound) {
			return nil, err
		}
		some, err := n.engine.Versions.HasVersions(ctx, n.by, n.at.Folder)
		if err != nil {
			return nil, err
		}
		if !some {
			return n.document(n.at.Below...).resolve(ctx)
		}
	}
	spot, err := n.engine.Versions.Version(ctx, n.by, n.at)
	switch {
	case err != nil:
		return nil, err
	case spot.Version == nil || spot.Found.Folder:
		return pastFolder{n.scope, n.at, spot}, nil
	}
	return pastFile{n.scope, n.at, spot}, nil
}

// pastFolder is .history/, a folder below it, or a deleted folder.
type pastFolder struct {
	*scope
	at    files.VersionPath
	found *files.VersionSpot // nil of a hidden key's
}

func (n pastFolder) name() string {
	if len(n.at.Below) == 0 {
		return historyName
	}
	return n.at.Below[len(n.at.Below)-1]
}

func (n pastFolder) stat(context.Context) (*info, error) {
	if n.found.Version == nil {
		return folderInfo(n.name(), n.since), nil
	}
	return pastDocument(n.found.Found, n.name()), nil
}

func (n pastFolder) child(ctx context.Context, name string) (node, error) {
	return pastPlace{n.scope, n.at}.child(ctx, name)
}

func (n pastFolder) list(ctx context.Context) ([]*info, error) {
	l, err := n.engine.Versions.VersionsBelow(ctx, n.by, n.at)
	if err != nil {
		return nil, err
	}
	out := documentInfos(l.Members)
	for i := range l.Versions {
		out = append(out, pastDocument(&l.Versions[i].Document, l.Versions[i].Shown))
	}
	for _, name := range l.Folders {
		out = append(out, folderInfo(name, n.since))
	}
	return inOrder(out), nil
}

// pastDocument describes a version. It is not locked.
func pastDocument(d *store.Document, name string) *info {
	about := documentInfo(d)
	about.name, about.lockKey = name, ""
	return about
}

func (n pastFolder) options() []string { return nil }

func (n pastFolder) remove(ctx context.Context, req engine.Request, _ query) error {
	return n.engine.Versions.DeleteVersion(ctx, req, n.at)
}

func (n pastFolder) filters() []string { return []string{"q"} }

func (n pastFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	return n.engine.Versions.VersionPage(ctx, n.by, n.at, f)
}

func (n pastFolder) listed(r *engine.Resource) *info { return listedDocument(r) }

func (n pastFolder) home() []string {
	return slices.Concat(documentSegments(n.at.Folder), []string{historyName}, n.at.Below)
}

// pastFile is a document as it was, or a file of a deleted folder.
type pastFile struct {
	*scope
	at    files.VersionPath
	found *files.VersionSpot
}

func (n pastFile) stat(context.Context) (*info, error) {
	return pastDocument(n.found.Found, n.at.Below[len(n.at.Below)-1]), nil
}

func (n pastFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	d, err := n.engine.Versions.OpenVersion(ctx, n.by, n.at)
	if err != nil {
		return nil, nil, err
	}
	return pastDocument(&d.Document, n.at.Below[len(n.at.Below)-1]), d.Body, nil
}

func (n pastFile) options() []string { return nil }

func (n pastFile) remove(ctx context.Context, req engine.Request, _ query) error {
	return n.engine.Versions.DeleteVersion(ctx, req, n.at)
}

// versionAt returns where in .history/ of a folder of Documents/ a node lies, if it does.
func pastAt(n node) (files.VersionPath, bool) {
	switch n := n.(type) {
	case pastFile:
		return n.at, true
	case pastFolder:
		return n.at, true
	}
	return files.VersionPath{}, false
}

// restoreVersion copies or moves a version into Documents/.
func (t *transfer) restoreVersion(from files.VersionPath, to engine.DocumentPath) (*answer, error) {
	return t.transferred(func(ctx context.Context, req engine.Request, how files.Transfer) (*engine.Outcome, error) {
		how.Move = t.move
		return t.engine.Versions.RestoreVersion(ctx, req, from, to, how)
	})
}
