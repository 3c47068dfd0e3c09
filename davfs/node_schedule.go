package davfs

import (
	"context"
	"io"

	"flowdrive/engine"
	"flowdrive/store"
)

// scheduleFolder is Workflow/Schedule/.
type scheduleFolder struct{ *scope }

func (n scheduleFolder) home() []string { return []string{"dav", "Workflow", "Schedule"} }

func (n scheduleFolder) stat(context.Context) (*info, error) {
	return folderInfo("Schedule", n.since), nil
}

func (n scheduleFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	if uuid, ok := parseUUID(name); ok {
		return entryFolder{n.scope, uuid}, nil
	}
	return entryFile{n.scope, n.readName(name, entryIdentity)}, nil
}

// entryIdentity reads the identity of a schedule entry.
func entryIdentity(stem string) (engine.Ref, bool) {
	uuid, ok := parseUUID(stem)
	return engine.Ref{Entry: uuid}, ok
}

func (n scheduleFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n scheduleFolder) parts() parts { return listedParts(n) }

//nolint:unparam // sideFileFolder's method may fail
func (n scheduleFolder) hasMeaning(_ context.Context, name string) (bool, error) {
	_, identity := parseUUID(name)
	return identity, nil
}

func (n scheduleFolder) filters() []string {
	return []string{"route", "context", "type", "paused", "q"}
}

func (n scheduleFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	return n.engine.Schedules.Entries(ctx, n.by, f)
}

func (n scheduleFolder) listed(r *engine.Resource) *info { return n.listedFile(r) }

// entryFile is a schedule entry under its identity or a given name, or the
// place of one.
type entryFile struct {
	*scope
	name naming
}

func (n entryFile) load(ctx context.Context) (*engine.Resource, error) {
	if n.name.nothing() {
		return nil, absent()
	}
	return n.engine.Schedules.Entry(ctx, n.by, n.name.ref)
}

func (n entryFile) stem() string { return n.name.stem }

func (n entryFile) folderOf(ctx context.Context, stem, ext string) (folder, error) {
	r, err := entryFile{n.scope, n.readName(stem+ext, entryIdentity)}.load(ctx)
	if err != nil {
		return nil, err
	}
	uuid, ok := parseUUID(r.Name)
	if !ok {
		return nil, absent()
	}
	return entryFolder{n.scope, uuid}, nil
}

func (n entryFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return n.name.about(n.scope, r), nil
}

func (n entryFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return n.name.about(n.scope, r), n.name.content(r), nil
}

func (n entryFile) putRules() putRules { return n.name.putRules() }

func (n entryFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	if n.name.identity && n.name.nothing() {
		return nil, absent()
	}
	return n.engine.Schedules.PutEntry(ctx, req, n.name.ref, in.data)
}

func (n entryFile) describe(a *answer, o *engine.Outcome) {
	a.locate("dav", "Workflow", "Schedule", o.Name+".json")
	a.add("X-OpenGroupware-ScheduleEntryUUID", o.Name)
}

func (n entryFile) options() []string { return nil }

func (n entryFile) remove(ctx context.Context, req engine.Request, _ query) error {
	if n.name.nothing() {
		return absent()
	}
	return n.engine.Schedules.DeleteEntry(ctx, req, n.name.ref)
}

// entryFolder is Schedule/<uuid32>/, which resolves but is not listed. It is
// there as long as its entry is remembered, also after that has ended.
type entryFolder struct {
	*scope
	uuid store.UUID
}

func (n entryFolder) stat(ctx context.Context) (*info, error) {
	r, err := n.engine.Schedules.Occurrences(ctx, n.by, n.uuid)
	if err != nil {
		return nil, err
	}
	return folderInfo(n.uuid.String(), n.orSince(r.Modified)), nil
}

func (n entryFolder) child(_ context.Context, name string) (node, error) {
	if same(name, "occurrences.json") {
		return n.occurrences(), nil
	}
	return nil, absent()
}

func (n entryFolder) list(ctx context.Context) ([]*info, error) {
	about, err := n.occurrences().stat(ctx)
	if err != nil {
		return nil, err
	}
	return []*info{about}, nil
}

// occurrences is what became of each instant of the entry.
func (n entryFolder) occurrences() formFile {
	return formFile{n.scope, "occurrences.json", typeJSON, func(ctx context.Context) (*engine.Resource, error) {
		return n.engine.Schedules.Occurrences(ctx, n.by, n.uuid)
	}}
}
