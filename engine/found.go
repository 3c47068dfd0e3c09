package engine

import (
	"context"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Admin is the user that the first start makes.
const Admin identity.Name = "admin"

// Example is a route that comes with the program.
type Example struct {
	Name   string
	YAML   bool
	Source []byte
}

// The modes of a data folder: made as one, it is never the other.
const (
	ModeReal    = "real"
	ModeSandbox = "sandbox"

	settingMode     = "mode"
	settingExamples = "examples" // "stored" once all of them were
)

// otherMode says why a store of the mode is not opened in the other one, and what to do.
func otherMode(stored string) string {
	if stored == ModeSandbox {
		return "The data folder is that of a sandbox, and stays one; start it with --sandbox, or use another folder."
	}
	return "The data folder is that of a real server, and stays one; to try out what is in it, make a sandbox of a backup with: flowdrive restore BACKUP --data FOLDER --sandbox"
}

// MakeSandbox makes a sandbox of a store that no server has open, for good. What is in its
// outbox is recorded then, and not sent.
func MakeSandbox(ctx context.Context, s store.Store) error {
	return s.Update(ctx, func(tx store.Tx) error {
		return tx.Write().Settings().Put(settingMode, ModeSandbox)
	})
}

// Found fills an empty store: the team everyone, the administrator, the team
// core, and the routes that come with the program, owned by the
// administrator. It reports whether the store was empty; a store of the
// other mode is refused.
func (e *Engine) Found(ctx context.Context, now time.Time, passwordHash string, routes []Example) (bool, error) {
	mode := ModeReal
	if e.sandbox {
		mode = ModeSandbox
	}
	founded := false
	err := e.Store.Update(ctx, func(tx store.Tx) error {
		stored, err := tx.Settings().Get(settingMode)
		if err != nil {
			return err
		}
		if stored != "" && stored != mode {
			return errs.New(errs.Invalid, "%s", otherMode(stored))
		}
		if stored != "" {
			return nil
		}
		founded = true
		if err := tx.Write().Settings().Put(settingMode, mode); err != nil {
			return err
		}
		for _, p := range []identity.Party{
			{Name: identity.Everyone, Kind: identity.Team},
			{Name: Admin, Kind: identity.User, Admin: true, FullName: "Administrator"},
			{Name: "core", Kind: identity.Team},
		} {
			p.ID = identity.ID(e.Store.NextID())
			party := &store.Party{Party: p, Revision: 1, Created: now, Modified: now}
			if p.Kind == identity.User {
				party.Password = passwordHash
			}
			if err := tx.Write().Parties().Put(party); err != nil {
				return err
			}
			if err := e.audit.WriteParty(ctx, tx, identity.Principal{}, nil, party); err != nil {
				return err
			}
		}
		return e.Accounts.Refresh(tx)
	})
	if err != nil {
		return founded, err
	}
	return founded, e.storeExamples(ctx, now, routes)
}

// storeExamples stores the routes that come with the program, once: those
// that a first start which was cut short has not stored yet.
func (e *Engine) storeExamples(ctx context.Context, now time.Time, routes []Example) error {
	var stored string
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		stored, err = r.Settings().Get(settingExamples)
		return err
	})
	if err != nil || stored != "" {
		return err
	}
	if err := e.Load(ctx); err != nil {
		return err
	}
	by := e.accounts.Principal(e.accounts.PartyID(string(Admin)))
	for _, doc := range routes {
		if e.rights.Visible(by, doc.Name) != nil {
			continue
		}
		if _, err := e.Routes.PutRoute(ctx, Request{By: by, Now: now}, doc.Name, doc.YAML, doc.Source); err != nil {
			return errs.Wrap("store the route "+doc.Name, err)
		}
	}
	return e.Store.Update(ctx, func(tx store.Tx) error { return tx.Write().Settings().Put(settingExamples, "stored") })
}

// Empty reports whether nothing was ever founded in the store.
func (e *Engine) Empty(ctx context.Context) (bool, error) {
	var mode string
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		mode, err = r.Settings().Get(settingMode)
		return err
	})
	return mode == "", err
}

// Ready returns an error if the engine cannot serve because the store does not
// answer.
func (e *Engine) Ready(ctx context.Context) error {
	_, err := e.Empty(ctx)
	return err
}
