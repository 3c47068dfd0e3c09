package account

import (
	"slices"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Change is a user or team before and after a change.
type Change struct {
	Old     *store.Party // nil if it is new
	Party   store.Party
	Created bool
	Changed bool
	Revoke  bool     // app passwords and calendar links of the user end
	Code    string   // what confirms the address that the user has asked for, to be mailed there
	Warns   []string // what who asks for it is warned of
}

// Document is the document of a user or team.
type Document struct {
	Kind  identity.Kind
	Name  string
	Node  *document.Node
	Hash  string // of the password that the document has, "" for none
	Judge JudgePassword
	Zone  *time.Location // of dates that it has without one
}

// JudgePassword says what is wrong with a password that a user of those names chooses,
// or returns "". nil: any will do.
type JudgePassword func(password string, names ...string) string

// Read reads the document of a user or team: a record, changed field by field.
// newID is asked for the id of a new one.
func (t *Table) Read(doc Document, newID func() identity.ID, now time.Time) (*Change, error) {
	kind, name := doc.Kind, doc.Name
	old := t.ByName(kind, name)
	if old == nil {
		if err := mayBeCalled(kind, name); err != nil {
			return nil, err
		}
	}
	if old == nil && kind == identity.User && disablesOnly(doc.Node) {
		return nil, errs.New(errs.NotFound, "There is no user %q, so that nobody is disabled and no user is made: is the name right? flowdrive user disable, and a PUT with If-Match: *, never make a user.", name)
	}
	c := &Change{Old: old, Created: old == nil}
	if old == nil {
		c.Party = store.Party{Party: identity.Party{ID: newID(), Name: identity.Name(name), Kind: kind}, Created: now}
	} else {
		c.Party = *old
		c.Party.Members = slices.Clone(old.Members)
		c.Party.Admins = slices.Clone(old.Admins)
	}
	var faults document.Faults
	root := document.Root(doc.Node, &faults)
	if root.Is(document.Object) {
		checkIdentity(root, &c.Party, c.Created)
		if kind == identity.User {
			t.readUser(root, &c.Party, now, doc.Zone)
			root.Get("revoke").Flag(&c.Revoke)
			readOrigin(root.Get("origin"), t, &c.Party)
			if v := root.Get("password"); v.Given() {
				checkPassword(v, doc.Judge, &c.Party)
			}
			keepAdministrator(root, t, old, &c.Party)
		} else {
			readTeam(root, t.directory, &c.Party)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if old == nil && (t.directory.ByName(identity.Name(name)) != nil || identity.Fold(name) == string(identity.Everyone)) {
		return nil, errs.New(errs.NameTaken, "The name %q is in use; users and teams share one set of names.", name)
	}
	if old == nil {
		if err := t.wasName(name, 0); err != nil {
			return nil, err
		}
	}
	if kind == identity.User && root.Get("password").Node != nil {
		c.Party.Password = doc.Hash // "" if null removes it
	}
	c.Changed = c.Created || !sameParty(old, &c.Party)
	return c, nil
}

// disablesOnly reports whether a document only says that a user is disabled: whom it is about is
// there, or the name is wrong.
func disablesOnly(doc *document.Node) bool {
	return saysDisabled(doc) && len(doc.Members) == 1
}

// saysDisabled reports whether a document says that a user is disabled.
func saysDisabled(doc *document.Node) bool {
	disabled := doc.Get("disabled")
	return disabled != nil && disabled.Kind == document.Bool && disabled.Bool
}

// checkIdentity refuses identifying fields that differ from what is stored.
func checkIdentity(root document.Value, p *store.Party, created bool) {
	if created {
		return
	}
	if v := root.Get("name"); v.Given() && (v.Node.Kind != document.String || identity.Fold(v.Node.Text) != identity.Fold(string(p.Name))) {
		v.Fail(errs.CodeReadOnly, "is read-only and must stay %q", p.Name)
	}
	if v := root.Get("id"); v.Given() {
		if id, ok := v.Int(1, 1<<53-1); ok && identity.ID(id) != p.ID {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %d", p.ID)
		}
	}
	if v := root.Get("created"); v.Given() {
		if s, ok := v.Str(); ok && s != p.Created.UTC().Format(time.RFC3339) {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %s", p.Created.UTC().Format(time.RFC3339))
		}
	}
}

func (t *Table) readUser(root document.Value, p *store.Party, now time.Time, zone *time.Location) {
	root.Only("name", "id", "fullName", "email", "admin", "disabled", "deputy", "secondFactor", "origin", "quota", "password", "revoke", "created", "modified")
	t.readFullName(root.Get("fullName"), p, true)
	before := p.Email
	if readEmail(root.Get("email"), &p.Email); p.Email != before {
		forgetPending(&p.Pending)
	}
	root.Get("admin").Flag(&p.Admin)
	root.Get("disabled").Flag(&p.Disabled)
	readDeputy(root.Get("deputy"), t.directory, p, now, zone)
	readFactor(root.Get("secondFactor"), p)
	readQuota(root.Get("quota"), &p.Quota)
}

// readQuota reads how many bytes a user may store: null is what the settings say.
func readQuota(v document.Value, quota *int64) {
	switch {
	case v.Node == nil:
	case v.Node.Kind == document.Null:
		*quota = 0
	default:
		if n, ok := v.Int(1, 1<<53-1); ok {
			*quota = n
		}
	}
}

// readFactor reads whether a user keeps the second factor: false or null takes it away, and
// true is what the form of a user says who has one.
func readFactor(v document.Value, p *store.Party) {
	has := p.Factor != ""
	if v.Node != nil && v.Node.Kind == document.Null {
		has = false
	}
	v.Flag(&has)
	switch {
	case has && p.Factor == "":
		v.Fail(errs.CodeReadOnly, "can only be taken away here: users set theirs up at /account/totp")
	case !has:
		p.Factor = ""
	}
}

// keepAdministrator refuses to demote or disable the last administrator.
func keepAdministrator(root document.Value, t *Table, old, p *store.Party) {
	if !t.LastAdministrator(old) {
		return
	}
	const detail = "is not possible for the last enabled administrator; make another user an administrator first"
	if !p.Admin {
		root.Get("admin").Fail(errs.CodeConflict, detail)
	}
	if p.Disabled {
		root.Get("disabled").Fail(errs.CodeConflict, detail)
	}
}

func readTeam(root document.Value, d *identity.Directory, p *store.Party) {
	root.Only("name", "id", "members", "admins", "created", "modified")
	readNames(root.Get("members"), d, &p.Members)
	readNames(root.Get("admins"), d, &p.Admins)
	if p.Name == identity.Everyone && len(p.Members) > 0 {
		root.Get("members").Fail(errs.CodeReadOnly, "cannot be given: everyone belongs to everyone")
	}
	if p.Name == identity.Everyone && len(p.Admins) > 0 {
		root.Get("admins").Fail(errs.CodeReadOnly, "cannot be given: only administrators act for everyone")
	}
	if cycle := d.TeamCycle(p.Name, p.Members); cycle != nil {
		root.Get("members").Fail(errs.CodeConflict, "would make the team contain itself: %s", chain(cycle))
	}
}
