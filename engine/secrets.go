package engine

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"flowdrive/document"
	"flowdrive/engine/audit"
	"flowdrive/errs"
	"flowdrive/identity"
)

// SecretKind is what a secret opens.
type SecretKind string

// The kinds of secrets.
const (
	AppPassword  SecretKind = "app password"  // logs a device or program in
	CalendarLink SecretKind = "calendar link" // is the address of the user's calendar
)

// secretKinds are all kinds there are.
func secretKinds() []SecretKind { return []SecretKind{AppPassword, CalendarLink} }

// audited returns what the audit log calls it when one is made and revoked.
func (k SecretKind) audited() (made, revoked audit.Action) {
	if k == CalendarLink {
		return audit.CalendarLink, audit.CalendarLinkEnd
	}
	return audit.AppPassword, audit.AppPasswordEnd
}

// Secret is what a user has made for a device or a program, as stored. It is
// random, so that nobody needs to keep it but who uses it.
type Secret struct {
	ID       int64 // order of creation, set by the store
	UserID   identity.ID
	Label    string
	SHA256   Digest // of the secret itself
	Created  time.Time
	LastUsed time.Time // zero: never
}

// AccountReader reads the secrets of users.
type AccountReader interface {
	Secrets(kind SecretKind) ([]Secret, error) // of all users, by ID
}

// AccountWriter writes the secrets of users.
type AccountWriter interface {
	// InsertSecret sets ID. A label that the user has given one of the kind
	// already, whatever its case, is errs.NameTaken.
	InsertSecret(kind SecretKind, s *Secret) error
	TouchSecret(kind SecretKind, id int64, used time.Time) error
	DeleteSecret(kind SecretKind, id int64) error
}

// heldSecret is a secret as it is kept in memory.
type heldSecret struct {
	Secret
	used  atomic.Int64 // LastUsed as stored, in Unix milliseconds; 0: never
	noted atomic.Int64 // the same, of what is on its way to the store
}

// secretTable is all secrets of a kind.
type secretTable struct {
	bySecret map[Digest]*heldSecret
	byUser   map[identity.ID][]*heldSecret // by ID
}

func newSecretTable(list []Secret) *secretTable {
	t := &secretTable{bySecret: make(map[Digest]*heldSecret, len(list)), byUser: map[identity.ID][]*heldSecret{}}
	for _, stored := range list {
		s := &heldSecret{Secret: stored}
		if !stored.LastUsed.IsZero() {
			s.used.Store(stored.LastUsed.UnixMilli())
			s.noted.Store(stored.LastUsed.UnixMilli())
		}
		t.bySecret[s.SHA256] = s
		t.byUser[s.UserID] = append(t.byUser[s.UserID], s)
	}
	return t
}

// byLabel returns the user's secret of that label, whatever its case, or nil.
func (t *secretTable) byLabel(user identity.ID, label string) *heldSecret {
	for _, s := range t.byUser[user] {
		if identity.Fold(s.Label) == identity.Fold(label) {
			return s
		}
	}
	return nil
}

const (
	// secretPrefix lets people and scanners tell what they have found.
	secretPrefix = "fd-"
	randomBytes  = 20 // 160 random bits: nothing that can be guessed
	randomLength = randomBytes * 8 / 5

	mostSecrets = 100       // of a user and a kind
	notedEvery  = time.Hour // how exact lastUsed is, so that few requests cause a write
)

// newSecret returns a new secret: letters and digits that are hard to mistake
// for each other.
func newSecret(kind SecretKind) string {
	var random [randomBytes]byte
	_, _ = rand.Read(random[:]) // never fails; see crypto/rand
	text := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
	if kind == AppPassword {
		text = secretPrefix + text
	}
	return text
}

// UseAppPassword reports whether the secret is an app password of the user,
// and notes that it is used. It is asked on every log-in and answers from
// memory.
func (e *Engine) UseAppPassword(user identity.ID, secret string) bool {
	if len(secret) != len(secretPrefix)+randomLength || !strings.HasPrefix(secret, secretPrefix) {
		return false
	}
	s := e.parties.Load().secrets[AppPassword].bySecret[digestOf([]byte(secret))]
	if s == nil || s.UserID != user {
		return false
	}
	e.use(AppPassword, s)
	return true
}

// CalendarAt returns the calendar whose secret address has the token: that of
// what is to come for whoever has made it. A token of nobody, or of a user who
// is disabled, is errs.NotFound.
func (e *Engine) CalendarAt(ctx context.Context, token string) (*Resource, error) {
	if len(token) != randomLength {
		return nil, absent("calendar")
	}
	t := e.parties.Load()
	s := t.secrets[CalendarLink].bySecret[digestOf([]byte(token))]
	if s == nil || !t.directory.Active(s.UserID) {
		return nil, absent("calendar")
	}
	e.use(CalendarLink, s)
	return e.Upcoming(ctx, t.directory.Principal(s.UserID))
}

// use notes that a secret is used.
func (e *Engine) use(kind SecretKind, s *heldSecret) {
	now := e.clock.Now()
	if noted := s.noted.Load(); now.UnixMilli()-noted >= notedEvery.Milliseconds() && s.noted.CompareAndSwap(noted, now.UnixMilli()) {
		e.noteUse(kind, s, now)
	}
}

// noteUse has the use written, which no request waits for. Where too much
// waits to be written it is left to a later use.
func (e *Engine) noteUse(kind SecretKind, s *heldSecret, now time.Time) {
	id, secret := s.ID, s.SHA256
	taken := e.background.add(func(tx Tx) error {
		if err := tx.TouchSecret(kind, id, now); err != nil {
			if errs.Is(err, errs.NotFound) {
				return nil // revoked meanwhile
			}
			return err
		}
		tx.AfterCommit(func() {
			if current := e.parties.Load().secrets[kind].bySecret[secret]; current != nil {
				current.used.Store(now.UnixMilli())
			}
		})
		return nil
	})
	if !taken {
		s.noted.Store(s.used.Load())
	}
}

// secretForm is the complete form of a secret, without what is secret in it
// but in the answer that makes it.
type secretForm struct {
	Label    string  `json:"label"`
	Created  string  `json:"created"`
	LastUsed *string `json:"lastUsed"`
	Secret   string  `json:"secret,omitempty"` // of an app password
	URL      string  `json:"url,omitempty"`    // of a calendar link
}

// tell puts in what is told once.
func (f *secretForm) tell(kind SecretKind, secret string) {
	if kind == CalendarLink {
		f.URL = "/calendar/" + secret + ".ics"
	} else {
		f.Secret = secret
	}
}

func (s *heldSecret) resource() *Resource {
	form := secretForm{Label: s.Label, Created: s.Created.UTC().Format(time.RFC3339)}
	modified := s.Created
	used := s.used.Load()
	if used != 0 {
		modified = time.UnixMilli(used).UTC()
		form.LastUsed = new(modified.Format(time.RFC3339))
	}
	definition := fmt.Sprintf(`"a%d.`, s.ID)
	return &Resource{
		Name: s.Label, Seq: s.ID, Form: document.Line(form), FormETag: fmt.Sprintf(`%s%d"`, definition, used),
		Definition: definition, Created: s.Created, Modified: modified, Own: true,
	}
}

func (s *heldSecret) version() Version {
	if s == nil {
		return Version{}
	}
	r := s.resource()
	return Version{Exists: true, ETag: r.FormETag, Definition: r.Definition, Modified: r.Modified}
}

// Secrets returns the caller's secrets of a kind in order of creation.
func (e *Engine) Secrets(_ context.Context, by identity.Principal, kind SecretKind) ([]Resource, error) {
	var out []Resource
	for _, s := range e.parties.Load().secrets[kind].byUser[by.ID] {
		out = append(out, *s.resource())
	}
	return out, nil
}

// Secret returns the caller's secret of that label.
func (e *Engine) Secret(_ context.Context, by identity.Principal, kind SecretKind, label string) (*Resource, error) {
	s := e.parties.Load().secrets[kind].byLabel(by.ID, label)
	if s == nil {
		return nil, absent(string(kind))
	}
	return s.resource(), nil
}

// PutSecret makes a secret. The outcome has the form with what is secret, this
// once. An existing one cannot be changed: errs.NameTaken.
func (e *Engine) PutSecret(ctx context.Context, req Request, kind SecretKind, label string, body []byte) (*Outcome, error) {
	if err := ownPasswordOnly(req.By); err != nil {
		return nil, err
	}
	if err := readSecret(body); err != nil {
		return nil, err
	}
	secret := newSecret(kind)
	s := &Secret{UserID: req.By.ID, Label: label, SHA256: digestOf([]byte(secret)), Created: req.Now}
	err := e.update(ctx, func(tx Tx) error {
		t, err := readParties(tx)
		if err != nil {
			return err
		}
		if t.byID[req.By.ID] == nil {
			return absent("user")
		}
		all := t.secrets[kind]
		if err := judge(req.If, all.byLabel(req.By.ID, label).version()); err != nil {
			return err
		}
		if all.byLabel(req.By.ID, label) == nil && len(all.byUser[req.By.ID]) >= mostSecrets {
			return errs.New(errs.TooMany, "You have %d %ss, and there can be no more; revoke some first.", mostSecrets, kind)
		}
		if err := tx.InsertSecret(kind, s); err != nil {
			return err
		}
		made, _ := kind.audited()
		if err := e.audit(ctx, tx, req, made, string(req.By.Name)+"/"+label, ""); err != nil {
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
	form := secretForm{Label: label, Created: s.Created.UTC().Format(time.RFC3339)}
	out := &Outcome{Created: true, Changed: true, Name: label, Form: document.Line(form), Modified: req.Now}
	form.tell(kind, secret)
	out.Once = document.Line(form)
	return out, nil
}

// readSecret reads the document of a new secret: nothing needs to be said in
// it. What the server says of a secret is ignored, so that the form of another
// one will do (design: the drive, section 3); the secret itself is not to be
// chosen.
func readSecret(body []byte) error {
	node, err := parseDocument(body, false)
	if err != nil {
		return err
	}
	var faults document.Faults
	root := document.Root(node, &faults)
	if root.Is(document.Object) {
		root.Only("label", "created", "lastUsed")
	}
	return faults.Err()
}

// DeleteSecret revokes a secret, at once.
func (e *Engine) DeleteSecret(ctx context.Context, req Request, kind SecretKind, label string) error {
	if e.parties.Load().secrets[kind].byLabel(req.By.ID, label) == nil {
		return absent(string(kind))
	}
	if err := ownPasswordOnly(req.By); err != nil {
		return err
	}
	return e.store.Update(ctx, func(tx Tx) error {
		t, err := readParties(tx)
		if err != nil {
			return err
		}
		s := t.secrets[kind].byLabel(req.By.ID, label)
		if s == nil {
			return absent(string(kind))
		}
		if err := judge(req.If, s.version()); err != nil {
			return err
		}
		if err := tx.DeleteSecret(kind, s.ID); err != nil {
			return err
		}
		_, revoked := kind.audited()
		if err := e.audit(ctx, tx, req, revoked, string(req.By.Name)+"/"+s.Label, ""); err != nil {
			return err
		}
		return e.refreshParties(tx)
	})
}
