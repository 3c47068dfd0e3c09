package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"flowdrive/document"
	"flowdrive/errs"
	"flowdrive/identity"
)

// partyTable is all users and teams, as they are kept in memory, with their
// secrets. It is never changed once made.
type partyTable struct {
	directory *identity.Directory
	byID      map[identity.ID]*Party
	secrets   map[SecretKind]*secretTable
	watchers  map[string][]string // of a route, by its folded name: the active users who watch it, by name
	modified  time.Time           // of whatever changed last
}

func newPartyTable(parties []Party) *partyTable {
	t := &partyTable{byID: make(map[identity.ID]*Party, len(parties)), secrets: map[SecretKind]*secretTable{}}
	for _, kind := range secretKinds() {
		t.secrets[kind] = newSecretTable(nil)
	}
	plain := make([]identity.Party, len(parties))
	for i := range parties {
		plain[i] = parties[i].Party
		t.byID[parties[i].ID] = &parties[i]
		if m := parties[i].Modified; m.After(t.modified) {
			t.modified = m
		}
	}
	t.directory = identity.NewDirectory(plain)
	t.watchers = watchersOf(parties)
	return t
}

// byName returns the party of that name and kind, or nil.
func (t *partyTable) byName(kind identity.Kind, name string) *Party {
	p := t.directory.ByName(identity.Name(name))
	if p == nil || p.Kind != kind {
		return nil
	}
	return t.byID[p.ID]
}

// Account returns what a log-in is checked against: the user's id, its
// encoded password hash ("" for none) and whether it is disabled.
func (e *Engine) Account(name string) (id identity.ID, hash string, disabled, ok bool) {
	p := e.parties.Load().byName(identity.User, name)
	if p == nil {
		return 0, "", false, false
	}
	return p.ID, p.Password, p.Disabled, true
}

// Principal returns the acting view of a user.
func (e *Engine) Principal(id identity.ID) identity.Principal { return e.directory().Principal(id) }

// PartyID returns the id of the user or team of that name, 0 for none.
func (e *Engine) PartyID(name string) identity.ID {
	if p := e.directory().ByName(identity.Name(name)); p != nil {
		return p.ID
	}
	return 0
}

// Party returns a user or team, for administrators.
func (e *Engine) Party(_ context.Context, by identity.Principal, kind identity.Kind, name string) (*Resource, error) {
	p := e.parties.Load().byName(kind, name)
	if !by.Admin || p == nil {
		return nil, absent(string(kind))
	}
	return partyResource(p), nil
}

// Parties returns all users or all teams by id, for administrators.
func (e *Engine) Parties(_ context.Context, by identity.Principal, kind identity.Kind) ([]Resource, error) {
	if !by.Admin {
		return nil, absent("folder")
	}
	t := e.parties.Load()
	var out []Resource
	for _, p := range t.directory.Parties() {
		if p.Kind == kind {
			out = append(out, *partyResource(t.byID[p.ID]))
		}
	}
	return out, nil
}

func partyResource(p *Party) *Resource {
	return &Resource{
		Name:       string(p.Name),
		Seq:        int64(p.ID),
		Form:       partyForm(p),
		FormETag:   partyETag(p),
		Definition: partyETag(p),
		Created:    p.Created,
		Modified:   p.Modified,
		Own:        true,
	}
}

func partyETag(p *Party) string { return fmt.Sprintf(`"p%d-%d"`, p.ID, p.Revision) }

// userForm and teamForm are the complete forms (design: the drive, section
// 5); a password is never among them.
type userForm struct {
	Name     identity.Name `json:"name"`
	ID       identity.ID   `json:"id"`
	FullName string        `json:"fullName"`
	Email    string        `json:"email"`
	Admin    bool          `json:"admin"`
	Disabled bool          `json:"disabled"`
	Deputy   *deputyForm   `json:"deputy"`
	Created  string        `json:"created"`
	Modified string        `json:"modified"`
}

type teamForm struct {
	Name     identity.Name   `json:"name"`
	ID       identity.ID     `json:"id"`
	Members  []identity.Name `json:"members"`
	Admins   []identity.Name `json:"admins"`
	Created  string          `json:"created"`
	Modified string          `json:"modified"`
}

func partyForm(p *Party) []byte {
	created, modified := p.Created.UTC().Format(time.RFC3339), p.Modified.UTC().Format(time.RFC3339)
	var form any
	if p.Kind == identity.User {
		form = userForm{
			Name: p.Name, ID: p.ID, FullName: p.FullName, Email: p.Email, Admin: p.Admin, Disabled: p.Disabled,
			Deputy: formOfDeputy(p.Deputy), Created: created, Modified: modified,
		}
	} else {
		form = teamForm{Name: p.Name, ID: p.ID, Members: orEmpty(p.Members), Admins: orEmpty(p.Admins), Created: created, Modified: modified}
	}
	return document.Line(form)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// PutParty creates or changes a user or a team: a record, changed field by
// field.
func (e *Engine) PutParty(ctx context.Context, req Request, kind identity.Kind, name string, body []byte) (*Outcome, error) {
	if !req.By.Admin {
		return nil, absent("folder")
	}
	node, err := parseDocument(body, false)
	if err != nil {
		return nil, err
	}
	hash, err := e.hashGiven(kind, node)
	if err != nil {
		return nil, err
	}
	var out *Outcome
	err = e.update(ctx, func(tx Tx) error {
		t, err := readParties(tx)
		if err != nil {
			return err
		}
		change, err := e.readParty(req, t, kind, name, node, hash)
		if err != nil {
			return err
		}
		out, err = e.writeParty(ctx, tx, req, change)
		return err
	})
	return out, err
}

// hashGiven hashes the password of a user's document, "" where it has none:
// a slow thing to be done before the writer is asked.
func (e *Engine) hashGiven(kind identity.Kind, node *document.Node) (string, error) {
	password := node.Get("password")
	if kind != identity.User || password == nil || password.Kind != document.String || !passwordFits(password.Text) {
		return "", nil
	}
	hash, err := e.hash(password.Text)
	return hash, errs.Wrap("hash a password", err)
}

// passwordFits reports whether Basic can carry the password (RFC 7617).
func passwordFits(password string) bool {
	return password != "" && len(password) <= 1024 && !strings.ContainsFunc(password, unicode.IsControl)
}

func readParties(r Reader) (*partyTable, error) {
	parties, err := r.Parties()
	if err != nil {
		return nil, err
	}
	t := newPartyTable(parties)
	for _, kind := range secretKinds() {
		secrets, err := r.Secrets(kind)
		if err != nil {
			return nil, err
		}
		t.secrets[kind] = newSecretTable(secrets)
	}
	return t, nil
}

// partyChange is a user or team as it shall be.
type partyChange struct {
	old     *Party // nil where it is new
	party   Party
	created bool
	changed bool
}

func (e *Engine) readParty(req Request, t *partyTable, kind identity.Kind, name string, node *document.Node, hash string) (*partyChange, error) {
	old := t.byName(kind, name)
	if err := judge(req.If, partyVersion(old)); err != nil {
		return nil, err
	}
	if old == nil {
		if !legalWord(name) {
			return nil, errs.New(errs.NameNotAllowed, "%q is no name for a %s: use letters, digits, _ and -, at most 63, the first a letter or digit.", name, kind)
		}
	}
	c := &partyChange{old: old, created: old == nil}
	if old == nil {
		c.party = Party{Party: identity.Party{ID: identity.ID(e.newID(req)), Name: identity.Name(name), Kind: kind}, Created: req.Now}
	} else {
		c.party = *old
		c.party.Members = slices.Clone(old.Members)
		c.party.Admins = slices.Clone(old.Admins)
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	if root.Is(document.Object) {
		checkIdentity(root, &c.party, c.created)
		if kind == identity.User {
			readUser(root, t.directory, &c.party, req.Now)
			keepAdministrator(root, t, old, &c.party)
		} else {
			readTeam(root, t.directory, &c.party)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if old == nil && (t.directory.ByName(identity.Name(name)) != nil || identity.Fold(name) == string(identity.Everyone)) {
		return nil, errs.New(errs.NameTaken, "The name %q is in use; users and teams share one set of names.", name)
	}
	if kind == identity.User && root.Get("password").Node != nil {
		c.party.Password = hash // "" where null takes it away
	}
	c.changed = c.created || !sameParty(old, &c.party)
	return c, nil
}

// checkIdentity refuses identifying fields that differ from what is stored.
func checkIdentity(root document.Value, p *Party, created bool) {
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

func readUser(root document.Value, d *identity.Directory, p *Party, now time.Time) {
	root.Only("name", "id", "fullName", "email", "admin", "disabled", "deputy", "password", "created", "modified")
	readPlainText(root.Get("fullName"), &p.FullName, 200)
	readEmail(root.Get("email"), &p.Email)
	root.Get("admin").Flag(&p.Admin)
	root.Get("disabled").Flag(&p.Disabled)
	readDeputy(root.Get("deputy"), d, p, now)
	if v := root.Get("password"); v.Given() {
		checkPassword(v)
	}
}

// administers reports whether the user is an administrator who may log in.
func administers(p *Party) bool { return p != nil && p.Kind == identity.User && p.Admin && !p.Disabled }

// lastAdministrator reports whether without that user nobody could administer
// the server, which nothing but a change of its store would mend.
func lastAdministrator(t *partyTable, p *Party) bool {
	if !administers(p) {
		return false
	}
	for _, other := range t.byID {
		if other.ID != p.ID && administers(other) {
			return false
		}
	}
	return true
}

// keepAdministrator refuses to demote or disable the last administrator.
func keepAdministrator(root document.Value, t *partyTable, old, p *Party) {
	if !lastAdministrator(t, old) {
		return
	}
	const detail = "cannot be so for the last enabled administrator; make another user an administrator first"
	if !p.Admin {
		root.Get("admin").Fail(errs.CodeConflict, detail)
	}
	if p.Disabled {
		root.Get("disabled").Fail(errs.CodeConflict, detail)
	}
}

func checkPassword(v document.Value) {
	if s, ok := v.Str(); ok && !passwordFits(s) {
		v.Fail(errs.CodeRange, "must have from 1 to 1024 bytes, none of them a control character")
	}
}

func readTeam(root document.Value, d *identity.Directory, p *Party) {
	root.Only("name", "id", "members", "admins", "created", "modified")
	readNames(root.Get("members"), d, &p.Members)
	readNames(root.Get("admins"), d, &p.Admins)
	if p.Name == identity.Everyone && len(p.Members) > 0 {
		root.Get("members").Fail(errs.CodeReadOnly, "cannot be given: everyone belongs to everyone")
	}
	if p.Name == identity.Everyone && len(p.Admins) > 0 {
		root.Get("admins").Fail(errs.CodeReadOnly, "cannot be given: administrators alone act for everyone")
	}
	if cycle := d.TeamCycle(p.Name, p.Members); cycle != nil {
		root.Get("members").Fail(errs.CodeConflict, "would make the team contain itself: %s", chain(cycle))
	}
}

// chain returns the names in a row, an arrow between each two.
func chain(names []identity.Name) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return strings.Join(out, " → ")
}

// readNames reads a list of names of users and teams; null empties it.
func readNames(v document.Value, d *identity.Directory, to *[]identity.Name) {
	if v.Node == nil {
		return
	}
	if v.Node.Kind == document.Null {
		*to = nil
		return
	}
	if !v.Is(document.List) {
		return
	}
	var list []identity.Name
	for i := range v.Node.Items {
		item := v.Item(i)
		s, ok := item.Str()
		if !ok {
			continue
		}
		p := d.ByName(identity.Name(s))
		if p == nil || p.Name == identity.Everyone {
			item.Fail(errs.CodeNotFound, "%q is no user or team", s)
			continue
		}
		if !slices.Contains(list, p.Name) {
			list = append(list, p.Name)
		}
	}
	*to = list
}

func sameParty(a, b *Party) bool {
	return a.FullName == b.FullName && a.Email == b.Email && a.Admin == b.Admin && a.Disabled == b.Disabled &&
		a.Password == b.Password && a.Quiet == b.Quiet && slices.Equal(a.Watch, b.Watch) && sameDeputy(a.Deputy, b.Deputy) && slices.Equal(a.Members, b.Members) && slices.Equal(a.Admins, b.Admins)
}

func sameDeputy(a, b identity.Deputy) bool {
	return a.User == b.User && a.From.Equal(b.From) && a.To.Equal(b.To)
}

func partyVersion(p *Party) Version {
	if p == nil {
		return Version{}
	}
	return Version{Exists: true, ETag: partyETag(p), Definition: partyETag(p), Modified: p.Modified}
}

func (e *Engine) writeParty(ctx context.Context, tx Tx, req Request, c *partyChange) (*Outcome, error) {
	p := c.party
	if c.changed {
		p.Revision++
		p.Modified = req.Now
		if err := tx.PutParty(&p); err != nil {
			return nil, err
		}
		if err := e.auditParty(ctx, tx, req, c.old, &p); err != nil {
			return nil, err
		}
		if p.Disabled {
			if err := tx.DeleteLocksOf(p.ID); err != nil {
				return nil, err
			}
		}
		if err := e.refreshParties(tx); err != nil {
			return nil, err
		}
	}
	out := &Outcome{
		Created: c.created, Changed: c.changed, Name: string(p.Name),
		Form: partyForm(&p), FormETag: partyETag(&p), Modified: p.Modified,
	}
	return out, e.keep(tx, req, out)
}

// refreshParties replaces what is kept in memory, once the unit is durable.
func (e *Engine) refreshParties(tx Tx) error {
	t, err := readParties(tx)
	if err != nil {
		return err
	}
	tx.AfterCommit(func() {
		e.parties.Store(t)
		e.events.Rouse() // who listens may not any more
	})
	return nil
}
