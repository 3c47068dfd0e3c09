package account

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-ldap/ldap/v3"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Vouched is a person for whom a directory vouches (docs/contract/drive.md#single-sign-on).
type Vouched struct {
	Origin   string          // the directory and the person's name there, which never changes
	Name     string          // how a new user is called
	FullName string          // "" leaves it
	Email    string          // likewise
	Create   bool            // a user is made at the first log-in
	Teams    map[string]bool // which of these teams the directory has the person in
}

// LogInVouched returns the user for whom a directory vouches, after it was made if that is
// allowed, and has it in the teams in which the directory has it. It is found by its origin,
// never by its name. Errors: errs.LogIn with what to do if there is none.
func (e *Accounts) LogInVouched(ctx context.Context, v Vouched) (identity.ID, error) {
	now := e.maker.Clock.Now()
	var made []*Change
	var id identity.ID
	var req change.Request
	err := e.maker.Update(ctx, func(tx store.Tx) error {
		made = nil
		t, err := Read(tx)
		if err != nil {
			return err
		}
		c, err := e.vouchedUser(t, &v, now)
		if err != nil {
			return err
		}
		id = c.Party.ID
		req = change.Request{By: identity.Principal{ID: id, Name: c.Party.Name}, Now: now}
		if made = append(made, c); c.Created {
			if _, err := e.writeParty(ctx, tx, req, c); err != nil {
				return err
			}
		}
		teams := vouchedTeams(t, &v, c.Party.Name)
		for _, c := range slices.Concat(made, teams) {
			if c.Changed && !c.Created {
				if _, err := e.writeParty(ctx, tx, req, c); err != nil {
					return err
				}
			}
		}
		made = append(made, teams...)
		return nil
	})
	if err != nil {
		return 0, err
	}
	if c := made[0]; e.nameCleaned != nil && v.FullName != "" && v.FullName != c.Party.FullName && (c.Created || c.Party.FullName != c.Old.FullName) {
		e.nameCleaned(c.Party.Name, v.FullName, c.Party.FullName)
	}
	for _, c := range made {
		if c.Changed {
			if err := e.tellCases(change.Committed(ctx), req, c); err != nil {
				return 0, err
			}
		}
	}
	return id, nil
}

// vouchedUser returns the user, as it is to be.
func (e *Accounts) vouchedUser(t *Table, v *Vouched, now time.Time) (*Change, error) {
	origin := plainOrigin(v.Origin)
	old := t.byOrigin(origin)
	c := &Change{Old: old, Created: old == nil}
	switch {
	case old != nil && old.Disabled:
		return nil, errs.New(errs.LogIn, "You are a user here who is disabled; ask an administrator.")
	case old != nil:
		c.Party = *old
	case !v.Create:
		return nil, errs.New(errs.LogIn, "There is no user here who is connected with your log-in. An administrator can connect one: \"origin\": %q in the file of the user in Admin/Users/.", origin)
	case mayBeCalled(identity.User, v.Name) != nil:
		return nil, errs.New(errs.LogIn, "The directory calls you %q, which is not a valid name for a user here: %s. An administrator can connect a user of another name: \"origin\": %q in its file in Admin/Users/.", v.Name, identity.NameForm(identity.User), origin)
	case movedInDirectory(t, v):
		return nil, &errs.Error{Kind: errs.LogIn, Err: ErrMoved, Detail: fmt.Sprintf("The directory has you at another place than before, by which you were known here. If the user %q is yours, an administrator can connect you again: \"origin\": %q in Admin/Users/%s.json.", v.Name, origin, v.Name)}
	case t.directory.ByName(identity.Name(v.Name)) != nil || identity.Fold(v.Name) == string(identity.Everyone):
		return nil, errs.New(errs.LogIn, "The name %q is in use here by somebody for whom the directory does not vouch. If that is you, an administrator can connect you: \"origin\": %q in Admin/Users/%s.json.", v.Name, origin, v.Name)
	default:
		if err := t.wasName(v.Name, 0); err != nil {
			return nil, err
		}
		c.Party = store.Party{Party: identity.Party{ID: identity.ID(e.maker.Store.NextID()), Name: identity.Name(v.Name), Kind: identity.User}, Origin: origin, Created: now}
	}
	if v.FullName != "" && len(v.FullName) <= 200 {
		c.Party.FullName = t.vouchedFullName(v.FullName, &c.Party)
	}
	if v.Email != "" && len(v.Email) <= 254 {
		if email := plainLine(v.Email); email != c.Party.Email {
			c.Party.Email = email
			forgetPending(&c.Party.Pending)
		}
	}
	c.Changed = c.Created || !sameParty(old, &c.Party)
	return c, nil
}

// ErrMoved is in the error of a log-in by somebody whose name is that of a user for whom the same
// kind of directory vouches under another DN: as a rule they have changed department.
var ErrMoved = errors.New("the directory has a user at another place")

// movedInDirectory reports whether that is so. It connects nobody: the name may have been given to
// somebody else.
func movedInDirectory(t *Table, v *Vouched) bool {
	p := t.ByName(identity.User, v.Name)
	return p != nil && strings.HasPrefix(v.Origin, originLDAP) && strings.HasPrefix(p.Origin, originLDAP)
}

// plainLine takes control characters out of a text.
func plainLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// vouchedTeams returns the teams, as they are to be. One that there is not is passed over:
// the settings name it, and the log of the start says so.
func vouchedTeams(t *Table, v *Vouched, user identity.Name) []*Change {
	var out []*Change
	for _, name := range slices.Sorted(maps.Keys(v.Teams)) {
		old := t.ByName(identity.Team, name)
		if old == nil || old.Name == identity.Everyone || slices.Contains(old.Members, user) == v.Teams[name] {
			continue
		}
		c := &Change{Old: old, Party: *old, Changed: true}
		c.Party.Members = slices.DeleteFunc(slices.Clone(old.Members), func(m identity.Name) bool { return m == user })
		if v.Teams[name] {
			c.Party.Members = append(c.Party.Members, user)
		}
		out = append(out, c)
	}
	return out
}

// byOrigin returns the user for whom that directory vouches, nil for none. Origins that were
// stored before are not all written as log-ins have them.
func (t *Table) byOrigin(origin string) (found *store.Party) {
	if origin == "" {
		return nil
	}
	plain := plainOrigin(origin)
	for _, p := range t.byID {
		switch {
		case p.Origin == plain:
			return p
		case p.Origin != "" && plainOrigin(p.Origin) == plain && (found == nil || p.ID < found.ID):
			found = p
		}
	}
	return found
}

// originLDAP begins the origin of a user for whom an LDAP directory vouches: a DN follows.
const originLDAP = "ldap "

// plainOrigin returns an origin as it is stored, whichever way a person or a directory has
// written its DN. An issuer and its subject stay.
func plainOrigin(origin string) string {
	if dn, is := strings.CutPrefix(origin, originLDAP); is {
		return originLDAP + plainDN(dn)
	}
	return origin
}

// plainDN returns a DN in one spelling: directories do not tell upper from lower case, nor
// blanks around its parts (RFC 4514).
func plainDN(text string) string {
	if dn, err := ldap.ParseDN(text); err == nil {
		text = dn.String()
	}
	return strings.ToLower(text)
}

// SameGroup reports whether a group that a directory has named is the one of the settings, by its
// name or its DN.
func SameGroup(said, group string) bool {
	return strings.EqualFold(said, group) || strings.Contains(group, "=") && plainDN(said) == plainDN(group)
}

// VouchedBy returns the origin of the user, "" if no directory vouches for it.
func (e *Accounts) VouchedBy(user identity.ID) string {
	if p := e.Table().ByID(user); p != nil {
		return p.Origin
	}
	return ""
}

// readOrigin reads which directory vouches for a user; null or "" is none.
func readOrigin(v document.Value, t *Table, p *store.Party) {
	switch {
	case v.Node == nil:
		return
	case v.Node.Kind == document.Null:
		p.Origin = ""
		return
	}
	text, ok := v.Str()
	if !ok {
		return
	}
	if text != "" && (len(text) > 1000 || text != plainLine(text) || !strings.HasPrefix(text, "oidc ") && !strings.HasPrefix(text, originLDAP)) {
		v.Fail(errs.CodeFormat, "is not \"oidc\" with issuer and subject, or \"ldap\" with the DN, a blank between them")
		return
	}
	if other := t.byOrigin(text); other != nil && other.ID != p.ID {
		v.Fail(errs.CodeConflict, "is that of %q", other.Name)
		return
	}
	p.Origin = plainOrigin(text)
}
