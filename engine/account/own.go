package account

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// ownPasswordOnly keeps a device from changing who may log in and what users
// may do: accounts, teams, app passwords and calendar links. So a finder of the
// device gets nothing that lasts longer than the app password. On the drive,
// including Admin/Holds/ and the breaking of locks, a device may do what its
// user may: that gives no one access.
func ownPasswordOnly(by identity.Principal) error {
	if by.Device {
		return errs.New(errs.NotAllowed, "You are logged in with an app password, which cannot change accounts, teams, app passwords or calendar links; log in with your own password, which commands take from FLOWDRIVE_PASSWORD.")
	}
	return nil
}

// mayChangeParties answers why by may not change users and teams, nil if it
// may.
func mayChangeParties(by identity.Principal) error {
	if !by.Admin() {
		return change.Absent("folder")
	}
	return ownPasswordOnly(by)
}

// Me returns who the caller is. Errors: errs.NotFound if the user was deleted.
func (e *Accounts) Me(_ context.Context, by identity.Principal) (*change.Resource, error) {
	t := e.Table()
	if t.ByID(by.ID) == nil {
		return nil, change.Absent("user")
	}
	return e.meResource(t, by.ID), nil
}

// meResource returns me.json of the user. It changes with the teams as well, so
// its ETag is of its bytes.
func (e *Accounts) meResource(t *Table, id identity.ID) *change.Resource {
	form := t.Me(id, e.warnings(t, id))
	return &change.Resource{Name: "me", Form: form, FormETag: change.SourceETag(form), Created: t.ByID(id).Created, Modified: t.Modified(), Own: true, Lock: store.AccountKey(id)}
}

// People returns the names of all users who are not disabled, and of all
// teams, in order of creation.
func (e *Accounts) People(context.Context, identity.Principal) (*change.Resource, error) {
	t := e.Table()
	form := t.People()
	return &change.Resource{Name: "people", Form: form, FormETag: change.SourceETag(form), Modified: t.Modified(), Own: true}, nil
}

// PutMe changes what a user may change of their own account, field by field. A
// new password needs the old one, which is checked like a log-in, so that
// guessing it here is not faster. Errors: errs.NotAllowed for a device;
// errs.Precondition; errs.Invalid with every fault of the document, a wrong old
// password included; errs.TooMany after failures.
func (e *Accounts) PutMe(ctx context.Context, req change.Request, body []byte) (*change.Outcome, error) {
	if err := ownPasswordOnly(req.By); err != nil {
		return nil, err
	}
	held := e.Table()
	if held.ByID(req.By.ID) == nil {
		return nil, change.Absent("user")
	}
	if err := change.CheckVersion(req.If, e.meVersion(held, req.By.ID)); err != nil {
		return nil, err
	}
	node, err := document.Parse(body, false)
	if err != nil {
		return nil, err
	}
	if _, err := e.readMe(held, req, node, ""); err != nil {
		return nil, err
	}
	hash, err := e.newPassword(ctx, req.By, node)
	if err != nil {
		return nil, err
	}
	var out *change.Outcome
	err = e.maker.Update(ctx, func(tx store.Tx) error {
		t, err := Read(tx)
		if err != nil {
			return err
		}
		p := t.ByID(req.By.ID)
		if p == nil {
			return change.Absent("user")
		}
		if err := e.maker.CheckRequest(tx.Locks(), req, e.meVersion(t, p.ID), change.ScopeOf(store.AccountKey(p.ID))); err != nil {
			return err
		}
		if hash != "" && p.Password != held.ByID(p.ID).Password {
			return wrongPassword() // it was changed while the old one was checked
		}
		changed, err := e.readMe(t, req, node, hash)
		if err != nil {
			return err
		}
		if _, err = e.writeParty(ctx, tx, change.Request{By: req.By, Now: req.Now}, changed); err != nil {
			return err
		}
		if changed.Code != "" {
			if err := e.ties.MailCode(tx, &changed.Party, changed.Code, req.Now); err != nil {
				return err
			}
		}
		if t, err = Read(tx); err != nil {
			return err
		}
		me := e.meResource(t, p.ID)
		out = &change.Outcome{Changed: changed.Changed, Name: me.Name, Form: me.Form, FormETag: me.FormETag, Modified: me.Modified}
		asked := changed.Party.Pending.Address != "" && !reflect.DeepEqual(changed.Old.Pending, changed.Party.Pending)
		if warnings := e.warnings(t, p.ID); len(warnings) > 0 && (asked || !slices.Equal(changed.Old.Watch, changed.Party.Watch)) {
			out.Report = document.Line(map[string][]string{"warnings": warnings})
		}
		return e.maker.Finish(tx, req, out)
	})
	return out, err
}

func (e *Accounts) meVersion(t *Table, id identity.ID) change.Version {
	me := e.meResource(t, id)
	return change.Version{Exists: true, ETag: me.FormETag, Modified: me.Modified}
}

// readMe reads the document of me.json; hash is of the new password, "" for
// none. Only a route that the user sees can be watched.
func (e *Accounts) readMe(t *Table, req change.Request, node *document.Node, hash string) (*Change, error) {
	own := e.own
	if t.ByID(req.By.ID).Admin {
		own = nil // who may give any address to others
	}
	return t.ReadMe(req.By.ID, node, hash, req.Now, Known{
		Route: func(route string) (name string, ok bool) { return e.routes.SeenRoute(req.By, route) },
		Zone:  e.zone, Kinds: e.kinds, Dates: e.zoneOf(req.By.ID), Password: e.judge, Address: own,
	})
}

// warnings says what is missing for an address that the user has asked for, and of which
// watched routes the user sees but some of the cases: to watch those has an effect for
// these alone.
func (e *Accounts) warnings(t *Table, id identity.ID) (out []string) {
	if warning := pendingWarning(t.ByID(id), e.maker.Clock.Now()); warning != "" {
		out = append(out, warning)
	}
	by := t.Directory().Principal(id)
	for _, route := range t.ByID(id).Watch {
		if !e.routes.SeesCases(by, route) {
			out = append(out, fmt.Sprintf("watch: of the cases of %q you may see only those that you have a part in, and those of your teams; you are told of no others.", route))
		}
	}
	return out
}

// newPassword checks the old password and hashes the new one. It returns "" if
// the document has none. Both are slow, so they are done outside the writer.
func (e *Accounts) newPassword(ctx context.Context, by identity.Principal, node *document.Node) (string, error) {
	password := node.Get("password")
	if password == nil {
		return "", nil
	}
	switch err := e.check(ctx, by.Name, node.Get("oldPassword").Text); {
	case errs.Is(err, errs.LogIn):
		e.log.Refused(ctx, by, audit.Password, "the old password was wrong")
		return "", wrongPassword()
	case err != nil:
		if errs.Is(err, errs.TooMany) {
			e.log.Refused(ctx, by, audit.Password, "too many failures before")
		}
		return "", err
	}
	hash, err := e.hash(password.Text)
	return hash, errs.Wrap("hash a password", err)
}

func wrongPassword() error {
	return errs.InvalidDocument([]errs.Fault{{Pointer: "/oldPassword", Code: errs.CodeConflict, Detail: "is not your password"}})
}
