package engine

import (
	"context"
	"net/mail"
	"strings"
	"unicode"

	"flowdrive/document"
	"flowdrive/engine/audit"
	"flowdrive/errs"
	"flowdrive/identity"
)

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
	Notify   bool          `json:"notify"`
	Watch    []string      `json:"watch"`
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
	form := meForm{Name: p.Name, FullName: p.FullName, Email: p.Email, Deputy: formOfDeputy(p.Deputy), Notify: !p.Quiet, Watch: orEmpty(p.Watch), Contexts: []contextForm{}}
	for _, id := range by.Contexts() {
		c := t.directory.ByID(id)
		form.Contexts = append(form.Contexts, contextForm{ID: c.ID, Name: c.Name, Kind: c.Kind, Admin: t.directory.Administers(by, c.ID)})
	}
	text := document.Line(form)
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
	text := document.Line(form)
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
	if _, err := e.readMe(held, req, node, ""); err != nil {
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
		change, err := e.readMe(t, req, node, hash)
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
func (e *Engine) readMe(t *partyTable, req Request, node *document.Node, hash string) (*partyChange, error) {
	old := t.byID[req.By.ID]
	c := &partyChange{old: old, party: *old}
	var faults document.Faults
	root := document.Root(node, &faults)
	if root.Is(document.Object) {
		root.Only("name", "fullName", "email", "deputy", "notify", "watch", "contexts", "password", "oldPassword")
		if v := root.Get("name"); v.Given() && (v.Node.Kind != document.String || identity.Fold(v.Node.Text) != identity.Fold(string(old.Name))) {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %q", old.Name)
		}
		readPlainText(root.Get("fullName"), &c.party.FullName, 200)
		readEmail(root.Get("email"), &c.party.Email)
		readDeputy(root.Get("deputy"), t.directory, &c.party, req.Now)
		readWishes(root.Get("notify"), &c.party.Quiet)
		e.readWatch(root.Get("watch"), req.By, &c.party.Watch)
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
	if v.Text(&text, most); text != *to && strings.ContainsFunc(text, unicode.IsControl) {
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
		e.auditRefusal(ctx, by, audit.Password, "the old password was wrong")
		return "", wrongPassword()
	case err != nil:
		if errs.Is(err, errs.TooMany) {
			e.auditRefusal(ctx, by, audit.Password, "too many failures before")
		}
		return "", err
	}
	hash, err := e.hash(password.Text)
	return hash, errs.Wrap("hash a password", err)
}

func wrongPassword() error {
	return errs.InvalidDocument([]errs.Fault{{Pointer: "/oldPassword", Code: errs.CodeConflict, Detail: "is not your password"}})
}
