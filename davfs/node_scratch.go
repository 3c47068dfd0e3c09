package davfs

import (
	"context"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// sideFileFolder is a folder of the workflow in which mounting clients may keep
// files of their own beside the documents: every name that is not a document's is
// a side file there, except those that have a meaning.
type sideFileFolder interface {
	folder
	hasMeaning(ctx context.Context, name string) (bool, error)
}

// caseHolder is a folder in which the id of a case is the name of its folder.
type caseHolder interface {
	folder
	// caseOf answers errs.NotFound if the caller sees no such case.
	caseOf(ctx context.Context, name string) (node, error)
}

// scratchArea reports whether side files are kept in the folder of that path:
// anywhere on the drive except in Documents/, where every name is an ordinary one.
func scratchArea(path []string) bool {
	return len(path) > 0 && same(path[0], "dav") && (len(path) < 2 || !same(path[1], documentsRoot))
}

// scratchChild returns the place of the side file called name in the folder, or
// nil if that name is not a side file there (docs/contract/drive.md#side-files).
// Scripts may read side files; what a script writes is always a document.
func (s *scope) scratchChild(ctx context.Context, dir folder, path []string, name string) (node, error) {
	if _, inside := dir.(sideFileNode); inside || !scratchArea(path) {
		return nil, nil
	}
	for _, key := range []string{contentsName, lsName} {
		if same(name, key) {
			return nil, nil
		}
	}
	if of, ok := dir.(historic); ok && same(name, historyName) {
		return historyFolder{s, of.history()}, nil
	}
	if same(name, rejectedName) {
		return s.rejected(ctx, path)
	}
	place := scratchPlace{s, dir, path, norm.NFC.String(name)}
	if sideFile(name) {
		if cases, ok := dir.(caseHolder); ok && digits(name) {
			// vim asks whether it may write by a file 4913; a case may have that id.
			if _, err := cases.caseOf(ctx, name); !errs.Is(err, errs.NotFound) {
				return nil, err
			}
		}
		return place, nil
	}
	at, keepsSideFiles := dir.(sideFileFolder)
	if _, ext := splitName(name); !keepsSideFiles || ext != "" || s.script && s.writes {
		return nil, nil
	}
	if hasMeaning, err := at.hasMeaning(ctx, norm.NFC.String(name)); hasMeaning || err != nil {
		return nil, err
	}
	if !s.script {
		return place, nil
	}
	switch _, err := place.load(ctx); {
	case errs.Is(err, errs.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return place, nil
}

// scratchPlace is a place in the caller's scratch area. What is there has not been
// asked yet.
type scratchPlace struct {
	*scope
	parent folder
	path   []string // of the parent
	name   string
}

func (n scratchPlace) place() store.ScratchPlace {
	return store.ScratchPlace{Folder: folderPath(n.path), Name: n.name}
}

// folderPath is the path by which the scratch area knows a folder.
func folderPath(segments []string) string { return "/" + strings.Join(segments, "/") }

func (n scratchPlace) load(ctx context.Context) (*store.Scratch, error) {
	return n.engine.Scratch.Get(ctx, n.by, n.wall, n.place())
}

func (n scratchPlace) stat(ctx context.Context) (*info, error) {
	s, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return scratchInfo(s), nil
}

func (n scratchPlace) child(_ context.Context, name string) (node, error) {
	return scratchPlace{n.scope, n, append(slices.Clip(n.path), n.name), norm.NFC.String(name)}, nil
}

func (n scratchPlace) list(ctx context.Context) ([]*info, error) {
	members, err := n.engine.Scratch.In(ctx, n.by, n.wall, n.place().Folder+"/"+n.name)
	return scratchInfos(members), err
}

// resolve returns what is at the place: a folder, a file, or nothing yet.
func (n scratchPlace) resolve(ctx context.Context) (node, error) {
	s, err := n.load(ctx)
	switch {
	case errs.Is(err, errs.NotFound):
		return newScratch{scratchTarget{n}}, nil
	case err != nil:
		return nil, err
	case s.Kind == store.ScratchFolder:
		return scratchFolder{n, s}, nil
	}
	return scratchFile{scratchTarget{n}, storedScratch{n.scope, s}}, nil
}

func scratchInfo(s *store.Scratch) *info {
	if s.Kind == store.ScratchFolder {
		about := folderInfo(s.Place.Name, s.Modified)
		about.created = s.Created
		return about
	}
	return &info{
		name: s.Place.Name, size: s.Size, etag: s.ETag(), mediaType: s.MediaType, created: s.Created, modified: s.Modified,
		lockKey: s.LockKey(),
	}
}

func scratchInfos(all []store.Scratch) []*info {
	out := make([]*info, len(all))
	for i := range all {
		out[i] = scratchInfo(&all[i])
	}
	return out
}

// wallRequest is a request as the scratch area counts its time: by the
// machine's clock.
func (n scratchPlace) wallRequest(req engine.Request) engine.Request {
	req.Now = n.wall
	return req
}

func (scratchPlace) isSideFile() {}

// scratchFolder is a folder of side files.
type scratchFolder struct {
	scratchPlace
	found *store.Scratch
}

func (n scratchFolder) stat(context.Context) (*info, error) { return scratchInfo(n.found), nil }

func (n scratchFolder) remove(ctx context.Context, req engine.Request, _ query) error {
	return n.engine.Scratch.Delete(ctx, n.wallRequest(req), n.place())
}

func (n scratchFolder) options() []string { return nil }

// scratchTarget is where a PUT stores a side file.
type scratchTarget struct{ at scratchPlace }

func (n scratchTarget) putRules() putRules {
	return putRules{content: true, illegal: n.at.hiddenDocument()}
}

// hiddenDocument answers errs.NameNotAllowed if a script sends what is a document by its
// extension under a name that nothing is read under, as .nightly.json: a script means what it
// sends. The names of temporary files that scripts write and rename end otherwise.
func (n scratchPlace) hiddenDocument() error {
	_, keepsDocuments := n.parent.(sideFileFolder)
	_, ext := splitName(n.name)
	if !n.script || !keepsDocuments || ext == "" || !strings.HasPrefix(n.name, ".") || strings.HasPrefix(n.name, "._") {
		return nil
	}
	return errs.New(errs.NameNotAllowed, "The name %q is that of a temporary file, which nothing reads here; choose one that does not begin with a dot.", n.name)
}

func (scratchTarget) isSideFile() {}

// guard answers that the folder is not there, before anything else is looked
// at.
func (n scratchTarget) guard(ctx context.Context) error {
	about, err := n.at.parent.stat(ctx)
	if _, inside := n.at.parent.(scratchPlace); inside && (errs.Is(err, errs.NotFound) || err == nil && !about.dir) {
		return errs.New(errs.MissingParent, "The folder for %q does not exist; make it first.", n.at.name)
	}
	return err
}

func (n scratchTarget) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	put := n.at.engine.Scratch.Put
	if addressOf(append(n.at.path[:len(n.at.path):len(n.at.path)], n.at.name)).holdsSecrets() {
		put = n.at.engine.Scratch.PutSecret
	}
	return put(ctx, n.at.wallRequest(req), n.at.place(), in.content())
}

func (n scratchTarget) describe(a *answer, o *engine.Outcome) {
	a.locate(strings.TrimPrefix(o.Name, "/"))
}

// storedScratch is something that lies in the caller's scratch area.
type storedScratch struct {
	*scope
	found *store.Scratch
}

func (n storedScratch) stat(context.Context) (*info, error) { //nolint:unparam // as node has it
	return scratchInfo(n.found), nil
}

func (n storedScratch) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	s, err := n.engine.Scratch.Open(ctx, n.by, n.wall, n.found.Place)
	if err != nil {
		return nil, nil, err
	}
	return scratchInfo(&s.Scratch), s.Body, nil
}

func (n storedScratch) options() []string { return nil }

func (n storedScratch) remove(ctx context.Context, req engine.Request, _ query) error {
	req.Now = n.wall
	return n.engine.Scratch.Delete(ctx, req, n.found.Place)
}

// moveSource checks that a MOVE may delete it.
func (n storedScratch) moveSource(ctx context.Context, req engine.Request) (*engine.Taken, error) {
	req.Now = n.wall
	return n.engine.Scratch.MayTake(ctx, req, n.found.Place)
}

// scratchFile is a side file.
type scratchFile struct {
	scratchTarget
	storedScratch
}

// newScratch is the place of a new side file or folder.
type newScratch struct{ scratchTarget }

func (n newScratch) stat(context.Context) (*info, error) { return nil, absent() }

func (n newScratch) makeFolder(ctx context.Context, req engine.Request) (*engine.Outcome, error) {
	if err := n.guard(ctx); err != nil {
		return nil, err
	}
	if err := n.at.ownFolder(); err != nil {
		return nil, err
	}
	return n.at.engine.Scratch.MakeFolder(ctx, n.at.wallRequest(req), n.at.place())
}
