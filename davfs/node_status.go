package davfs

import (
	"context"
	"io"
	"strings"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

const statusRoot = "Status"

// statusReadOnly refuses a PUT.
func statusReadOnly() error {
	return errs.New(errs.ReadOnly, "The files of Workflow/Status/ are written by the server and cannot be changed; to change an entry or a case, save its file in Schedule/ or Cases/.")
}

// statusFolder is Workflow/Status/.
type statusFolder struct{ fixedFolder }

func newStatusFolder(s *scope) node {
	return statusFolder{fixedFolder{s, statusRoot, func(s *scope) []place {
		var places []place
		for _, name := range []string{engine.StatusOverview, engine.StatusWeek, engine.StatusLate, engine.StatusRefused} {
			load := func(ctx context.Context) (*engine.StatusFile, error) { return s.engine.Status.Page(ctx, s.by, name) }
			places = append(places,
				place{name + textExt, func(s *scope) node { return statusFile{s, false, load} }, true},
				place{name + jsonExt, func(s *scope) node { return statusFile{s, true, load} }, true})
		}
		return append(places,
			place{"schedule", func(s *scope) node { return statusEntries{s} }, true},
			place{"cases", func(s *scope) node { return statusCases{s} }, true})
	}}}
}

func (statusFolder) reserved(name string) error { return reservedInStatus(name) }

// reservedInStatus refuses every name but those of side files, which programs write
// beside what they show.
func reservedInStatus(name string) error {
	if sideFile(name) {
		return nil
	}
	return statusReadOnly()
}

// statusFile is a file of Workflow/Status/, in one of its two forms. The text and the
// size are of the same rendering, so that what PROPFIND announces is what GET gives.
type statusFile struct {
	*scope
	json bool
	load func(ctx context.Context) (*engine.StatusFile, error)
}

func (n statusFile) stat(ctx context.Context) (*info, error) {
	f, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return n.about(f), nil
}

func (n statusFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	f, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	if n.json {
		return n.about(f), contentOf(f.JSON), nil
	}
	return n.about(f), contentOf(f.Text), nil
}

func (n statusFile) about(f *engine.StatusFile) *info {
	about := &info{name: f.Name + textExt, size: int64(len(f.Text)), etag: f.TextETag, mediaType: typeText}
	if n.json {
		about = &info{name: f.Name + jsonExt, size: int64(len(f.JSON)), etag: f.JSONETag, mediaType: typeJSON}
	}
	about.modified = n.orSince(f.Modified)
	about.created = about.modified
	return about
}

const (
	textExt = ".txt"
	jsonExt = ".json"
)

// statusName splits the name of a file. ok is false if it is not that of one.
func statusName(name string) (stem string, json, ok bool) {
	for _, ext := range []string{textExt, jsonExt} {
		if at := len(name) - len(ext); at > 0 && strings.EqualFold(name[at:], ext) {
			return name[:at], ext == jsonExt, true
		}
	}
	return "", false, false
}

// statusInfos describes the files that a listing shows, both forms of each. If two of
// them have the same name, the first has it; the others are found by their identity.
func (s *scope) statusInfos(files []engine.StatusFile) []*info {
	out := make([]*info, 0, 2*len(files))
	taken := make(map[string]bool, len(files))
	for i := range files {
		f := &files[i]
		if taken[foldName(f.Name)] {
			continue
		}
		taken[foldName(f.Name)] = true
		out = append(out, statusFile{scope: s}.about(f), statusFile{scope: s, json: true}.about(f))
	}
	return out
}

// statusEntries is Workflow/Status/schedule/.
type statusEntries struct{ *scope }

func (n statusEntries) stat(context.Context) (*info, error) {
	return folderInfo("schedule", n.since), nil
}

func (statusEntries) reserved(name string) error { return reservedInStatus(name) }

// child reads the name of an entry without its extension: .json, .yaml or .yml, in
// this order.
func (n statusEntries) child(_ context.Context, name string) (node, error) {
	stem, json, ok := statusName(name)
	if !ok {
		return nil, absent()
	}
	var refs []engine.Ref
	for _, ext := range []string{jsonExt, ".yaml", ".yml"} {
		if named := n.readName(stem+ext, entryIdentity); !named.nothing() {
			refs = append(refs, named.ref)
		}
	}
	return statusFile{n.scope, json, func(ctx context.Context) (*engine.StatusFile, error) {
		return n.engine.Status.Entry(ctx, n.by, refs)
	}}, nil
}

func (n statusEntries) list(ctx context.Context) ([]*info, error) {
	files, err := n.engine.Status.Entries(ctx, n.by)
	return n.statusInfos(files), err
}

// statusCases is Workflow/Status/cases/.
type statusCases struct{ *scope }

func (n statusCases) stat(context.Context) (*info, error) { return folderInfo("cases", n.since), nil }

func (statusCases) reserved(name string) error { return reservedInStatus(name) }

func (n statusCases) child(_ context.Context, name string) (node, error) {
	stem, json, ok := statusName(name)
	id, isID := parseID(stem)
	if !ok || !isID {
		return nil, absent()
	}
	return statusFile{n.scope, json, func(ctx context.Context) (*engine.StatusFile, error) {
		return n.engine.Status.Case(ctx, n.by, id)
	}}, nil
}

func (n statusCases) list(ctx context.Context) ([]*info, error) {
	files, err := n.engine.Status.Cases(ctx, n.by)
	return n.statusInfos(files), err
}
