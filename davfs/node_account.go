package davfs

import (
	"context"
	"io"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// accountPlaces are the members of "/dav/Account/", the caller's own.
func accountPlaces(*scope) []place {
	return []place{
		{"me.json", func(s *scope) node {
			return meFile{formFile{s, "me.json", typeJSON, func(ctx context.Context) (*engine.Resource, error) {
				return s.engine.Accounts.Me(ctx, s.by)
			}}}
		}, true},
		{"people.json", func(s *scope) node {
			return formFile{s, "people.json", typeJSON, func(ctx context.Context) (*engine.Resource, error) {
				return s.engine.Accounts.People(ctx, s.by)
			}}
		}, true},
		{"AppPasswords", func(s *scope) node { return secretsFolder{s, store.AppPassword, "AppPasswords"} }, true},
		{"CalendarLinks", func(s *scope) node { return secretsFolder{s, store.CalendarLink, "CalendarLinks"} }, true},
		{"Sessions", func(s *scope) node { return sessionsFolder{s, "Account"} }, true},
	}
}

// accountFolder is "/dav/Account/".
type accountFolder struct{ fixedFolder }

// hasMeaning reports whether a name without an extension is a member's: any other may be
// the temporary file of a program that saves me.json.
func (n accountFolder) hasMeaning(ctx context.Context, name string) (bool, error) {
	_, err := n.child(ctx, name)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// meFile is me.json: who I am. What is PUT may hold passwords, so that GET
// never gives those bytes.
type meFile struct{ formFile }

func (n meFile) putRules() putRules {
	return putRules{existing: true, secret: true, password: true}
}

func (n meFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return n.engine.Accounts.PutMe(ctx, req, in.data)
}

func (n meFile) describe(a *answer, _ *engine.Outcome) { a.locate("dav", "Account", "me.json") }

// secretsFolder is Account/AppPasswords/ or Account/CalendarLinks/.
type secretsFolder struct {
	*scope
	kind store.SecretKind
	name string
}

func (n secretsFolder) home() []string { return []string{"dav", "Account", n.name} }

func (n secretsFolder) stat(context.Context) (*info, error) { return folderInfo(n.name, n.since), nil }

func (n secretsFolder) child(_ context.Context, name string) (node, error) {
	if at := special(n.scope, n, name); at != nil {
		return at, nil
	}
	name = norm.NFC.String(name)
	stem, ext := splitName(name)
	file := secretFile{secrets: n, label: stem, illegal: legalName(name)}
	if ext != ".json" {
		file.illegal = errs.New(errs.NameNotAllowed, "A file here has the name of a device or program and ends with .json.")
	}
	return file, nil
}

func (n secretsFolder) list(ctx context.Context) ([]*info, error) { return listAll(ctx, n) }

func (n secretsFolder) hasMeaning(context.Context, string) (bool, error) { return false, nil }

func (n secretsFolder) filters() []string { return nil }

// page cuts the page out of all: they are few and held in memory.
func (n secretsFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	all, err := n.engine.Accounts.Secrets(ctx, n.by, n.kind)
	for i := range all {
		all[i] = *n.shown(&all[i])
	}
	return cutPage(all, f), err
}

// shown returns the form that the caller is shown.
func (n secretsFolder) shown(r *engine.Resource) *engine.Resource {
	return n.withNewSecret(append(n.home(), r.Name+".json"), r)
}

// cutPage returns the page that the filter asks for of what is held whole.
func cutPage(all []engine.Resource, f engine.Filter) []engine.Resource {
	for len(all) > 0 && all[0].Seq <= f.After {
		all = all[1:]
	}
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	return all
}

func (n secretsFolder) listed(r *engine.Resource) *info { return formInfo(r.Name+".json", r) }

// secretFile is AppPasswords/<label>.json or CalendarLinks/<label>.json: a PUT
// makes one and answers what is secret in it, this once.
type secretFile struct {
	secrets secretsFolder
	label   string
	illegal error
}

func (n secretFile) load(ctx context.Context) (*engine.Resource, error) {
	if n.illegal != nil {
		return nil, absent()
	}
	r, err := n.secrets.engine.Accounts.Secret(ctx, n.secrets.by, n.secrets.kind, n.label)
	if err != nil {
		return nil, err
	}
	return n.secrets.shown(r), nil
}

func (n secretFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return formInfo(r.Name+".json", r), nil
}

func (n secretFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return formInfo(r.Name+".json", r), contentOf(r.Form), nil
}

func (n secretFile) putRules() putRules {
	return putRules{secret: true, bodyOptional: true, illegal: n.illegal}
}

func (n secretFile) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	if err := n.scopeThere(ctx, in.data); err != nil {
		return nil, err
	}
	return n.secrets.engine.Accounts.PutSecret(ctx, req, n.secrets.kind, n.label, in.data)
}

func (n secretFile) describe(a *answer, o *engine.Outcome) {
	a.locate(append(n.secrets.home(), o.Name+".json")...)
	a.add("Content-Type", typeJSON)
	a.add("Cache-Control", "no-store")
	a.Body = o.Once
}

func (n secretFile) options() []string { return nil }

func (n secretFile) remove(ctx context.Context, req engine.Request, _ query) error {
	if n.illegal != nil {
		return absent()
	}
	return n.secrets.engine.Accounts.DeleteSecret(ctx, req, n.secrets.kind, n.label)
}

func (n meFile) lockTarget() engine.Target { return engine.Target{Kind: engine.OnMe} }

func (n secretFile) lockTarget() engine.Target {
	t := engine.Target{Kind: engine.OnSecret, Secret: n.secrets.kind}
	if n.illegal == nil {
		t.Name = n.label
	}
	return t
}

func (n meFile) lockArea() store.LockKey        { return store.LocksOnAccounts }
func (n secretsFolder) lockArea() store.LockKey { return store.LocksOnSecrets }
func (n secretFile) lockArea() store.LockKey    { return store.LocksOnSecrets }
