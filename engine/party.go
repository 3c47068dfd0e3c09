package engine

import (
	"context"

	"flowdrive/engine/account"
	"flowdrive/engine/change"
	"flowdrive/store"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// Account returns what a log-in is checked against: the user's id, its
// encoded password hash ("" for none) and whether it is disabled.
func (e *Accounts) Account(name string) (id identity.ID, hash string, disabled, ok bool) {
	p := e.parties.Load().ByName(identity.User, name)
	if p == nil {
		return 0, "", false, false
	}
	return p.ID, p.Password, p.Disabled, true
}

// Principal returns the acting view of a user, whose rights are at each moment
// those that it has then.
func (e *base) Principal(id identity.ID) identity.Principal {
	return identity.LivePrincipal(id, e.directory)
}

// PartyID returns the id of the user or team of that name, 0 for none.
func (e *base) PartyID(name string) identity.ID {
	if p := e.directory().ByName(identity.Name(name)); p != nil {
		return p.ID
	}
	return 0
}

// Party returns a user or team, for administrators.
func (e *Accounts) Party(_ context.Context, by identity.Principal, kind identity.Kind, name string) (*Resource, error) {
	p := e.parties.Load().ByName(kind, name)
	if !by.Admin() || p == nil {
		return nil, change.Absent(string(kind))
	}
	return partyResource(p), nil
}

// Parties returns all users or all teams by id, for administrators.
func (e *Accounts) Parties(_ context.Context, by identity.Principal, kind identity.Kind) ([]Resource, error) {
	if !by.Admin() {
		return nil, change.Absent("folder")
	}
	t := e.parties.Load()
	var out []Resource
	for _, p := range t.Directory().Parties() {
		if p.Kind == kind {
			out = append(out, *partyResource(t.ByID(p.ID)))
		}
	}
	return out, nil
}

func partyResource(p *store.Party) *Resource {
	return &Resource{
		Name:       string(p.Name),
		Seq:        int64(p.ID),
		Form:       account.PartyForm(p),
		FormETag:   p.ETag(),
		Definition: p.ETag(),
		Created:    p.Created,
		Modified:   p.Modified,
		Own:        true,
	}
}

// PutParty creates or changes a user or a team: a record, changed field by
// field.
func (e *Accounts) PutParty(ctx context.Context, req Request, kind identity.Kind, name string, body []byte) (*Outcome, error) {
	if err := mayChangeParties(req.By); err != nil {
		return nil, err
	}
	node, err := parseDocument(body, false)
	if err != nil {
		return nil, err
	}
	hash, err := e.hashGiven(kind, node)
	if err != nil {
		return nil, err
	}
	var out *Outcome
	err = e.Update(ctx, func(tx store.Tx) error {
		if err := mayChangeParties(req.By); err != nil {
			return err // while the password was hashed, this may have ended
		}
		t, err := readParties(tx)
		if err != nil {
			return err
		}
		if err := change.CheckVersion(req.If, partyVersion(t.ByName(kind, name))); err != nil {
			return err
		}
		newID := func() identity.ID { return identity.ID(e.NewID(req)) }
		change, err := t.Read(kind, name, node, hash, newID, req.Now)
		if err != nil {
			return err
		}
		out, err = e.writeParty(ctx, tx, req, change)
		return err
	})
	return out, err
}

// hashGiven hashes the password of a user's document, "" where it has none:
// a slow thing to be done before the writer is asked.
func (e *Accounts) hashGiven(kind identity.Kind, node *document.Node) (string, error) {
	password := account.GivenPassword(node)
	if kind != identity.User || password == "" {
		return "", nil
	}
	hash, err := e.hash(password)
	return hash, errs.Wrap("hash a password", err)
}

func readParties(r store.Reader) (*account.Table, error) {
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
	return account.NewTable(parties, secrets), nil
}

func partyVersion(p *store.Party) Version {
	if p == nil {
		return Version{}
	}
	return Version{Exists: true, ETag: p.ETag(), Definition: p.ETag(), Modified: p.Modified}
}

func (e *Accounts) writeParty(ctx context.Context, tx store.Tx, req Request, c *account.Change) (*Outcome, error) {
	p := c.Party
	if c.Changed {
		p.Revision++
		p.Modified = req.Now
		if err := tx.Write().Parties().Put(&p); err != nil {
			return nil, err
		}
		if err := e.audit.WriteParty(ctx, tx, req.By, c.Old, &p); err != nil {
			return nil, err
		}
		if p.Disabled {
			if err := tx.Write().Locks().DeleteOf(p.ID); err != nil {
				return nil, err
			}
		}
		if err := e.refreshParties(tx); err != nil {
			return nil, err
		}
	}
	out := &Outcome{
		Created: c.Created, Changed: c.Changed, Name: string(p.Name),
		Form: account.PartyForm(&p), FormETag: p.ETag(), Modified: p.Modified,
	}
	return out, e.Finish(tx, req, out)
}

// refreshParties replaces what is kept in memory, once the unit is durable.
func (e *base) refreshParties(tx store.Tx) error {
	t, err := readParties(tx)
	if err != nil {
		return err
	}
	tx.AfterCommit(func() {
		e.parties.Store(t)
		e.events.Rouse() // who listens may not any more
	})
	return nil
}
