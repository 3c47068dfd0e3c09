package engine

import (
	"context"

	"flowdrive/engine/change"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Alias returns what by has dropped into the route's folder under the name.
// Errors: errs.NotFound if by may not see the route, or has no such file.
func (e *Drops) Alias(ctx context.Context, by identity.Principal, route, name string) (*store.Alias, error) {
	info := e.rights.Visible(by, route)
	if info == nil {
		return nil, change.Absent("route")
	}
	var a *store.Alias
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		a, err = store.OrNil(r.Names().Alias(by.ID, info.ID, name))
		return err
	})
	if err == nil && a == nil {
		err = change.Absent("file")
	}
	return a, err
}

// Aliases returns what by has dropped into the route's folder and what is still
// listed there. Errors: errs.NotFound if by may not see the route.
func (e *Drops) Aliases(ctx context.Context, by identity.Principal, route string) ([]store.Alias, error) {
	info := e.rights.Visible(by, route)
	if info == nil {
		return nil, change.Absent("route")
	}
	var out []store.Alias
	err := e.Store.View(ctx, func(r store.Reader) (err error) {
		out, err = r.Names().Aliases(by.ID, info.ID)
		return err
	})
	return out, err
}

// OpenAlias opens what by has dropped into the route's folder under the name.
// Errors: errs.NotFound if there is no such file.
func (e *Drops) OpenAlias(ctx context.Context, by identity.Principal, route, name string) (*Content, error) {
	return e.contents.OpenMessage(func() (*store.Message, error) {
		a, err := e.Alias(ctx, by, route, name)
		if err != nil {
			return nil, err
		}
		return &a.Input, nil
	})
}

// DeleteAlias takes a dropped file out of the folder's listing. The case that
// it has started goes on. Errors: errs.NotFound if there is no such file.
func (e *Drops) DeleteAlias(ctx context.Context, req Request, route, name string) error {
	info := e.rights.Visible(req.By, route)
	if info == nil {
		return change.Absent("route")
	}
	return e.Store.Update(ctx, func(tx store.Tx) error {
		a, err := store.OrNil(tx.Names().Alias(req.By.ID, info.ID, name))
		if err != nil {
			return err
		}
		if a == nil {
			return change.Absent("file")
		}
		if err := change.CheckVersion(req.If, aliasVersion(a)); err != nil {
			return err
		}
		return tx.Write().Names().DeleteAlias(req.By.ID, info.ID, name)
	})
}

// aliasVersion is what a condition on a dropped file is judged by; nil is
// none.
func aliasVersion(a *store.Alias) Version {
	if a == nil {
		return Version{}
	}
	return Version{Exists: true, ETag: MessageETag(&a.Input), Modified: a.Input.Modified}
}

// judgeAlias asks the request's condition about what the caller has in the
// route's folder under the name.
func judgeAlias(r store.Reader, req Request, routeID int64, name string) error {
	if req.If == nil {
		return nil
	}
	a, err := store.OrNil(r.Names().Alias(req.By.ID, routeID, name))
	if err != nil {
		return err
	}
	return change.CheckVersion(req.If, aliasVersion(a))
}
