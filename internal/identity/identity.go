// Package identity knows users, teams and contexts: who is a member of what,
// and as whom a request acts. It has no database and does not check passwords.
package identity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/filename"
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
	Disabled bool // users: may not log in, and no entry or hook of theirs starts a case
	Members  []Name
	Admins   []Name // teams: who administers them
	Deputy   Deputy // users: who stands in for them
}

// Deputy is a user who stands in for another from one instant to the next. The
// zero Deputy stands for no deputy.
type Deputy struct {
	User Name
	From time.Time
	To   time.Time // no longer
}

// Active reports whether the deputy stands in at the instant.
func (d Deputy) Active(now time.Time) bool {
	return d.User != "" && !now.Before(d.From) && now.Before(d.To)
}

// Equal reports whether both are the same.
func (d Deputy) Equal(other Deputy) bool {
	return d.User == other.User && d.From.Equal(other.From) && d.To.Equal(other.To)
}

const longestName = 63

// Legal reports whether a name has the form of names of teams and labels
// (docs/contract/drive.md#legal-names).
func Legal(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9':
		case i > 0 && (c == '_' || c == '-'):
		default:
			return false
		}
	}
	return name != "" && len(name) <= longestName
}

// LegalParty reports whether a name has the form of names of that kind. Users may be
// called as their directory calls them, such as ann.lee@example.com: with dots and @,
// none of them first or last, no dot beside another one, and without the extension of
// a document or of a temporary file.
func LegalParty(kind Kind, name string) bool {
	if kind != User {
		return Legal(name)
	}
	plain := strings.Map(func(c rune) rune {
		if c == '.' || c == '@' {
			return '_'
		}
		return c
	}, name)
	if plain == name {
		return Legal(name)
	}
	for _, end := range [...]string{".", "@", ".json", ".yaml", ".yml"} {
		if strings.HasSuffix(Fold(name), end) {
			return false
		}
	}
	return Legal(plain) && !strings.Contains(name, "..") && !filename.Temporary(name)
}

// NameForm says in words what LegalParty asks of a name.
func NameForm(kind Kind) string {
	if kind != User {
		return fmt.Sprintf("use letters, digits, _ and -, at most %d, the first a letter or digit", longestName)
	}
	return fmt.Sprintf("use letters, digits, _, -, single dots and @, at most %d, the first a letter or digit, no dot or @ at the end, and no extension such as .json", longestName)
}

// Pseudonym returns what stands in place of the name of a user who is erased. The first one
// is numbered 1.
func Pseudonym(id ID, number int) Name {
	if number == 1 {
		return Name(fmt.Sprintf("erased-%d", id))
	}
	return Name(fmt.Sprintf("erased-%d-%d", id, number))
}

// IsPseudonym reports whether a name looks like one of those: nobody may choose it.
func IsPseudonym(name string) bool {
	numbers, is := strings.CutPrefix(Fold(name), "erased-")
	return is && numbers != "" && strings.Trim(numbers, "0123456789-") == ""
}

// Directory has all users and teams at one moment. Neither it nor its results
// may be changed; a change makes a new one.
type Directory struct {
	parties    []*Party // by id
	byID       map[ID]*Party
	byName     map[string]*Party // folded
	rights     map[ID]*rights    // every request asks for them
	represents map[ID][]*Party   // by deputy: whom it may stand in for, by name
	everyone   ID
}

// NewDirectory returns the directory of the parties. Members that are not
// among them are passed over.
func NewDirectory(parties []Party) *Directory {
	parties = slices.Clone(parties)
	d := &Directory{
		parties:    make([]*Party, 0, len(parties)),
		byID:       make(map[ID]*Party, len(parties)),
		byName:     make(map[string]*Party, len(parties)),
		rights:     make(map[ID]*rights, len(parties)),
		represents: map[ID][]*Party{},
	}
	for i := range parties {
		p := &parties[i]
		d.parties = append(d.parties, p)
		d.byID[p.ID] = p
		d.byName[Fold(string(p.Name))] = p
		if p.Kind == Team && p.Name == Everyone {
			d.everyone = p.ID
		}
	}
	slices.SortFunc(d.parties, func(a, b *Party) int { return cmp.Compare(a.ID, b.ID) })
	parents := map[ID][]ID{} // of each party: the teams that name it
	for _, team := range d.parties {
		if team.Kind != Team {
			continue
		}
		for _, name := range team.Members {
			if member := d.ByName(name); member != nil {
				parents[member.ID] = append(parents[member.ID], team.ID)
			}
		}
	}
	for _, p := range d.parties {
		d.rights[p.ID] = d.rightsOf(p, parents)
		if deputy := d.ByName(p.Deputy.User); p.Kind == User && deputy != nil && deputy != p {
			d.represents[deputy.ID] = append(d.represents[deputy.ID], p)
		}
	}
	for _, of := range d.represents {
		slices.SortFunc(of, func(a, b *Party) int { return cmp.Compare(a.Name, b.Name) })
	}
	return d
}

// rightsOf works out what the party belongs to. A user belongs to itself,
// to everyone and to their teams transitively; a team only to itself and
// everyone: what is done in its name has no more rights than that.
func (d *Directory) rightsOf(p *Party, parents map[ID][]ID) *rights {
	contexts := []ID{p.ID}
	seen := map[ID]bool{p.ID: true}
	if d.everyone != 0 && !seen[d.everyone] {
		seen[d.everyone] = true
		contexts = append(contexts, d.everyone)
	}
	if p.Kind == User {
		for i := 0; i < len(contexts); i++ {
			for _, team := range parents[contexts[i]] {
				if !seen[team] {
					seen[team] = true
					contexts = append(contexts, team)
				}
			}
		}
	}
	slices.Sort(contexts)
	names := make([]Name, 0, len(contexts))
	for _, c := range contexts {
		names = append(names, d.byID[c].Name)
	}
	return &rights{admin: p.Kind == User && p.Admin, disabled: p.Disabled, contexts: contexts, names: names}
}

// Fold returns the form in which names are compared. Names that differ only in
// case are equal.
func Fold(name string) string { return strings.ToLower(name) }

// ByID returns the party, or nil.
func (d *Directory) ByID(id ID) *Party { return d.byID[id] }

// ByName returns the party of that name in any case, or nil.
func (d *Directory) ByName(name Name) *Party { return d.byName[Fold(string(name))] }

// EveryoneID returns the id of the team everyone, or 0 if there is no such
// team.
func (d *Directory) EveryoneID() ID { return d.everyone }

// Parties returns all users and teams by id.
func (d *Directory) Parties() []*Party { return d.parties }

// Contexts returns what the party belongs to, ascending by id: a user to
// itself, its teams transitively and everyone; a team to itself and
// everyone.
func (d *Directory) Contexts(id ID) []ID { return d.Principal(id).Contexts() }

// Active reports whether something may run in the context: it exists and is
// no disabled user.
func (d *Directory) Active(id ID) bool {
	p := d.byID[id]
	return p != nil && !p.Disabled
}

// RepresentedBy returns the users whose active deputy the user is, by name.
// Deputies of deputies do not count. A disabled user has no rights to lend.
func (d *Directory) RepresentedBy(id ID, now time.Time) []*Party {
	var out []*Party
	for _, p := range d.represents[id] {
		if p.Deputy.Active(now) && !p.Disabled {
			out = append(out, p)
		}
	}
	return out
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

// Principal is the user as whom a request acts. Its rights are computed when
// they are asked for; those of a principal that LivePrincipal made are the
// rights at that moment.
type Principal struct {
	ID          ID
	Name        Name
	Device      bool // logged in by an app password, which does not change the account
	AppPassword      // that one; zero if Device is false

	fixed    *rights           // nil: none
	latest   func() *Directory // of a live principal; nil: its rights are fixed
	operator bool              // administers the server, independently of the directory
	account  string            // of an operator: the user of the machine
	private  bool              // does not administer the server, independently of the directory
}

// rights are the rights of a party by the users and teams of one moment.
type rights struct {
	admin    bool
	disabled bool
	contexts []ID
	names    []Name // in the order of contexts
}

// Principal returns the acting view of a user or, for what a schedule does,
// of a context, with the rights that it has in this directory. It is the zero
// Principal if the party does not exist.
func (d *Directory) Principal(id ID) Principal {
	p := d.byID[id]
	if p == nil {
		return Principal{}
	}
	return Principal{ID: p.ID, Name: p.Name, fixed: d.rights[id]}
}

// LivePrincipal returns the acting view of a user with the rights that it has
// at the moment when they are asked for: those in the directory that latest
// then returns, none once the user is disabled or gone. It is the zero
// Principal if the user does not exist.
func LivePrincipal(id ID, latest func() *Directory) Principal {
	p := latest().Principal(id)
	if p.ID == 0 {
		return p
	}
	return Principal{ID: p.ID, Name: p.Name, latest: latest}
}

// AsOperator returns the principal as one that administers the server, and
// acts though its user may be disabled. account is the user of the machine who does it, "" if that
// is not known.
func (p Principal) AsOperator(account string) Principal {
	p.operator, p.account = true, account
	return p
}

// Actor returns who does it, for the audit log: a user, or "root (command line)" for an operator,
// who has a name that no user can have.
func (p Principal) Actor() string {
	const commandLine = "command line"
	switch {
	case !p.operator:
		return string(p.Name)
	case p.account == "":
		return commandLine
	}
	return p.account + " (" + commandLine + ")"
}

// AsMember returns the principal with the rights that it has without administering the
// server.
func (p Principal) AsMember() Principal {
	p.operator, p.private = false, true
	return p
}

// rights returns what the principal has now, never nil.
func (p Principal) rights() *rights {
	has := p.fixed
	if p.latest != nil {
		has = p.latest().rights[p.ID]
	}
	if has == nil || p.latest != nil && has.disabled && !p.operator {
		return &rights{}
	}
	return has
}

// Admin reports whether the principal administers the server.
func (p Principal) Admin() bool { return p.operator || p.rights().admin && !p.private }

// Contexts returns the ids of the principal's contexts, ascending.
func (p Principal) Contexts() []ID { return p.rights().contexts }

// ContextNames returns the names of the principal's contexts, in the order
// of their ids.
func (p Principal) ContextNames() []Name { return p.rights().names }

// In reports whether the context is one of the principal's.
func (p Principal) In(context ID) bool {
	_, found := slices.BinarySearch(p.Contexts(), context)
	return found
}

// InAny reports whether one of the names is one of the principal's contexts.
func (p Principal) InAny(names []Name) bool {
	if len(names) == 0 {
		return false
	}
	mine := p.ContextNames()
	for _, n := range names {
		for _, own := range mine {
			if strings.EqualFold(string(own), string(n)) { // Fold, without making strings
				return true
			}
		}
	}
	return false
}

// MayOwn reports whether the principal may create objects in the context:
// one of its own, but everyone only as administrator.
func (d *Directory) MayOwn(p Principal, context ID) bool {
	return p.In(context) && (context != d.everyone || p.Admin())
}

// Administers reports whether the principal administers the context: its
// own, a team whose admins name it, or anything as administrator.
func (d *Directory) Administers(p Principal, context ID) bool {
	party := d.byID[context]
	if admin := p.Admin(); admin || party == nil {
		return admin
	}
	return context == p.ID || party.Kind == Team && p.InAny(party.Admins)
}
