package account

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"sync/atomic"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// HeldSecret is a secret as it is kept in memory.
type HeldSecret struct {
	store.Secret
	used  atomic.Int64 // LastUsed as stored, in Unix milliseconds; 0: never
	noted atomic.Int64 // the same, of a use that is about to be stored
}

// secrets is all secrets of a kind.
type secrets struct {
	bySum  map[[sha256.Size]byte]*HeldSecret
	byUser map[identity.ID][]*HeldSecret // by ID
}

func newSecrets(list []store.Secret) *secrets {
	t := &secrets{bySum: make(map[[sha256.Size]byte]*HeldSecret, len(list)), byUser: map[identity.ID][]*HeldSecret{}}
	for _, stored := range list {
		s := &HeldSecret{Secret: stored}
		if !stored.LastUsed.IsZero() {
			s.used.Store(stored.LastUsed.UnixMilli())
			s.noted.Store(stored.LastUsed.UnixMilli())
		}
		t.bySum[s.SHA256] = s
		t.byUser[s.UserID] = append(t.byUser[s.UserID], s)
	}
	return t
}

const (
	// secretPrefix lets people and scanners tell what they have found.
	secretPrefix = "fd-"
	randomBytes  = 20 // 160 random bits: nothing that can be guessed
	randomLength = randomBytes * 8 / 5

	notedEvery = time.Hour // how exact lastUsed is, so that few requests cause a write
)

// NewToken returns a new token of a secret address: letters and digits that are hard
// to mistake for each other.
func NewToken() string {
	var random [randomBytes]byte
	_, _ = rand.Read(random[:]) // never fails; see crypto/rand
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
}

// NewSecret returns a new secret of a kind.
func NewSecret(kind store.SecretKind) string {
	text := NewToken()
	if kind == store.AppPassword {
		text = secretPrefix + text
	}
	return text
}

// SecretSum is what is kept of a secret.
func SecretSum(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// AppPassword returns the user's app password that reads so, nil for none.
func (t *Table) AppPassword(user identity.ID, secret string) *HeldSecret {
	s := t.AppPasswordOf(secret)
	if s == nil || s.UserID != user {
		return nil
	}
	return s
}

// AppPasswordOf returns the app password that reads so, whoever it belongs to, nil for
// none.
func (t *Table) AppPasswordOf(secret string) *HeldSecret {
	if len(secret) != len(secretPrefix)+randomLength || !strings.HasPrefix(secret, secretPrefix) {
		return nil
	}
	return t.SecretOf(store.AppPassword, SecretSum(secret))
}

// CalendarLink returns the calendar link that has the token and whose user may
// log in, nil for none.
func (t *Table) CalendarLink(token string) *HeldSecret {
	if len(token) != randomLength {
		return nil
	}
	s := t.SecretOf(store.CalendarLink, SecretSum(token))
	if s == nil || !t.directory.Active(s.UserID) {
		return nil
	}
	return s
}

// SecretOf returns the secret of that sum, nil for none.
func (t *Table) SecretOf(kind store.SecretKind, sum [sha256.Size]byte) *HeldSecret {
	return t.secrets[kind].bySum[sum]
}

// Secrets returns the user's secrets of a kind in order of creation.
func (t *Table) Secrets(kind store.SecretKind, user identity.ID) []*HeldSecret {
	return t.secrets[kind].byUser[user]
}

// Secret returns the user's secret of that label, in any case, or nil.
func (t *Table) Secret(kind store.SecretKind, user identity.ID, label string) *HeldSecret {
	for _, s := range t.Secrets(kind, user) {
		if identity.Fold(s.Label) == identity.Fold(label) {
			return s
		}
	}
	return nil
}

// Use notes that the secret is used now, and reports whether that is to be
// written: Wrote or NotWritten follows.
func (s *HeldSecret) Use(now time.Time) bool {
	noted := s.noted.Load()
	return now.UnixMilli()-noted >= notedEvery.Milliseconds() && s.noted.CompareAndSwap(noted, now.UnixMilli())
}

// Wrote says that the use is stored.
func (s *HeldSecret) Wrote(used time.Time) { s.used.Store(used.UnixMilli()) }

// NotWritten leaves the use to a later one to be written.
func (s *HeldSecret) NotWritten() { s.noted.Store(s.used.Load()) }

// expired reports whether the secret is not in force any more.
func (s *HeldSecret) expired(now time.Time) bool { return !s.Expires.IsZero() && !s.Expires.After(now) }

// secretForm is the complete form of a secret, without what is secret in it
// but in the answer that makes it.
type secretForm struct {
	Label    string  `json:"label"`
	Created  string  `json:"created"`
	LastUsed *string `json:"lastUsed"`
	Scope    string  `json:"scope,omitempty"`   // of an app password
	Expires  *string `json:"expires,omitempty"` // likewise; absent: it does not
	Secret   string  `json:"secret,omitempty"`  // of an app password
	URL      string  `json:"url,omitempty"`     // of a calendar link
}

// Form returns the complete form of the secret, without what is secret, and
// when the form says that it was used last, zero for never.
func (s *HeldSecret) Form() (form []byte, used time.Time) {
	f := formOfSecret(&s.Secret)
	if millis := s.used.Load(); millis != 0 {
		used = time.UnixMilli(millis).UTC()
		f.LastUsed = new(used.Format(time.RFC3339))
	}
	return document.Form(f), used
}

func formOfSecret(s *store.Secret) secretForm {
	f := secretForm{Label: s.Label, Created: s.Created.UTC().Format(time.RFC3339)}
	if s.Scope != identity.ScopeAll {
		f.Scope = string(s.Scope)
	}
	if !s.Expires.IsZero() {
		f.Expires = new(s.Expires.UTC().Format(time.RFC3339))
	}
	return f
}

// newForm returns the form of a secret that was just made and, to be told once,
// the form that has what is secret.
func (e *Accounts) newForm(s *store.Secret, kind store.SecretKind, secret string) (form, once []byte) {
	f := formOfSecret(s)
	form = document.Form(f)
	if kind == store.CalendarLink {
		f.URL = e.links.Calendar(secret)
	} else {
		f.Secret = secret
	}
	return form, document.Form(f)
}
