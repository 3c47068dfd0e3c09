package account

import (
	"flowdrive/engine/change"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// What of Account/ and Admin/ can be locked: what a user says of themselves, their app
// passwords and calendar links, users and teams.

// Lockable is something that can be locked, or the place of it.
type Lockable struct {
	Scope   change.LockScope
	Version change.Version
	Refused error // why by may not write it
}

// LockableMe returns what by says of themselves.
func (e *Accounts) LockableMe(r store.Reader, by identity.Principal) (*Lockable, error) {
	t, err := Read(r)
	if err != nil {
		return nil, err
	}
	if t.ByID(by.ID) == nil {
		return nil, change.Absent("user")
	}
	return &Lockable{change.ScopeOf(store.AccountKey(by.ID)), e.meVersion(t, by.ID), ownPasswordOnly(by)}, nil
}

// LockableSecret returns the secret of by with that label.
func (e *Accounts) LockableSecret(r store.Reader, by identity.Principal, kind store.SecretKind, label string) (*Lockable, error) {
	t, err := Read(r)
	if err != nil {
		return nil, err
	}
	s := t.Secret(kind, by.ID, label)
	return &Lockable{secretScope(kind, s), secretVersion(kind, s), ownPasswordOnly(by)}, nil
}

// LockableParty returns the user or team of that name, for administrators. Errors:
// errs.NotFound for others.
func (e *Accounts) LockableParty(r store.Reader, by identity.Principal, kind identity.Kind, name string) (*Lockable, error) {
	refused := mayChangeParties(by)
	if errs.Is(refused, errs.NotFound) {
		return nil, refused
	}
	t, err := Read(r)
	if err != nil {
		return nil, err
	}
	p := t.ByName(kind, name)
	return &Lockable{partyScope(p), partyVersion(p), refused}, nil
}

// secretScope says which locks concern a secret, nil for none.
func secretScope(kind store.SecretKind, s *HeldSecret) change.LockScope {
	if s == nil {
		return change.LockScope{}
	}
	return change.ScopeOf(store.SecretKey(kind, s.ID))
}

// partyScope says which locks concern a user or team, nil for none.
func partyScope(p *store.Party) change.LockScope {
	if p == nil {
		return change.LockScope{}
	}
	return change.ScopeOf(store.PartyKey(p.ID))
}
