package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// How long a session lasts that is not used
// (docs/contract/drive.md#sessions), and how much there is of them.
const (
	idleSession    = 12 * time.Hour
	lastingSession = 30 * 24 * time.Hour
	mostSessions   = 50 // of a user; the one that was not used for longest ends
	longestAgent   = 200
	sessionNoted   = 10 * time.Minute // how exact the stored time of use is
)

// heldSession is a session as it is kept in memory.
type heldSession struct {
	store.Session
	used  atomic.Int64 // when it was used last, in Unix milliseconds
	noted atomic.Int64 // the same, as it is stored or about to be
}

// lasts reports whether the session is good at the instant.
func (s *heldSession) lasts(now time.Time) bool {
	idle := idleSession
	if s.Lasting {
		idle = lastingSession
	}
	return now.UnixMilli()-s.used.Load() < idle.Milliseconds()
}

// holdSessions makes the stored sessions those of the table.
func (t *Table) holdSessions(list []store.Session) {
	t.sessions = make(map[[sha256.Size]byte]*heldSession, len(list))
	for i := range list {
		s := &heldSession{Session: list[i]}
		s.used.Store(s.LastUsed.UnixMilli())
		s.noted.Store(s.LastUsed.UnixMilli())
		t.sessions[s.SHA256] = s
	}
}

// keepUses takes over when sessions were used last from the table that this one
// replaces: it is stored once in a while only.
func (t *Table) keepUses(before *Table) {
	if before == nil {
		return
	}
	for sum, s := range t.sessions {
		if old := before.sessions[sum]; old != nil {
			s.used.Store(max(s.used.Load(), old.used.Load()))
		}
	}
}

// SessionUser returns whose session the token opens, and notes that it is used. It is
// 0 if there is no such session, or it has ended. It is asked on every request of a
// page and answers from memory.
func (e *Accounts) SessionUser(token string) identity.ID {
	if len(token) != randomLength {
		return 0
	}
	t, now := e.Table(), e.maker.Wall()
	s := t.sessions[SecretSum(token)]
	if s == nil || !s.lasts(now) || !t.directory.Active(s.UserID) {
		return 0
	}
	s.used.Store(now.UnixMilli())
	e.noteSession(s, now)
	return s.UserID
}

// noteSession has it written, once in a while, that a session is used. No request
// waits for it.
func (e *Accounts) noteSession(s *heldSession, now time.Time) {
	noted := s.noted.Load()
	if now.UnixMilli()-noted < sessionNoted.Milliseconds() || !s.noted.CompareAndSwap(noted, now.UnixMilli()) {
		return
	}
	taken := e.log.Later(func(tx store.Tx) error {
		if err := tx.Write().Parties().TouchSession(s.ID, now); !errs.Is(err, errs.NotFound) {
			return err
		}
		return nil // it has ended meanwhile
	})
	if !taken {
		s.noted.Store(noted)
	}
}

// NewSession describes a log-in to the pages.
type NewSession struct {
	User    identity.ID
	Lasting bool              // it lasts 30 days without use, not 12 hours
	Agent   string            // what the browser says it is
	Kind    store.SessionKind // "": a password, which the server or its directory has checked
}

// StartSession makes a session of a user whose password was checked, and returns its
// token, which is kept nowhere else. Sessions that are over are deleted. Errors:
// errs.NotFound if there is no such user who may log in.
func (e *Accounts) StartSession(ctx context.Context, n NewSession) (token string, err error) {
	token = NewToken()
	now := e.maker.Wall()
	s := &store.Session{
		UserID: n.User, SHA256: SecretSum(token), Agent: clipAgent(n.Agent), Lasting: n.Lasting, Created: now, LastUsed: now,
		Address: e.log.AddressOf(ctx), Kind: n.Kind,
	}
	err = e.maker.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		if !t.directory.Active(n.User) || t.ByID(n.User).Kind != identity.User {
			return change.Absent("user")
		}
		if s.Kind == "" {
			s.Kind = passwordKind(t.ByID(n.User))
		}
		for _, old := range e.surplus(n.User, now, t) {
			if err := tx.Write().Parties().DeleteSession(old); err != nil {
				return err
			}
		}
		if err := tx.Write().Parties().InsertSession(s); err != nil {
			return err
		}
		by := identity.Principal{ID: n.User, Name: t.ByID(n.User).Name}
		if err := e.log.Write(ctx, tx, audit.NewRow(by, e.maker.Clock.Now(), audit.LogIn, string(by.Name), s.Agent)); err != nil {
			return err
		}
		return e.Refresh(tx)
	})
	return token, err
}

// surplus returns the ids of the sessions that are over, and of the user's those that
// leave no room for another one.
func (e *Accounts) surplus(user identity.ID, now time.Time, t *Table) (ids []int64) {
	var own []*heldSession
	for sum, s := range t.sessions {
		if known := e.Table().sessions[sum]; known != nil {
			s.used.Store(max(s.used.Load(), known.used.Load()))
		}
		switch {
		case !s.lasts(now):
			ids = append(ids, s.ID)
		case s.UserID == user:
			own = append(own, s)
		}
	}
	slices.SortFunc(own, func(a, b *heldSession) int { return cmp.Compare(b.used.Load(), a.used.Load()) })
	for i := mostSessions - 1; i < len(own); i++ {
		ids = append(ids, own[i].ID)
	}
	slices.Sort(ids)
	return ids
}

// passwordKind says who has checked the password of a log-in.
func passwordKind(p *store.Party) store.SessionKind {
	if p.Password == "" && p.Origin != "" {
		return store.ByLDAP
	}
	return store.ByPassword
}

// clipAgent bounds what a browser can have stored of what it says of itself.
func clipAgent(text string) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) <= longestAgent {
		return text
	}
	cut := longestAgent
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
