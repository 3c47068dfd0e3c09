package account

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Table is all users and teams, as they are kept in memory, with their
// secrets. It is never changed once made.
type Table struct {
	directory *identity.Directory
	byID      map[identity.ID]*store.Party
	secrets   map[store.SecretKind]*secrets
	sessions  map[[sha256.Size]byte]*heldSession
	watchers  map[string][]string // of a route, by its folded name: the active users who watch it, by name
	called    map[string]identity.ID
	modified  time.Time // of the last change of all
	renamed   []Renamed // the earliest first
}

// NewTable returns the table of those users and teams, and of their secrets of
// each kind.
func NewTable(parties []store.Party, held map[store.SecretKind][]store.Secret) *Table {
	t := &Table{byID: make(map[identity.ID]*store.Party, len(parties)), secrets: map[store.SecretKind]*secrets{}}
	for _, kind := range store.SecretKinds() {
		t.secrets[kind] = newSecrets(held[kind])
	}
	plain := make([]identity.Party, len(parties))
	for i := range parties {
		parties[i].FullName = seenName(parties[i].FullName) // it may have been stored before such names were refused
		plain[i] = parties[i].Party
		t.byID[parties[i].ID] = &parties[i]
		if m := parties[i].Modified; m.After(t.modified) {
			t.modified = m
		}
	}
	t.directory = identity.NewDirectory(plain)
	t.watchers = watchersOf(parties)
	t.called = calledOf(parties)
	return t
}

// Directory returns all users and teams.
func (t *Table) Directory() *identity.Directory { return t.directory }

// ByID returns the party of that id, nil for none.
func (t *Table) ByID(id identity.ID) *store.Party { return t.byID[id] }

// ByName returns the party of that name and kind, or nil.
func (t *Table) ByName(kind identity.Kind, name string) *store.Party {
	p := t.directory.ByName(identity.Name(name))
	if p == nil || p.Kind != kind {
		return nil
	}
	return t.byID[p.ID]
}

// Watchers returns the active users who watch the route, by name.
func (t *Table) Watchers(route string) []string { return t.watchers[identity.Fold(route)] }

// UsersOf returns the users who get mails at that address, by name.
func (t *Table) UsersOf(address string) (names []string) {
	for _, p := range t.directory.Parties() {
		if own := t.byID[p.ID]; own.Kind == identity.User && own.Email == address && !own.Disabled && !own.Quiet {
			names = append(names, string(own.Name))
		}
	}
	slices.Sort(names)
	return names
}

// Quota returns how many bytes the user may store if that is not what the settings say;
// else 0.
func (t *Table) Quota(user identity.ID) int64 {
	if p := t.byID[user]; p != nil {
		return p.Quota
	}
	return 0
}

// Modified returns when any user or team changed last.
func (t *Table) Modified() time.Time { return t.modified }

// LastAdministrator reports whether the user is the only one who can administer
// the server. Without one, only a change of the store could help.
func (t *Table) LastAdministrator(p *store.Party) bool {
	if !p.Administers() {
		return false
	}
	for _, other := range t.byID {
		if other.ID != p.ID && other.Administers() {
			return false
		}
	}
	return true
}

// watchersOf returns the active users who watch a route, by its folded name.
func watchersOf(parties []store.Party) map[string][]string {
	all := map[string][]string{}
	for i := range parties {
		if p := &parties[i]; p.Kind == identity.User && !p.Disabled {
			for _, name := range p.Watch {
				all[identity.Fold(name)] = append(all[identity.Fold(name)], string(p.Name))
			}
		}
	}
	for _, users := range all {
		slices.SortFunc(users, func(a, b string) int { return strings.Compare(identity.Fold(a), identity.Fold(b)) })
	}
	return all
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

// People returns people.json: the names of all users who are not disabled, and
// of all teams, in order of creation.
func (t *Table) People() []byte {
	form := peopleForm{Users: []personForm{}, Teams: []teamName{}}
	for _, p := range t.directory.Parties() {
		switch {
		case p.Kind == identity.Team:
			form.Teams = append(form.Teams, teamName{p.Name})
		case !p.Disabled:
			form.Users = append(form.Users, personForm{p.Name, p.FullName})
		}
	}
	return document.Form(form)
}
