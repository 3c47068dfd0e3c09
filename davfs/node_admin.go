package davfs

import (
	"context"
	"io"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// adminPlaces are the members of "/dav/Admin/". Only administrators get this
// far: for others drivePlaces has no such member.
func adminPlaces(s *scope) []place {
	places := []place{
		{"Users", func(s *scope) node { return partiesFolder{s, identity.User, "Users"} }, true},
		{"Teams", func(s *scope) node { return partiesFolder{s, identity.Team, "Teams"} }, true},
		{"Holds", func(s *scope) node { return holdsFolder{s} }, true},
		{"Audit", func(s *scope) node { return auditFolder{s} }, true},
		{"Nodes", func(s *scope) node { return nodesFolder{s} }, true},
		{"Sessions", func(s *scope) node { return sessionsFolder{s, "Admin"} }, true},
		{"Status.json", func(s *scope) node {
			return formFile{s, "Status.json", typeJSON, func(ctx context.Context) (*engine.Resource, error) {
				return s.engine.Server.Status(ctx, s.by)
			}}
		}, true},
		{"Usage.json", func(s *scope) node { return usageFile(s, "Usage.json", typeJSON) }, true},
		{"Usage.txt", func(s *scope) node { return usageFile(s, "Usage.txt", typeText) }, true},
	}
	if s.engine.Letters.Kept() {
		places = append(places, place{"Outbox", func(s *scope) node { return lettersFolder{s} }, true})
	}
	return places
}

// usageFile is Admin/Usage.json or Admin/Usage.txt: who holds how much.
func usageFile(s *scope, name, mediaType string) formFile {
	return formFile{s, name, mediaType, func(ctx context.Context) (*engine.Resource, error) {
		return s.engine.Server.Usage(ctx, s.by, mediaType == typeText)
	}}
}

// partiesFolder is Admin/Users/ or Admin/Teams/.
type partiesFolder struct {
	*scope
	kind identity.Kind
	name string
}

func (n partiesFolder) home() []string { return []string{"dav", "Admin", n.name} }

func (n partiesFolder) stat(context.Context) (*info, error) { return folderInfo(n.name, n.since), nil }

func (n partiesFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	stem, ext := splitName(name)
	file := partyFile{scope: n.scope, folder: n.name, kind: n.kind, name: stem}
	if ext != ".json" {
		file.illegal = errs.New(errs.NameNotAllowed, "A file here has the name of a user or team and ends with .json.")
	} else if !identity.LegalParty(n.kind, stem) {
		file.illegal = errs.New(errs.NameNotAllowed, "%q is not a valid name for a %s: %s.", stem, n.kind, identity.NameForm(n.kind))
	}
	return file, nil
}

func (n partiesFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n partiesFolder) hasMeaning(context.Context, string) (bool, error) { return false, nil }

func (n partiesFolder) filters() []string { return nil }

// page cuts the page out of all: users and teams are few and held in memory.
func (n partiesFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	all, err := n.engine.Parties.Parties(ctx, n.by, n.kind)
	return cutPage(all, f), err
}

func (n partiesFolder) listed(r *engine.Resource) *info { return formInfo(r.Name+".json", r) }

// partyFile is Users/<name>.json or Teams/<name>.json: always the complete
// form, never the bytes that were PUT, which may hold a password.
type partyFile struct {
	*scope
	folder  string
	kind    identity.Kind
	name    string
	illegal error
}

func (n partyFile) load(ctx context.Context) (*engine.Resource, error) {
	if n.illegal != nil {
		return nil, absent()
	}
	return n.engine.Parties.Party(ctx, n.by, n.kind, n.name)
}

func (n partyFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return formInfo(r.Name+".json", r), nil
}

func (n partyFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return formInfo(r.Name+".json", r), contentOf(r.Form), nil
}

func (n partyFile) putRules() putRules {
	return putRules{illegal: n.illegal, secret: n.kind == identity.User, password: true}
}

func (n partyFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return n.engine.Parties.PutParty(ctx, req, n.kind, n.name, in.data)
}

func (n partyFile) describe(a *answer, o *engine.Outcome) {
	a.locate("dav", "Admin", n.folder, o.Name+".json")
}

func (n partyFile) options() []string {
	if n.kind == identity.User {
		return []string{"handOver", "erase"}
	}
	return []string{"handOver"}
}

func (n partyFile) remove(ctx context.Context, req engine.Request, q query) error {
	if n.illegal != nil {
		return absent()
	}
	handOver, err := q.text("handOver")
	if err != nil {
		return err
	}
	erase, err := q.flag("erase")
	if err != nil {
		return err
	}
	if erase {
		return n.engine.Parties.ErasePerson(ctx, req, n.name, handOver)
	}
	return n.engine.Parties.DeleteParty(ctx, req, n.kind, n.name, handOver)
}

// moveTo gives the user or team another name.
func (n partyFile) moveTo(ctx context.Context, req engine.Request, to node, t *transfer) (*answer, error) {
	place, ok := to.(partyFile)
	switch {
	case !ok || place.kind != n.kind:
		return nil, notMovable(n)
	case place.illegal != nil:
		return nil, place.illegal
	}
	out, err := n.engine.Parties.RenameParty(ctx, req, n.kind, n.name, place.name)
	if err != nil {
		return nil, err
	}
	return t.renamed(out, "dav", "Admin", n.folder, out.Name+".json"), nil
}

func (n partyFile) lockTarget() engine.Target {
	t := engine.Target{Kind: engine.OnParty, Party: n.kind}
	if n.illegal == nil {
		t.Name = n.name
	}
	return t
}

func (n partiesFolder) lockArea() store.LockKey { return store.LocksOnParties }
func (n partyFile) lockArea() store.LockKey     { return store.LocksOnParties }
