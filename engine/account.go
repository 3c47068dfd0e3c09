package engine

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"net/mail"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"flowdrive/document"
	"flowdrive/errs"
	"flowdrive/identity"
)

// AppPassword is the password of a device or a program, as stored.
type AppPassword struct {
	ID       int64 // order of creation, set by the store
	UserID   identity.ID
	Label    string
	SHA256   Digest // of the secret, which nobody keeps
	Created  time.Time
	LastUsed time.Time // zero: never
}

// AccountReader reads app passwords.
type AccountReader interface {
	AppPasswords() ([]AppPassword, error) // of all users, by ID
}

// AccountWriter writes app passwords.
type AccountWriter interface {
	// InsertAppPassword sets ID. A label that the user has given already,
	// whatever its case, is errs.NameTaken.
	InsertAppPassword(p *AppPassword) error
	TouchAppPassword(id int64, used time.Time) error
	DeleteAppPassword(id int64) error
}

// appPassword is an app password as it is kept in memory.
type appPassword struct {
	AppPassword
	used  atomic.Int64 // LastUsed as stored, in Unix milliseconds; 0: never
	noted atomic.Int64 // the same, of what is on its way to the store
}

// appTable is all app passwords.
type appTable struct {
	bySecret map[Digest]*appPassword
	byUser   map[identity.ID][]*appPassword // by ID
}

func newAppTable(list []AppPassword) appTable {
	t := appTable{bySecret: make(map[Digest]*appPassword, len(list)), byUser: map[identity.ID][]*appPassword{}}
	for _, stored := range list {
		p := &appPassword{AppPassword: stored}
		if !stored.LastUsed.IsZero() {
			p.used.Store(stored.LastUsed.UnixMilli())
			p.noted.Store(stored.LastUsed.UnixMilli())
		}
		t.bySecret[p.SHA256] = p
		t.byUser[p.UserID] = append(t.byUser[p.UserID], p)
	}
	return t
}

// byLabel returns the user's app password of that label, whatever its case,
// or nil.
func (t *appTable) byLabel(user identity.ID, label string) *appPassword {
	for _, p := range t.byUser[user] {
		if identity.Fold(p.Label) == identity.Fold(label) {
			return p
		}
	}
	return nil
}

const (
	// secretPrefix lets people and scanners tell what they have found.
	secretPrefix = "fd-"
	secretBytes  = 20 // 160 random bits: nothing that can be guessed
	secretLength = len(secretPrefix) + secretBytes*8/5

	mostAppPasswords = 100       // of a user
	notedEvery       = time.Hour // how exact lastUsed is, so that few requests cause a write
)

// newSecret returns the secret of a new app password: letters and digits that
// are hard to mistake for each other.
func newSecret() string {
	var random [secretBytes]byte
	_, _ = rand.Read(random[:]) // never fails; see crypto/rand
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:])
	return secretPrefix + strings.ToLower(text)
}

// UseAppPassword reports whether the secret is an app password of the user,
// and notes that it is used. It is asked on every log-in and answers from
// memory.
func (e *Engine) UseAppPassword(user identity.ID, secret string) bool {
	if len(secret) != secretLength || !strings.HasPrefix(secret, secretPrefix) {
		return false
	}
	p := e.parties.Load().apps.bySecret[digestOf([]byte(secret))]
	if p == nil || p.UserID != user {
		return false
	}
	now := e.clock.Now()
	if noted := p.noted.Load(); now.UnixMilli()-noted >= notedEvery.Milliseconds() && p.noted.CompareAndSwap(noted, now.UnixMilli()) {
		e.noteUse(p, now)
	}
	return true
}

// noteUse has the use written, which no request waits for. Where too much
// waits to be written it is left to a later use.
func (e *Engine) noteUse(p *appPassword, now time.Time) {
	id, secret := p.ID, p.SHA256
	taken := e.background.add(func(tx Tx) error {
		if err := tx.TouchAppPassword(id, now); err != nil {
			if errs.Is(err, errs.NotFound) {
				return nil // revoked meanwhile
			}
			return err
		}
		tx.AfterCommit(func() {
			if current := e.parties.Load().apps.bySecret[secret]; current != nil {
				current.used.Store(now.UnixMilli())
			}
		})
		return nil
	})
	if !taken {
		p.noted.Store(p.used.Load())
	}
}

// appPasswordForm is the complete form of an app password, without its
// secret but in the answer that makes it.
type appPasswordForm struct {
	Label    string  `json:"label"`
	Created  string  `json:"created"`
	LastUsed *string `json:"lastUsed"`
	Secret   string  `json:"secret,omitempty"`
}

func (p *appPassword) resource() *Resource {
	form := appPasswordForm{Label: p.Label, Created: p.Created.UTC().Format(time.RFC3339)}
	modified := p.Created
	used := p.used.Load()
	if used != 0 {
		modified = time.UnixMilli(used).UTC()
		form.LastUsed = new(modified.Format(time.RFC3339))
	}
	definition := fmt.Sprintf(`"a%d.`, p.ID)
	return &Resource{
		Name: p.Label, Seq: p.ID, Form: mustJSON(form), FormETag: fmt.Sprintf(`%s%d"`, definition, used),
		Definition: definition, Created: p.Created, Modified: modified, Own: true,
	}
}

func (p *appPassword) version() Version {
	if p == nil {
		return Version{}
	}
	r := p.resource()
	return Version{Exists: true, ETag: r.FormETag, Definition: r.Definition, Modified: r.Modified}
}

// AppPasswords returns the caller's app passwords in order of creation.
func (e *Engine) AppPasswords(_ context.Context, by identity.Principal) ([]Resource, error) {
	var out []Resource
	for _, p := range e.parties.Load().apps.byUser[by.ID] {
		out = append(out, *p.resource())
	}
	return out, nil
}

// AppPassword returns the caller's app password of that label.
func (e *Engine) AppPassword(_ context.Context, by identity.Principal, label string) (*Resource, error) {
	p := e.parties.Load().apps.byLabel(by.ID, label)
	if p == nil {
		return nil, absent("app password")
	}
	return p.resource(), nil
}

// PutAppPassword makes an app password. The outcome has the form with the
// secret, this once. An existing one cannot be changed: errs.NameTaken.
func (e *Engine) PutAppPassword(ctx context.Context, req Request, label string, body []byte) (*Outcome, error) {
	if err := ownPasswordOnly(req.By); err != nil {
		return nil, err
	}
	if err := readAppPassword(label, body); err != nil {
		return nil, err
	}
	secret := newSecret()
	p := &AppPassword{UserID: req.By.ID, Label: label, SHA256: digestOf([]byte(secret)), Created: req.Now}
	err := e.update(ctx, func(tx Tx) error {
		t, err := readParties(tx)
		if err != nil {
			return err
		}
		if t.byID[req.By.ID] == nil {
			return absent("user")
		}
		if err := judge(req.If, t.apps.byLabel(req.By.ID, label).version()); err != nil {
			return err
		}
		if t.apps.byLabel(req.By.ID, label) == nil && len(t.apps.byUser[req.By.ID]) >= mostAppPasswords {
			return errs.New(errs.TooMany, "You have %d app passwords, and there can be no more; revoke some first.", mostAppPasswords)
		}
		if err := tx.InsertAppPassword(p); err != nil {
			return err
		}
		if err := e.audit(ctx, tx, req, AuditAppPassword, string(req.By.Name)+"/"+label, ""); err != nil {
			return err
		}
		if err := e.refreshParties(tx); err != nil {
			return err
		}
		return undone(req)
	})
	if err != nil {
		return nil, err
	}
	form := appPasswordForm{Label: label, Created: p.Created.UTC().Format(time.RFC3339)}
	out := &Outcome{Created: true, Changed: true, Name: label, Form: mustJSON(form), Modified: req.Now}
	form.Secret = secret
	out.Once = mustJSON(form)
	return out, nil
}

// readAppPassword reads the document of a new app password: nothing needs to
// be said in it.
func readAppPassword(label string, body []byte) error {
	node, err := parseDocument(body, false)
	if err != nil {
		return err
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	if root.Is(document.Object) {
		root.Only("label")
		if v := root.Get("label"); v.Given() {
			if s, ok := v.Str(); ok && s != label {
				v.Fail(errs.CodeConflict, "must be %q, as the file is called", label)
			}
		}
	}
	return faults.Err()
}

// DeleteAppPassword revokes an app password, at once.
func (e *Engine) DeleteAppPassword(ctx context.Context, req Request, label string) error {
	if e.parties.Load().apps.byLabel(req.By.ID, label) == nil {
		return absent("app password")
	}
	if err := ownPasswordOnly(req.By); err != nil {
		return err
	}
	return e.store.Update(ctx, func(tx Tx) error {
		t, err := readParties(tx)
		if err != nil {
			return err
		}
		p := t.apps.byLabel(req.By.ID, label)
		if p == nil {
			return absent("app password")
		}
		if err := judge(req.If, p.version()); err != nil {
			return err
		}
		if err := tx.DeleteAppPassword(p.ID); err != nil {
			return err
		}
		if err := e.audit(ctx, tx, req, AuditAppPasswordEnd, string(req.By.Name)+"/"+p.Label, ""); err != nil {
			return err
		}
		return e.refreshParties(tx)
	})
}

// ownPasswordOnly keeps a device from changing the account: who finds its
// password can be shut out by revoking that one.
func ownPasswordOnly(by identity.Principal) error {
	if by.Device {
		return errs.New(errs.NotAllowed, "You are logged in by an app password, which cannot change the account; log in by your own password.")
	}
	return nil
}

// meForm is the complete form of me.json (design: the drive, section 5).
type meForm struct {
	Name     identity.Name `json:"name"`
	FullName string        `json:"fullName"`
	Email    string        `json:"email"`
	Deputy   *deputyForm   `json:"deputy"`
	Contexts []contextForm `json:"contexts"`
}

type contextForm struct {
	ID    identity.ID   `json:"id"`
	Name  identity.Name `json:"name"`
	Kind  identity.Kind `json:"kind"`
	Admin bool          `json:"admin"`
}

// Me returns who the caller is.
func (e *Engine) Me(_ context.Context, by identity.Principal) (*Resource, error) {
	t := e.parties.Load()
	if t.byID[by.ID] == nil {
		return nil, absent("user")
	}
	return t.me(by.ID), nil
}

// me returns me.json of the user. It changes with the teams as well, so its
// ETag is of its bytes.
func (t *partyTable) me(id identity.ID) *Resource {
	p, by := t.byID[id], t.directory.Principal(id)
	form := meForm{Name: p.Name, FullName: p.FullName, Email: p.Email, Deputy: formOfDeputy(p.Deputy), Contexts: []contextForm{}}
	for _, id := range by.Contexts() {
		c := t.directory.ByID(id)
		form.Contexts = append(form.Contexts, contextForm{ID: c.ID, Name: c.Name, Kind: c.Kind, Admin: t.directory.Administers(by, c.ID)})
	}
	text := mustJSON(form)
	return &Resource{Name: "me", Form: text, FormETag: sourceETag(text), Created: p.Created, Modified: t.modified, Own: true}
}

// peopleForm is people.json: the names that one may write into roles.
type peopleForm struct {
	Users []personForm `json:"users"`
	Teams []teamName   `json:"teams"`
}

type personForm struct {
	Name     identity.Name `json:"name"`
	FullName string        `json:"fullName"`
}

type teamName struct {
	Name identity.Name `json:"name"`
}

// People returns the names of all users who are not disabled, and of all
// teams, in order of creation.
func (e *Engine) People(context.Context, identity.Principal) (*Resource, error) {
	t := e.parties.Load()
	form := peopleForm{Users: []personForm{}, Teams: []teamName{}}
	for _, p := range t.directory.Parties() {
		switch {
		case p.Kind == identity.Team:
			form.Teams = append(form.Teams, teamName{p.Name})
		case !p.Disabled:
			form.Users = append(form.Users, personForm{p.Name, p.FullName})
		}
	}
	text := mustJSON(form)
	return &Resource{Name: "people", Form: text, FormETag: sourceETag(text), Modified: t.modified, Own: true}, nil
}

// PutMe changes what a user may change of itself: a record, changed field by
// field. A new password needs the old one, which is checked as a log-in is:
// guessing here is no faster than there.
func (e *Engine) PutMe(ctx context.Context, req Request, body []byte) (*Outcome, error) {
	if err := ownPasswordOnly(req.By); err != nil {
		return nil, err
	}
	held := e.parties.Load()
	if held.byID[req.By.ID] == nil {
		return nil, absent("user")
	}
	if err := judge(req.If, meVersion(held, req.By.ID)); err != nil {
		return nil, err
	}
	node, err := parseDocument(body, false)
	if err != nil {
		return nil, err
	}
	if _, err := readMe(held, req, node, ""); err != nil {
		return nil, err
	}
	hash, err := e.newPassword(ctx, req.By, node)
	if err != nil {
		return nil, err
	}
	var out *Outcome
	err = e.update(ctx, func(tx Tx) error {
		t, err := readParties(tx)
		if err != nil {
			return err
		}
		p := t.byID[req.By.ID]
		if p == nil {
			return absent("user")
		}
		if err := judge(req.If, meVersion(t, p.ID)); err != nil {
			return err
		}
		if hash != "" && p.Password != held.byID[p.ID].Password {
			return wrongPassword() // it was changed while the old one was checked
		}
		change, err := readMe(t, req, node, hash)
		if err != nil {
			return err
		}
		if _, err = e.writeParty(ctx, tx, Request{By: req.By, Now: req.Now}, change); err != nil {
			return err
		}
		if t, err = readParties(tx); err != nil {
			return err
		}
		me := t.me(p.ID)
		out = &Outcome{Changed: change.changed, Name: me.Name, Form: me.Form, FormETag: me.FormETag, Modified: me.Modified}
		return undone(req)
	})
	return out, err
}

func meVersion(t *partyTable, id identity.ID) Version {
	me := t.me(id)
	return Version{Exists: true, ETag: me.FormETag, Modified: me.Modified}
}

// readMe reads the document of me.json; hash is of the new password, "" for
// none.
func readMe(t *partyTable, req Request, node *document.Node, hash string) (*partyChange, error) {
	old := t.byID[req.By.ID]
	c := &partyChange{old: old, party: *old}
	var faults document.Faults
	root := document.Root(node, &faults)
	if root.Is(document.Object) {
		root.Only("name", "fullName", "email", "deputy", "contexts", "password", "oldPassword")
		if v := root.Get("name"); v.Given() && (v.Node.Kind != document.String || identity.Fold(v.Node.Text) != identity.Fold(string(old.Name))) {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %q", old.Name)
		}
		readPlainText(root.Get("fullName"), &c.party.FullName, 200)
		readEmail(root.Get("email"), &c.party.Email)
		readDeputy(root.Get("deputy"), t.directory, &c.party, req.Now)
		if v := root.Get("password"); v.Node != nil {
			checkPassword(v)
			root.Get("oldPassword").Str()
		} else if root.Get("oldPassword").Given() {
			v.Fail(errs.CodeRequired, "is required where oldPassword is given: the new password")
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if hash != "" {
		c.party.Password = hash
	}
	c.changed = !sameParty(old, &c.party)
	return c, nil
}

// readPlainText reads an optional text of one line.
func readPlainText(v document.Value, to *string, most int) {
	text := *to
	if readText(v, &text, most); text != *to && strings.ContainsFunc(text, unicode.IsControl) {
		v.Fail(errs.CodeFormat, "must have no control characters")
		return
	}
	*to = text
}

// readEmail reads an optional address (RFC 5322, addr-spec).
func readEmail(v document.Value, to *string) {
	text := *to
	if readPlainText(v, &text, 254); text != *to && text != "" {
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			v.Fail(errs.CodeFormat, "%q is no e-mail address", text)
			return
		}
	}
	*to = text
}

// newPassword checks the old password and hashes the new one, "" where the
// document has none: slow things, done before the writer is asked.
func (e *Engine) newPassword(ctx context.Context, by identity.Principal, node *document.Node) (string, error) {
	password := node.Get("password")
	if password == nil {
		return "", nil
	}
	switch err := e.check(ctx, by.Name, node.Get("oldPassword").Text); {
	case errs.Is(err, errs.LogIn):
		e.auditRefusal(ctx, by, AuditPassword, "the old password was wrong")
		return "", wrongPassword()
	case err != nil:
		if errs.Is(err, errs.TooMany) {
			e.auditRefusal(ctx, by, AuditPassword, "too many failures before")
		}
		return "", err
	}
	hash, err := e.hash(password.Text)
	return hash, errs.Wrap("hash a password", err)
}

func wrongPassword() error {
	return errs.InvalidDocument([]errs.Fault{{Pointer: "/oldPassword", Code: errs.CodeConflict, Detail: "is not your password"}})
}
