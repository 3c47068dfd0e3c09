package engine

import (
	"cmp"
	"context"
	"crypto/sha256"

	"flowdrive/engine/access"
	"flowdrive/engine/account"
	"flowdrive/engine/audit"
	"flowdrive/engine/change"
	"flowdrive/engine/hook"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Hooks has the use cases of hooks: addresses that need no log-in, by which others
// start cases or write messages of them (docs/contract/drive.md#hooks).
type Hooks struct {
	*base
	cases   *Cases
	drops   *Drops
	decider *decider

	secrets hook.Secrets
	rates   hook.Rates
}

// administered returns the route of that name if by administers it. Others are told
// that there is nothing.
func (e *Hooks) administered(by identity.Principal, name string) (*access.Route, error) {
	info := e.rights.Visible(by, name)
	if info == nil || !e.rights.Administers(by, info) {
		return nil, change.Absent("folder")
	}
	return info, nil
}

// Hooks returns the hooks of a route in order of creation. Errors: errs.NotFound for
// those who do not administer the route.
func (e *Hooks) Hooks(ctx context.Context, by identity.Principal, route string) ([]Resource, error) {
	info, err := e.administered(by, route)
	if err != nil {
		return nil, err
	}
	var out []Resource
	err = e.Store.View(ctx, func(r store.Reader) error {
		hooks, err := r.Routes().Hooks().OfRoute(info.ID)
		for i := range hooks {
			resource, bad := e.resource(r, info, &hooks[i])
			if bad != nil {
				return bad
			}
			out = append(out, *resource)
		}
		return err
	})
	return out, err
}

// Hook returns the hook of that name. Errors: errs.NotFound, also for those who do
// not administer the route.
func (e *Hooks) Hook(ctx context.Context, by identity.Principal, route, name string) (*Resource, error) {
	info, err := e.administered(by, route)
	if err != nil {
		return nil, err
	}
	var out *Resource
	err = e.Store.View(ctx, func(r store.Reader) error {
		found, err := store.OrNil(r.Routes().Hooks().Get(info.ID, name))
		if err == nil && found == nil {
			err = change.Absent("hook")
		}
		if err == nil {
			out, err = e.resource(r, info, found)
		}
		return err
	})
	return out, err
}

// PutHook makes a hook, whose address is in the outcome, this once; or changes what
// the one of that name does, and keeps its address. From then on it acts as the
// caller. Errors: errs.NotFound for those who do not administer the route;
// errs.NotAllowed for a device; errs.Invalid with every fault of the document.
func (e *Hooks) PutHook(ctx context.Context, req Request, route, name string, body []byte) (*Outcome, error) {
	info, err := e.mayChangeHooks(req.By, route)
	if err != nil {
		return nil, err
	}
	node, err := document.Parse(body, false)
	if err != nil {
		return nil, err
	}
	token := account.NewToken()
	var out *Outcome
	err = e.Update(ctx, func(tx store.Tx) error {
		info, err = e.mayChangeHooks(req.By, route)
		if err != nil {
			return err
		}
		old, err := store.OrNil(tx.Routes().Hooks().Get(info.ID, name))
		if err != nil {
			return err
		}
		if err := e.CheckRequest(tx.Locks(), req, hook.Version(old), hook.Scope(old)); err != nil {
			return err
		}
		was, err := settingsBefore(old)
		if err != nil {
			return err
		}
		settings, err := hook.Read(node, name, was)
		if err != nil {
			return err
		}
		out, err = e.writeHook(ctx, tx, req, old, &store.Hook{
			RouteID: info.ID, Name: name, Author: req.By.ID, SHA256: sha256.Sum256([]byte(token)),
			Settings: document.Line(settings), Created: req.Now, Modified: req.Now,
		})
		if err == nil && out.Created {
			out.Once, err = e.once(tx, info, &store.Hook{Name: name, Author: req.By.ID, Settings: document.Line(settings), Created: req.Now, Modified: req.Now}, token)
		}
		return err
	})
	return out, err
}

// once returns the form that the maker of a hook is answered: with its address, this once.
func (e *Hooks) once(r store.Reader, info *access.Route, h *store.Hook, token string) ([]byte, error) {
	form, err := e.form(r, info, h)
	if err != nil {
		return nil, err
	}
	form.URL = e.links.To("/hook/" + token)
	return document.Line(form), nil
}

// mayChangeHooks returns the route whose hooks by may change. A device may not: a
// hook would outlast its app password.
func (e *Hooks) mayChangeHooks(by identity.Principal, route string) (*access.Route, error) {
	info, err := e.administered(by, route)
	if err == nil && by.Device {
		err = errs.New(errs.NotAllowed, "You are logged in with an app password, which cannot make or change hooks; log in with your own password.")
	}
	return info, err
}

func (e *Hooks) writeHook(ctx context.Context, tx store.Tx, req Request, old, h *store.Hook) (*Outcome, error) {
	info := e.rights.Route(h.RouteID)
	if info == nil {
		return nil, change.Absent("folder")
	}
	if old != nil {
		h.ID, h.Name, h.SHA256, h.Created, h.Revision = old.ID, old.Name, old.SHA256, old.Created, old.Revision+1
	} else if all, err := tx.Routes().Hooks().OfRoute(info.ID); err != nil || len(all) >= hook.MostOfRoute {
		if err == nil {
			err = errs.New(errs.TooMany, "The route has %d hooks, which is the limit; delete some first.", hook.MostOfRoute)
		}
		return nil, err
	}
	if err := tx.Write().Routes().Hooks().Put(h); err != nil {
		return nil, err
	}
	if err := e.endFault(tx, h, hookEnd{at: req.Now, by: req.By.ID}); err != nil {
		return nil, err
	}
	action, detail, err := whatIsDone(old, h)
	if err != nil {
		return nil, err
	}
	if err := e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, action, info.Name+"/"+h.Name, detail)); err != nil {
		return nil, err
	}
	f, err := e.form(tx, info, h)
	if err != nil {
		return nil, err
	}
	r := f.Resource(h)
	out := &Outcome{Created: old == nil, Changed: true, Name: h.Name, Form: r.Form, FormETag: r.FormETag, Modified: h.Modified, Warnings: f.Warnings}
	if out.Created {
		out.Warnings = nil // the form that is answered has them
	}
	return out, e.Finish(tx, req, out)
}

// settingsBefore returns what a hook says before it is changed: that of a new one if it is nil.
func settingsBefore(old *store.Hook) (hook.Settings, error) {
	if old == nil {
		return hook.New(), nil
	}
	return hook.SettingsOf(old)
}

// whatIsDone returns how the audit log has it that a hook is stored, in place of old or as a new one.
func whatIsDone(old, h *store.Hook) (audit.Action, string, error) {
	was, err := settingsBefore(old)
	if err != nil {
		return "", "", err
	}
	now, err := hook.SettingsOf(h)
	if err != nil {
		return "", "", err
	}
	if old == nil {
		return audit.HookAdd, now.Changes(&was), nil
	}
	return audit.HookChange, now.Changes(&was), nil
}

// DeleteHook revokes a hook: its address is good for nothing at once. Errors:
// errs.NotFound; errs.NotAllowed for a device.
func (e *Hooks) DeleteHook(ctx context.Context, req Request, route, name string) error {
	return e.Store.Update(ctx, func(tx store.Tx) error {
		info, err := e.mayChangeHooks(req.By, route)
		if err != nil {
			return err
		}
		h, err := store.OrNil(tx.Routes().Hooks().Get(info.ID, name))
		if err != nil {
			return err
		}
		if h == nil {
			return change.Absent("hook")
		}
		if err := e.CheckRequest(tx.Locks(), req, hook.Version(h), hook.Scope(h)); err != nil {
			return err
		}
		if err := e.endFault(tx, h, hookEnd{at: req.Now, by: req.By.ID, deleted: true}); err != nil {
			return err
		}
		if err := tx.Write().Locks().DeleteOn(store.HookKey(h.ID)); err != nil {
			return err
		}
		if err := tx.Write().Routes().Hooks().Delete(h.ID); err != nil {
			return err
		}
		return e.audit.Write(ctx, tx, audit.NewRow(req.By, req.Now, audit.HookDelete, info.Name+"/"+h.Name, ""))
	})
}

// hookTarget returns a hook, or the place of one.
func (e *Locks) hookTarget(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	info, err := e.hooks.administered(by, t.Name)
	if err != nil {
		return nil, err
	}
	h, err := store.OrNil(r.Routes().Hooks().Get(info.ID, t.Hook))
	if err != nil {
		return nil, err
	}
	_, refused := e.hooks.mayChangeHooks(by, t.Name)
	return &targeted{LockScope: hook.Scope(h), version: hook.Version(h), refused: refused}, nil
}

// form returns the complete form of a hook.
func (e *Hooks) form(r store.Reader, info *access.Route, h *store.Hook) (hook.Form, error) {
	of := hook.Of{Route: info.Name}
	if p := e.directory().ByID(h.Author); p != nil {
		of.Author = string(p.Name)
	}
	used, err := e.use(r, info)
	if err != nil {
		return hook.Form{}, err
	}
	of.Messages = append(used.Compiled.MessageLabels(), cmp.Or(used.Compiled.Output, LabelOutput))
	for _, x := range machine.Lacks(used.Compiled, nil) {
		of.Required = append(of.Required, x.Key)
	}
	return hook.Describe(h, of, e.secrets)
}

func (e *Hooks) resource(r store.Reader, info *access.Route, h *store.Hook) (*Resource, error) {
	f, err := e.form(r, info, h)
	if err != nil {
		return nil, err
	}
	return f.Resource(h), nil
}
