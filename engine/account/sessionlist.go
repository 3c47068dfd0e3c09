package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Session describes a log-in to the pages that lasts.
type Session struct {
	ID       int64
	Agent    string // what the browser says it is
	Address  string // from where it was begun, "" if that is not known
	Kind     store.SessionKind
	Lasting  bool
	Created  time.Time
	LastUsed time.Time
	Own      bool // it is the one that asks
}

// Sessions returns the sessions of the user that last, the latest used first. token is
// that of the one that asks.
func (e *Accounts) Sessions(user identity.ID, token string) []Session {
	t, now := e.Table(), e.maker.Wall()
	var out []Session
	for sum, s := range t.sessions {
		if s.UserID == user && s.lasts(now) {
			out = append(out, Session{
				ID: s.ID, Agent: s.Agent, Address: s.Address, Kind: s.Kind, Lasting: s.Lasting,
				Created: s.Created, LastUsed: time.UnixMilli(s.used.Load()), Own: sum == SecretSum(token),
			})
		}
	}
	slices.SortFunc(out, func(a, b Session) int { return cmp.Or(b.LastUsed.Compare(a.LastUsed), cmp.Compare(b.ID, a.ID)) })
	return out
}

// sessionForm is the complete form of a session
// (docs/contract/drive.md#the-list-of-sessions).
type sessionForm struct {
	ID        int64         `json:"id"`
	User      identity.Name `json:"user"`
	Kind      *string       `json:"kind"`
	Lasting   bool          `json:"lasting"`
	Started   string        `json:"started"`
	LastSeen  string        `json:"lastSeen"`
	Address   *string       `json:"address"`
	UserAgent *string       `json:"userAgent"`
}

// known returns the text, nil for none.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// seen returns when the session was used last, to the minute: its form does not change
// with every request that it opens.
func (s *heldSession) seen() time.Time {
	used := time.UnixMilli(s.used.Load()).UTC().Truncate(time.Minute)
	if used.Before(s.Created) {
		return s.Created.UTC()
	}
	return used
}

func (t *Table) sessionResource(s *heldSession) *change.Resource {
	seen := s.seen()
	definition := fmt.Sprintf(`"s%d.`, s.ID)
	return &change.Resource{
		Name: strconv.FormatInt(s.ID, 10), Seq: s.ID,
		Form: document.Form(sessionForm{
			ID: s.ID, User: t.ByID(s.UserID).Name, Kind: known(string(s.Kind)), Lasting: s.Lasting,
			Started: s.Created.UTC().Format(time.RFC3339), LastSeen: seen.Format(time.RFC3339),
			Address: known(s.Address), UserAgent: known(s.Agent),
		}),
		FormETag: fmt.Sprintf(`%s%d"`, definition, seen.UnixMilli()), Definition: definition,
		Created: s.Created, Modified: seen, Own: true,
	}
}

// lasting returns the sessions that last, those of by or of all users, by id.
func (t *Table) lasting(by identity.Principal, all bool, now time.Time) (list []*heldSession) {
	for _, s := range t.sessions {
		if (all || s.UserID == by.ID) && s.lasts(now) && t.ByID(s.UserID) != nil {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *heldSession) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// SessionFiles returns the sessions of by that last, or with all those of all users, by
// id. Errors: errs.NotFound for all if by is not an administrator.
func (e *Accounts) SessionFiles(_ context.Context, by identity.Principal, all bool) ([]change.Resource, error) {
	if all && !by.Admin() {
		return nil, change.Absent("folder")
	}
	t := e.Table()
	var out []change.Resource
	for _, s := range t.lasting(by, all, e.maker.Wall()) {
		out = append(out, *t.sessionResource(s))
	}
	return out, nil
}

// SessionFile returns the session of that name, which is its id, among those of
// SessionFiles. Errors: errs.NotFound if there is none.
func (e *Accounts) SessionFile(_ context.Context, by identity.Principal, all bool, name string) (*change.Resource, error) {
	t := e.Table()
	if s := t.named(by, all, name, e.maker.Wall()); s != nil {
		return t.sessionResource(s), nil
	}
	return nil, change.Absent("session")
}

func (t *Table) named(by identity.Principal, all bool, name string, now time.Time) *heldSession {
	if all && !by.Admin() {
		return nil
	}
	for _, s := range t.lasting(by, all, now) {
		if strconv.FormatInt(s.ID, 10) == name {
			return s
		}
	}
	return nil
}

// DeleteSession ends the session of that name among those of SessionFiles. Errors:
// errs.NotFound; errs.NotAllowed for a device; errs.Precondition.
func (e *Accounts) DeleteSession(ctx context.Context, req change.Request, all bool, name string) error {
	if e.Table().named(req.By, all, name, e.maker.Wall()) == nil {
		return change.Absent("session")
	}
	if err := ownPasswordOnly(req.By); err != nil {
		return err
	}
	return e.maker.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		s := t.named(req.By, all, name, e.maker.Wall())
		if s == nil {
			return change.Absent("session")
		}
		r := t.sessionResource(s)
		if err := change.CheckVersion(req.If, change.Version{Exists: true, ETag: r.FormETag, Definition: r.Definition, Modified: r.Modified}); err != nil {
			return err
		}
		return e.ended(tx, e.endSession(ctx, tx, req.By, t, s))
	})
}

// endSession ends a session and has it in the audit log who has done so.
func (e *Accounts) endSession(ctx context.Context, tx store.Tx, by identity.Principal, t *Table, s *heldSession) error {
	if err := tx.Write().Parties().DeleteSession(s.ID); err != nil {
		return err
	}
	target := ""
	if p := t.ByID(s.UserID); p != nil {
		target = string(p.Name)
	}
	if by.ID == 0 { // a browser that logs out: the session itself says whose it is
		by.Name = identity.Name(target)
	}
	return e.log.Write(ctx, tx, audit.NewRow(by, e.maker.Clock.Now(), audit.SessionEnd, target, s.Agent))
}

// ended has the table follow, once a session was ended without an error.
func (e *Accounts) ended(tx store.Tx, err error) error {
	if err != nil {
		return err
	}
	return e.Refresh(tx)
}

// EndSession ends the session that the token opens, if there is one.
func (e *Accounts) EndSession(ctx context.Context, token string) error {
	return e.maker.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		if s := t.sessions[SecretSum(token)]; s != nil {
			return e.ended(tx, e.endSession(ctx, tx, identity.Principal{}, t, s))
		}
		return nil
	})
}

// EndSessionOf ends a session of by by its id. One that there is not is
// errs.NotFound.
func (e *Accounts) EndSessionOf(ctx context.Context, by identity.Principal, id int64) error {
	return e.maker.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		for _, s := range t.sessions {
			if s.ID == id && s.UserID == by.ID {
				return e.ended(tx, e.endSession(ctx, tx, by, t, s))
			}
		}
		return change.Absent("session")
	})
}

// EndOtherSessions ends all sessions of by but that which the token opens, and returns
// how many there were.
func (e *Accounts) EndOtherSessions(ctx context.Context, by identity.Principal, token string) (ended int, err error) {
	err = e.maker.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		others := othersOf(t, by.ID, SecretSum(token))
		ended = len(others) // a change may be made again
		for _, s := range others {
			if err := e.endSession(ctx, tx, by, t, s); err != nil {
				return err
			}
		}
		return e.Refresh(tx)
	})
	return ended, err
}

// othersOf returns the sessions of the user but the one of that sum, by id.
func othersOf(t *Table, user identity.ID, but [sha256.Size]byte) (list []*heldSession) {
	for sum, s := range t.sessions {
		if s.UserID == user && sum != but {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *heldSession) int { return cmp.Compare(a.ID, b.ID) })
	return list
}
