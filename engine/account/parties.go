package account

import (
	"context"
	"slices"

	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Account returns what a log-in is checked against: the user's id, its
// encoded password hash ("" for none) and whether it is disabled.
func (e *Accounts) Account(name string) (id identity.ID, hash string, disabled, ok bool) {
	p := e.Table().ByName(identity.User, name)
	if p == nil {
		return 0, "", false, false
	}
	return p.ID, p.Password, p.Disabled, true
}

// Party returns a user or team, for administrators. Errors: errs.NotFound, also
// for other users.
func (e *Accounts) Party(_ context.Context, by identity.Principal, kind identity.Kind, name string) (*change.Resource, error) {
	p := e.Table().ByName(kind, name)
	if !by.Admin() || p == nil {
		return nil, change.Absent(string(kind))
	}
	return partyResource(p), nil
}

// Parties returns all users or all teams by id, for administrators. Errors:
// errs.NotFound for other users.
func (e *Accounts) Parties(_ context.Context, by identity.Principal, kind identity.Kind) ([]change.Resource, error) {
	if !by.Admin() {
		return nil, change.Absent("folder")
	}
	t := e.Table()
	var out []change.Resource
	for _, p := range t.Directory().Parties() {
		if p.Kind == kind {
			out = append(out, *partyResource(t.ByID(p.ID)))
		}
	}
	return out, nil
}

func partyResource(p *store.Party) *change.Resource {
	return &change.Resource{
		Name:       string(p.Name),
		Seq:        int64(p.ID),
		Form:       PartyForm(p),
		FormETag:   p.ETag(),
		Definition: p.ETag(),
		Created:    p.Created,
		Modified:   p.Modified,
		Lock:       store.PartyKey(p.ID),
		Own:        true,
	}
}

// PutParty creates or changes a user or a team: a record, changed field by
// field. Errors: errs.NotFound for users who are not administrators;
// errs.NotAllowed for a device; errs.Invalid with every fault of the document;
// errs.NameNotAllowed; errs.NameTaken.
func (e *Accounts) PutParty(ctx context.Context, req change.Request, kind identity.Kind, name string, body []byte) (*change.Outcome, error) {
	if err := mayChangeParties(req.By); err != nil {
		return nil, err
	}
	node, err := document.Parse(body, false)
	if err != nil {
		return nil, err
	}
	hash, err := e.hashGiven(kind, node)
	if err != nil {
		return nil, err
	}
	left, err := e.leftBy(ctx, req, kind, name, node)
	if err != nil {
		return nil, err
	}
	var out *change.Outcome
	var put *Change
	err = e.maker.Update(ctx, func(tx store.Tx) error {
		if err := mayChangeParties(req.By); err != nil {
			return err // while the password was hashed, this may have ended
		}
		t, err := Read(tx)
		if err != nil {
			return err
		}
		old := t.ByName(kind, name)
		if err := e.maker.CheckRequest(tx.Locks(), req, partyVersion(old), partyScope(old)); err != nil {
			return err
		}
		newID := func() identity.ID { return identity.ID(e.maker.NewID(req)) }
		zone := e.zoneOf(0)
		if old != nil {
			zone = e.zoneOf(old.ID)
		}
		read, err := t.Read(Document{kind, name, node, hash, e.judge, zone}, newID, req.Now)
		if err != nil {
			return err
		}
		switch {
		case read.Revoke:
			err = e.revokeAll(ctx, tx, req, &read.Party)
		case hash != "":
			read.Warns = stillLetIn(t, &read.Party)
		}
		if err != nil {
			return err
		}
		if read.Party.Disabled && read.Old != nil && !read.Old.Disabled {
			read.Warns = append(read.Warns, left...)
		}
		out, err = e.writeParty(ctx, tx, req, read)
		put = read
		return err
	})
	if err != nil || req.DryRun {
		return out, err
	}
	return out, e.tellCases(change.Committed(ctx), req, put)
}

// leftBy says what a user leaves to others whom the document disables. It is found outside
// the writer, before the user is disabled.
func (e *Accounts) leftBy(ctx context.Context, req change.Request, kind identity.Kind, name string, doc *document.Node) (warnings []string, err error) {
	p := e.Table().ByName(kind, name)
	if kind != identity.User || p == nil || p.Disabled || !saysDisabled(doc) {
		return nil, nil
	}
	left, err := e.ties.PartyLeaves(ctx, req, p)
	for _, sentence := range left {
		warnings = append(warnings, "disabled: "+sentence)
	}
	return warnings, err
}

// tellCases has the cases follow who may log in and who is in which team, once that is
// known: a user who disables themselves is logged out by then.
func (e *Accounts) tellCases(ctx context.Context, req change.Request, c *Change) error {
	p := e.Table().ByID(c.Party.ID)
	if p == nil {
		return nil // deleted since
	}
	if p.Disabled {
		if err := e.ties.VacateParty(ctx, req, p); err != nil {
			return err
		}
	}
	if c.Created {
		return e.ties.PartyMade(ctx, req, p)
	}
	old := c.Old
	if !p.Disabled && (!c.Changed || old.Disabled == p.Disabled && old.Admin == p.Admin && slices.Equal(old.Members, p.Members) && slices.Equal(old.Admins, p.Admins)) {
		return nil
	}
	return e.ties.StaffChanged(ctx, req, Staff{Changed: []identity.ID{p.ID}, Come: come(old, p)})
}

// come returns who can do tasks of a user or team that could not before.
func come(old, p *store.Party) (names []identity.Name) {
	switch {
	case p.Disabled || old == nil:
	case p.Kind == identity.User && old.Disabled:
		names = append(names, p.Name)
	case p.Kind == identity.Team:
		for _, member := range p.Members {
			if !slices.Contains(old.Members, member) {
				names = append(names, member)
			}
		}
	}
	return names
}

// hashGiven hashes the password of a user's document. It returns "" if there is
// none. It is slow, so it is done outside the writer.
func (e *Accounts) hashGiven(kind identity.Kind, node *document.Node) (string, error) {
	password := GivenPassword(node)
	if kind != identity.User || password == "" {
		return "", nil
	}
	hash, err := e.hash(password)
	return hash, errs.Wrap("hash a password", err)
}

func partyVersion(p *store.Party) change.Version {
	if p == nil {
		return change.Version{}
	}
	return change.Version{Exists: true, ETag: p.ETag(), Definition: p.ETag(), Modified: p.Modified}
}

func (e *Accounts) writeParty(ctx context.Context, tx store.Tx, req change.Request, c *Change) (*change.Outcome, error) {
	p := c.Party
	if c.Changed {
		p.Revision++
		p.Modified = req.Now
		if err := tx.Write().Parties().Put(&p); err != nil {
			return nil, err
		}
		if err := e.log.WriteParty(ctx, tx, req.By, c.Old, &p); err != nil {
			return nil, err
		}
		if p.Disabled {
			if err := tx.Write().Locks().DeleteOf(p.ID); err != nil {
				return nil, err
			}
		}
		before := e.Table().Directory()
		if err := e.Refresh(tx); err != nil {
			return nil, err
		}
		if err := unlockLeavers(tx, before); err != nil {
			return nil, err
		}
		if err := e.mailboxLeft(tx, req, c.Old); err != nil {
			return nil, err
		}
		old := c.Old
		if old == nil {
			old = &store.Party{}
		}
		if err := e.ties.DeputyChanged(tx, req, old, &p); err != nil {
			return nil, err
		}
	}
	out := &change.Outcome{
		Created: c.Created, Changed: c.Changed, Name: string(p.Name),
		Form: PartyForm(&p), FormETag: p.ETag(), Modified: p.Modified,
	}
	if len(c.Warns) > 0 {
		out.Report = document.Line(map[string][]string{"warnings": c.Warns})
	}
	return out, e.maker.Finish(tx, req, out)
}

// unlockLeavers ends the locks of the users who have left a team by a change of users and
// teams: those on what the team has would keep its members out, and which those are the
// lock does not say.
func unlockLeavers(tx store.Tx, before *identity.Directory) error {
	t, err := Read(tx)
	if err != nil {
		return err
	}
	for _, u := range t.Directory().Parties() {
		if u.Kind != identity.User {
			continue
		}
		now := t.Directory().Principal(u.ID)
		left := slices.ContainsFunc(before.Principal(u.ID).Contexts(), func(id identity.ID) bool { return !now.In(id) })
		if !left {
			continue
		}
		if err := tx.Write().Locks().DeleteOf(u.ID); err != nil {
			return err
		}
	}
	return nil
}

// mailboxLeft tells of the mailbox that a user had before a change if nobody gets mails
// there any more. old may be nil.
func (e *Accounts) mailboxLeft(tx store.Tx, req change.Request, old *store.Party) error {
	if old == nil || old.Email == "" {
		return nil
	}
	t, err := Read(tx) // the change is not in the table yet
	if err != nil || len(t.UsersOf(old.Email)) > 0 {
		return err
	}
	return e.ties.AddressChanged(tx, req, old.Email)
}

// PartyID returns the id of the user or team of that name, 0 for none.
func (e *Accounts) PartyID(name string) identity.ID {
	if p := e.Table().Directory().ByName(identity.Name(name)); p != nil {
		return p.ID
	}
	return 0
}

// Principal returns the acting view of a user, whose rights are at each moment
// those that it has then.
func (e *Accounts) Principal(id identity.ID) identity.Principal {
	return identity.LivePrincipal(id, func() *identity.Directory { return e.Table().Directory() })
}
