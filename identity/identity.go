// Package identity knows users, teams and contexts: who is in what, and who
// a request acts as. It is a value without a database; how passwords are
// checked is not its business.
package identity

import (
	"slices"
	"strings"
)

// ID numbers a user or team; contexts are named by it.
type ID int64

// Name is the name of a user or team. Both share one namespace; names never
// change.
type Name string

// Everyone is the reserved team to which every user belongs.
const Everyone Name = "everyone"

// Kind tells users and teams apart.
type Kind string

// The kinds of parties.
const (
	User Kind = "user"
	Team Kind = "team"
)

// Party is a user or a team.
type Party struct {
	ID       ID
	Name     Name
	Kind     Kind
	FullName string
	Email    string
	Admin    bool // users: administrator of the server
	Disabled bool // users: may not log in, and nothing runs in its context
	Members  []Name
	Admins   []Name // teams: who administers them
}

// Directory is all users and teams at one moment. It is never changed once
// made; a change makes a new one.
type Directory struct {
	byID     map[ID]*Party
	byName   map[string]*Party // folded
	contexts map[ID][]ID       // of each user, ascending
	everyone ID
}

// NewDirectory returns the directory of the parties. Members that are not
// among them are passed over.
func NewDirectory(parties []Party) *Directory {
	d := &Directory{
		byID:     make(map[ID]*Party, len(parties)),
		byName:   make(map[string]*Party, len(parties)),
		contexts: make(map[ID][]ID, len(parties)),
	}
	for i := range parties {
		p := &parties[i]
		d.byID[p.ID] = p
		d.byName[Fold(string(p.Name))] = p
		if p.Name == Everyone {
			d.everyone = p.ID
		}
	}
	parents := map[ID][]ID{} // of each party: the teams that name it
	for i := range parties {
		for _, m := range parties[i].Members {
			if member := d.ByName(m); member != nil {
				parents[member.ID] = append(parents[member.ID], parties[i].ID)
			}
		}
	}
	for i := range parties {
		if parties[i].Kind == User {
			d.contexts[parties[i].ID] = d.climb(parties[i].ID, parents)
		}
	}
	return d
}

// climb returns the user, its teams transitively and everyone, ascending.
func (d *Directory) climb(user ID, parents map[ID][]ID) []ID {
	seen := map[ID]bool{user: true}
	if d.everyone != 0 {
		seen[d.everyone] = true
	}
	queue := []ID{user}
	for len(queue) > 0 {
		for _, team := range parents[queue[0]] {
			if !seen[team] {
				seen[team] = true
				queue = append(queue, team)
			}
		}
		queue = queue[1:]
	}
	out := make([]ID, 0, len(seen))
	for id := range seen {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// Fold returns the form in which names are compared: equal but for case is
// equal.
func Fold(name string) string { return strings.ToLower(name) }

// ByID returns the party, or nil.
func (d *Directory) ByID(id ID) *Party { return d.byID[id] }

// ByName returns the party of that name, whatever its case, or nil.
func (d *Directory) ByName(name Name) *Party { return d.byName[Fold(string(name))] }

// EveryoneID returns the id of the team everyone, 0 where there is none.
func (d *Directory) EveryoneID() ID { return d.everyone }

// Parties returns all users and teams by id.
func (d *Directory) Parties() []*Party {
	out := make([]*Party, 0, len(d.byID))
	for _, p := range d.byID {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *Party) int { return int(a.ID - b.ID) })
	return out
}

// Contexts returns what the user belongs to: itself, its teams transitively
// and everyone; ascending by id. A team's contexts are itself and everyone:
// what is done in a team's name has no more rights than that.
func (d *Directory) Contexts(id ID) []ID {
	if own, ok := d.contexts[id]; ok {
		return own
	}
	if d.byID[id] == nil {
		return nil
	}
	out := []ID{id}
	if d.everyone != 0 && d.everyone != id {
		out = append(out, d.everyone)
	}
	slices.Sort(out)
	return out
}

// Active reports whether something may run in the context: it exists and is
// no disabled user.
func (d *Directory) Active(id ID) bool {
	p := d.byID[id]
	return p != nil && !p.Disabled
}

// TeamCycle returns the names of teams along a cycle that giving the team
// these members would close, from the team back to itself; nil for none.
func (d *Directory) TeamCycle(team Name, members []Name) []Name {
	seen := map[string]bool{}
	var walk func(at Name, path []Name) []Name
	walk = func(at Name, path []Name) []Name {
		path = append(path, at)
		if Fold(string(at)) == Fold(string(team)) {
			return path
		}
		p := d.ByName(at)
		if p == nil || p.Kind != Team || seen[Fold(string(at))] {
			return nil
		}
		seen[Fold(string(at))] = true
		for _, m := range p.Members {
			if cycle := walk(m, path); cycle != nil {
				return cycle
			}
		}
		return nil
	}
	for _, m := range members {
		if cycle := walk(m, []Name{team}); cycle != nil {
			return cycle
		}
	}
	return nil
}

// Principal is who a request acts as, with the contexts it has.
type Principal struct {
	ID       ID
	Name     Name
	Admin    bool
	contexts []ID
	names    []Name
}

// Principal returns the acting view of a user or, for what a schedule does,
// of a context. It is the zero Principal where the party does not exist.
func (d *Directory) Principal(id ID) Principal {
	p := d.byID[id]
	if p == nil {
		return Principal{}
	}
	contexts := d.Contexts(id)
	names := make([]Name, 0, len(contexts))
	for _, c := range contexts {
		names = append(names, d.byID[c].Name)
	}
	return Principal{ID: p.ID, Name: p.Name, Admin: p.Kind == User && p.Admin, contexts: contexts, names: names}
}

// Contexts returns the ids of the principal's contexts, ascending.
func (p Principal) Contexts() []ID { return p.contexts }

// ContextNames returns the names of the principal's contexts, in the order
// of their ids.
func (p Principal) ContextNames() []Name { return p.names }

// In reports whether the context is one of the principal's.
func (p Principal) In(context ID) bool {
	_, found := slices.BinarySearch(p.contexts, context)
	return found
}

// InAny reports whether one of the names is one of the principal's contexts.
func (p Principal) InAny(names []Name) bool {
	for _, n := range names {
		for _, own := range p.names {
			if Fold(string(own)) == Fold(string(n)) {
				return true
			}
		}
	}
	return false
}

// MayOwn reports whether the principal may create objects in the context:
// one of its own, but everyone only as administrator.
func (d *Directory) MayOwn(p Principal, context ID) bool {
	return p.In(context) && (context != d.everyone || p.Admin)
}

// Administers reports whether the principal administers the context: its
// own, a team whose admins name it, or anything as administrator.
func (d *Directory) Administers(p Principal, context ID) bool {
	if p.Admin || context == p.ID {
		return true
	}
	party := d.byID[context]
	return party != nil && party.Kind == Team && p.InAny(party.Admins)
}
