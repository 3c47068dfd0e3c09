package account

import (
	"context"
	"sync/atomic"
	"time"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/identity"
	"flowdrive/internal/link"
	"flowdrive/store"
)

// Accounts are the use cases of users and teams and of their secrets. They are
// read from a table in memory, which each change replaces once it is durable.
type Accounts struct {
	maker  *change.Maker
	log    *audit.Log
	routes Routes
	ties   Ties
	links  link.Base
	hash   func(password string) (string, error)
	judge  JudgePassword
	own    OwnAddress
	check  func(ctx context.Context, user identity.Name, password string) error
	rouse  func()

	codeStrays  func(user identity.Name, off time.Duration)
	nameCleaned func(user identity.Name, sent, stored string)

	due    func(time.Time)
	zone   func(name string) bool
	zoneOf func(user identity.ID) *time.Location
	kinds  []string
	table  atomic.Pointer[Table]
}

// Config is what Accounts are made of.
type Config struct {
	Maker  *change.Maker
	Log    *audit.Log
	Routes Routes
	Ties   Ties
	Links  link.Base // how calendar links begin

	// Hash makes of a password what is stored; Check checks a user's as a log-in
	// of the same request would: a wrong one is errs.LogIn, too many are
	// errs.TooMany.
	Hash  func(password string) (string, error)
	Check func(ctx context.Context, user identity.Name, password string) error
	// Judge says which passwords users may have.
	Judge JudgePassword
	// Own says which addresses users may give themselves; nil: any, at once.
	Own OwnAddress

	Zone   func(name string) bool                // whether there is a time zone of that name
	ZoneOf func(user identity.ID) *time.Location // of dates that the user writes without one
	Kinds  []string                              // of notices, as users may choose them

	// CodeStrays is called with by how much the code of a second factor is off that was
	// refused, if the clock of the device or of this machine can be why.
	CodeStrays func(user identity.Name, off time.Duration)
	// NameCleaned is called if a directory has sent a full name that is not stored as it is.
	NameCleaned func(user identity.Name, sent, stored string)
	// Rouse is called once a change is durable: somebody's rights may be others.
	Rouse func()
	// Due is called with when a user is to be told that an app password ends.
	Due func(time.Time)
}

// Routes is what accounts need to know of routes.
type Routes interface {
	// SeesCases reports whether by may see all cases of the route.
	SeesCases(by identity.Principal, name string) bool
	// SeenRoute returns the name, as it is spelled, of the route that by sees
	// under that name in any case; ok is false if there is none.
	SeenRoute(by identity.Principal, name string) (spelled string, ok bool)
}

// Staff is what has changed in who can do tasks.
type Staff struct {
	Changed []identity.ID   // users who may log in now or may not any more, and teams that have other members
	Come    []identity.Name // of the one user or team that is changed: who can log in again, or who are members now
}

// Ties is what accounts need to know of everything that names users and teams.
type Ties interface {
	// PartyUses returns what needs a user or team.
	PartyUses(r store.Reader, by identity.Principal, p *store.Party) (change.Uses, error)
	// ReplaceParty gives to one party all that another one has outside of the
	// accounts. If both have the same id, it has a new name.
	ReplaceParty(ctx context.Context, tx store.Tx, req change.Request, r Replacement) error
	// LeaveAhead does what ReplaceParty and EraseParty do in cases and texts, in many
	// small units, so that little is left to the one that they are called in. since is
	// what they look from.
	LeaveAhead(ctx context.Context, req change.Request, l Leaving) (since uint64, err error)
	// Naming returns the cases that may name the user or team now. since is what it has
	// looked at.
	Naming(ctx context.Context, p *store.Party) (ids []int64, since uint64, err error)
	// FollowRename writes the cases again that name a user or team by an earlier name, in
	// many small units.
	FollowRename(ctx context.Context, req change.Request, id identity.ID)
	// PartyLeaves says in sentences what a user who is to be disabled leaves to others.
	PartyLeaves(ctx context.Context, req change.Request, p *store.Party) ([]string, error)
	// VacateParty offers the tasks that a user, who was disabled, has for themselves
	// to others again.
	VacateParty(ctx context.Context, req change.Request, p *store.Party) error
	// StaffChanged judges again which tasks of cases nobody can do, and tells those who have
	// come of the tasks that wait for them.
	StaffChanged(ctx context.Context, req change.Request, s Staff) error
	// PartyMade assigns the roles of cases that have no players because there was no user
	// or team of that name.
	PartyMade(ctx context.Context, req change.Request, p *store.Party) error
	// AddressChanged is told that no user gets mails at that address any more.
	AddressChanged(tx store.Tx, req change.Request, address string) error
	// MailCode mails the code to the address that a user has asked for.
	MailCode(tx store.Tx, p *store.Party, code string, now time.Time) error
	// DeputyChanged is told of a user whose deputy may be another one after a change.
	DeputyChanged(tx store.Tx, req change.Request, before, after *store.Party) error
	// EraseParty takes the name and the address that a user had out of what still has
	// them after ReplaceParty.
	EraseParty(ctx context.Context, tx store.Tx, r Replacement) error
	// ForgetParty keeps routes that name a deleted party from meaning a later one
	// of its name.
	ForgetParty(tx store.Tx, p *store.Party) error
}

// New returns accounts without any user. Load reads those that are stored.
func New(cfg Config) *Accounts {
	a := &Accounts{maker: cfg.Maker, log: cfg.Log, routes: cfg.Routes, ties: cfg.Ties, links: cfg.Links, hash: cfg.Hash, judge: cfg.Judge, own: cfg.Own, check: cfg.Check, rouse: cfg.Rouse, due: cfg.Due, zone: cfg.Zone, zoneOf: cfg.ZoneOf, kinds: cfg.Kinds, codeStrays: cfg.CodeStrays, nameCleaned: cfg.NameCleaned}
	a.table.Store(NewTable(nil, nil))
	return a
}

// Table returns all users and teams as they are now.
func (e *Accounts) Table() *Table { return e.table.Load() }

// Load reads what is kept in memory.
func (e *Accounts) Load(r store.Reader) error {
	t, err := Read(r)
	if err == nil {
		e.table.Store(t)
	}
	return err
}

// Refresh replaces what is kept in memory by what the unit has written, once
// the unit is durable.
func (e *Accounts) Refresh(tx store.Tx) error {
	t, err := Read(tx)
	if err != nil {
		return err
	}
	tx.AfterCommit(func() {
		t.keepUses(e.Table())
		e.table.Store(t)
		e.rouse()
	})
	return nil
}

// Read returns all users and teams with their secrets and sessions, as they are
// stored.
func Read(r store.Reader) (*Table, error) {
	parties, err := r.Parties().List()
	if err != nil {
		return nil, err
	}
	secrets := map[store.SecretKind][]store.Secret{}
	for _, kind := range store.SecretKinds() {
		if secrets[kind], err = r.Parties().Secrets(kind); err != nil {
			return nil, err
		}
	}
	sessions, err := r.Parties().Sessions()
	if err != nil {
		return nil, err
	}
	t := NewTable(parties, secrets)
	t.holdSessions(sessions)
	t.renamed, err = readRenamed(r.Settings())
	return t, err
}
