package account

import (
	"context"
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// auditedSecret returns what the audit log calls it when a secret is made and
// revoked.
func auditedSecret(kind store.SecretKind) (made, revoked audit.Action) {
	if kind == store.CalendarLink {
		return audit.CalendarLink, audit.CalendarLinkEnd
	}
	return audit.AppPassword, audit.AppPasswordEnd
}

const mostSecrets = 100 // of a user and a kind

// UseAppPassword reports whether the secret is an app password of the user that has not
// expired, and which, and notes that it is used. It is asked on every log-in and answers
// from memory.
func (e *Accounts) UseAppPassword(user identity.ID, secret string) (of identity.AppPassword, ok bool) {
	s := e.Table().AppPassword(user, secret)
	if s == nil || s.expired(e.maker.Clock.Now()) {
		return of, false
	}
	e.NoteUse(store.AppPassword, s)
	return identity.AppPassword{Label: s.Label, Scope: s.Scope}, true
}

// AppPasswordOwner returns whose app password the secret is, and which, and notes that
// it is used. It is 0 if the secret is nobody's or has expired, or if
// its user is disabled. It is asked on every log-in and answers from memory.
func (e *Accounts) AppPasswordOwner(secret string) (identity.ID, identity.AppPassword) {
	t := e.Table()
	s := t.AppPasswordOf(secret)
	if s == nil || s.expired(e.maker.Clock.Now()) || !t.directory.Active(s.UserID) {
		return 0, identity.AppPassword{}
	}
	e.NoteUse(store.AppPassword, s)
	return s.UserID, identity.AppPassword{Label: s.Label, Scope: s.Scope}
}

// NoteUse notes that a secret is used and has it written, which no request waits
// for. Where too much waits to be written it is left to a later use.
func (e *Accounts) NoteUse(kind store.SecretKind, s *HeldSecret) {
	now := e.maker.Clock.Now()
	if !s.Use(now) {
		return
	}
	id, secret := s.ID, s.SHA256
	taken := e.log.Later(func(tx store.Tx) error {
		if err := tx.Write().Parties().TouchSecret(kind, id, now); err != nil {
			if errs.Is(err, errs.NotFound) {
				return nil // revoked meanwhile
			}
			return err
		}
		tx.AfterCommit(func() {
			if current := e.Table().SecretOf(kind, secret); current != nil {
				current.Wrote(now)
			}
		})
		return nil
	})
	if !taken {
		s.NotWritten()
	}
}

func secretResource(kind store.SecretKind, s *HeldSecret) *change.Resource {
	form, used := s.Form()
	modified, tag := s.Created, int64(0)
	if !used.IsZero() {
		modified, tag = used, used.UnixMilli()
	}
	definition := fmt.Sprintf(`"a%d.`, s.ID)
	return &change.Resource{
		Name: s.Label, Seq: s.ID, Form: form, FormETag: fmt.Sprintf(`%s%d"`, definition, tag),
		Definition: definition, Created: s.Created, Modified: modified, Own: true, Lock: store.SecretKey(kind, s.ID),
	}
}

func secretVersion(kind store.SecretKind, s *HeldSecret) change.Version {
	if s == nil {
		return change.Version{}
	}
	r := secretResource(kind, s)
	return change.Version{Exists: true, ETag: r.FormETag, Definition: r.Definition, Modified: r.Modified}
}

// Secrets returns the caller's secrets of a kind in order of creation.
func (e *Accounts) Secrets(_ context.Context, by identity.Principal, kind store.SecretKind) ([]change.Resource, error) {
	var out []change.Resource
	for _, s := range e.Table().Secrets(kind, by.ID) {
		out = append(out, *secretResource(kind, s))
	}
	return out, nil
}

// Secret returns the caller's secret of that label. Errors: errs.NotFound if
// there is none.
func (e *Accounts) Secret(_ context.Context, by identity.Principal, kind store.SecretKind, label string) (*change.Resource, error) {
	s := e.Table().Secret(kind, by.ID, label)
	if s == nil {
		return nil, change.Absent(string(kind))
	}
	return secretResource(kind, s), nil
}

// PutSecret makes a secret. The outcome has the form with what is secret, this
// once. An existing one cannot be changed: errs.NameTaken.
func (e *Accounts) PutSecret(ctx context.Context, req change.Request, kind store.SecretKind, label string, body []byte) (*change.Outcome, error) {
	if err := ownPasswordOnly(req.By); err != nil {
		return nil, err
	}
	given, err := readSecret(body, kind, req.Now, e.zoneOf(req.By.ID))
	if err == nil {
		err = e.scopeOfUse(req.By, given.Scope)
	}
	if err != nil {
		return nil, err
	}
	secret := NewSecret(kind)
	s := &store.Secret{UserID: req.By.ID, Label: label, SHA256: SecretSum(secret), Created: req.Now, Scope: given.Scope, Expires: given.Expires, TellAt: TellAt(given.Expires, req.Now)}
	out := &change.Outcome{Created: true, Changed: true, Name: label, Modified: req.Now}
	err = e.maker.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		if t.ByID(req.By.ID) == nil {
			return change.Absent("user")
		}
		old := t.Secret(kind, req.By.ID, label)
		if err := e.maker.CheckRequest(tx.Locks(), req, secretVersion(kind, old), secretScope(kind, old)); err != nil {
			return err
		}
		if old == nil && len(t.Secrets(kind, req.By.ID)) >= mostSecrets {
			return errs.New(errs.TooMany, "You have %d %ss, which is the limit; revoke some first.", mostSecrets, kind)
		}
		if err := tx.Write().Parties().InsertSecret(kind, s); err != nil {
			return err
		}
		made, _ := auditedSecret(kind)
		if err := e.log.Write(ctx, tx, audit.NewRow(req.By, req.Now, made, string(req.By.Name)+"/"+label, limitsOf(s))); err != nil {
			return err
		}
		tx.AfterCommit(func() { e.due(s.TellAt) })
		if err := e.Refresh(tx); err != nil {
			return err
		}
		return e.maker.Finish(tx, req, out)
	})
	if err != nil {
		return nil, err
	}
	out.Form, out.Once = e.newForm(s, kind, secret)
	return out, nil
}

// scopeOfUse refuses a folder of documents that the caller cannot see: such a password would
// open nothing. A folder within one's own may be made later.
func (e *Accounts) scopeOfUse(by identity.Principal, scope identity.Scope) error {
	name := scope.Documents()
	if name == "" || by.Admin() {
		return nil
	}
	if owner := e.Table().Directory().ByName(identity.Name(name)); owner != nil && by.In(owner.ID) {
		return nil
	}
	return errs.InvalidDocument([]errs.Fault{{Pointer: "/scope", Code: errs.CodeNotFound, Detail: fmt.Sprintf("there is no folder Documents/%s that you can see", name)}})
}

// readSecret reads the document of a new secret: nothing needs to be said in
// it. What the server says of a secret is ignored, so that the form of another
// one will do (docs/contract/drive.md#read-only-fields); the secret itself is
// not to be chosen.
func readSecret(body []byte, kind store.SecretKind, now time.Time, zone *time.Location) (s store.Secret, err error) {
	s.Scope = identity.ScopeAll
	node, err := document.Parse(body, false)
	if err != nil {
		return s, err
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	if !root.Is(document.Object) {
		return s, faults.Err()
	}
	if kind != store.AppPassword {
		root.Only("label", "created", "lastUsed")
		return s, faults.Err()
	}
	root.Only("label", "created", "lastUsed", "scope", "expires")
	if v := root.Get("scope"); v.Given() {
		if text, is := v.Str(); is {
			scope, ok := identity.ParseScope(text)
			if !ok {
				v.Fail(errs.CodeFormat, "is not all, read, or the path of a folder in Documents/ or Workflow/, such as Documents/core")
			}
			s.Scope = scope
		}
	}
	s.Expires = readExpiry(root, now, zone)
	return s, faults.Err()
}

// readExpiry reads when a new app password expires, zero for never. A date without a zone
// is one of the caller's. The form of one that has expired gives the new one as long as
// that one had.
func readExpiry(root document.Value, now time.Time, zone *time.Location) time.Time {
	v := root.Get("expires")
	if !v.Given() {
		return time.Time{}
	}
	text, is := v.Str()
	if !is {
		return time.Time{}
	}
	at, ok := clock.ParseMoment(text, zone)
	if !ok {
		v.Fail(errs.CodeFormat, "is not %s", clock.InstantForm)
		return time.Time{}
	}
	if at.After(now) {
		return at
	}
	if created := root.Get("created"); created.Given() && created.Node.Kind == document.String {
		if began, ok := clock.ParseInstant(created.Node.Text); ok && at.After(began) {
			return now.Add(at.Sub(began))
		}
	}
	v.Fail(errs.CodeRange, "is past; an app password that has expired logs nobody in")
	return time.Time{}
}

// TellAt returns when after an instant the owner of an app password is told next that it
// ends: a week and a day before. It is zero if that is past, or if it does not end.
func TellAt(expires, after time.Time) time.Time {
	if expires.IsZero() {
		return time.Time{}
	}
	for _, before := range [...]time.Duration{7 * 24 * time.Hour, 24 * time.Hour} {
		if at := expires.Add(-before); at.After(after) {
			return at
		}
	}
	return time.Time{}
}

// limitsOf says for the audit log what bounds a secret, "" if nothing does.
func limitsOf(s *store.Secret) string {
	var words []string
	if s.Scope != "" && s.Scope != identity.ScopeAll {
		words = append(words, "scope "+string(s.Scope))
	}
	if !s.Expires.IsZero() {
		words = append(words, "expires "+s.Expires.UTC().Format(time.RFC3339))
	}
	return strings.Join(words, ", ")
}

// revokeAll revokes all secrets of a user, within a unit.
func (e *Accounts) revokeAll(ctx context.Context, tx store.Tx, req change.Request, of *store.Party) error {
	t, err := Read(tx)
	if err != nil {
		return err
	}
	for _, kind := range store.SecretKinds() {
		for _, s := range t.Secrets(kind, of.ID) {
			if err := e.revoke(ctx, tx, req, secretOf{kind, s, of.Name}); err != nil {
				return err
			}
		}
	}
	return e.Refresh(tx)
}

// secretOf is a secret of the user of that name.
type secretOf struct {
	kind store.SecretKind
	*HeldSecret
	user identity.Name
}

// revoke revokes a secret, within a unit.
func (e *Accounts) revoke(ctx context.Context, tx store.Tx, req change.Request, s secretOf) error {
	if err := tx.Write().Locks().DeleteOn(store.SecretKey(s.kind, s.ID)); err != nil {
		return err
	}
	if err := tx.Write().Parties().DeleteSecret(s.kind, s.ID); err != nil {
		return err
	}
	_, revoked := auditedSecret(s.kind)
	return e.log.Write(ctx, tx, audit.NewRow(req.By, req.Now, revoked, string(s.user)+"/"+s.Label, ""))
}

// stillLetIn says which secrets of a user let in with a new password as well, nil for none.
func stillLetIn(t *Table, of *store.Party) []string {
	passwords, links := len(t.Secrets(store.AppPassword, of.ID)), len(t.Secrets(store.CalendarLink, of.ID))
	if passwords+links == 0 {
		return nil
	}
	return []string{fmt.Sprintf(`password: app passwords (%d) and calendar links (%d) of %s still let in; {"revoke": true} ends them.`, passwords, links, of.Name)}
}

// DeleteSecret revokes a secret, at once. A device may revoke its own: to end an access
// takes no more than to have it. Errors: errs.NotFound; errs.NotAllowed for another one of a
// device.
func (e *Accounts) DeleteSecret(ctx context.Context, req change.Request, kind store.SecretKind, label string) error {
	known := e.Table().Secret(kind, req.By.ID, label)
	if known == nil {
		return change.Absent(string(kind))
	}
	its := req.By.Device && kind == store.AppPassword && known.Label == req.By.Label
	if err := ownPasswordOnly(req.By); err != nil && !its {
		return err
	}
	return e.maker.Store.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		s := t.Secret(kind, req.By.ID, label)
		if s == nil {
			return change.Absent(string(kind))
		}
		if err := e.maker.CheckRequest(tx.Locks(), req, secretVersion(kind, s), secretScope(kind, s)); err != nil {
			return err
		}
		if err := e.revoke(ctx, tx, req, secretOf{kind, s, req.By.Name}); err != nil {
			return err
		}
		return e.Refresh(tx)
	})
}
