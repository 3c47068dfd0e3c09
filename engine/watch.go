package engine

import (
	"slices"
	"strings"

	"flowdrive/document"
	"flowdrive/errs"
	"flowdrive/identity"
)

// mostWatched bounds the routes that a user watches.
const mostWatched = 100

// readWishes reads whether the user wants mails: absent stays, null resets.
func readWishes(v document.Value, quiet *bool) {
	wanted := !*quiet
	if v.Flag(&wanted); v.Node != nil && v.Node.Kind == document.Null {
		wanted = true
	}
	*quiet = !wanted
}

// readWatch reads the routes that the user watches: those that by sees, and
// those that are watched already, though they may be gone.
func (e *Engine) readWatch(v document.Value, by identity.Principal, watch *[]string) {
	switch {
	case v.Node == nil:
		return
	case v.Node.Kind == document.Null:
		*watch = nil
		return
	case !v.Is(document.List):
		return
	case len(v.Node.Items) > mostWatched:
		v.Fail(errs.CodeRange, "must name at most %d routes", mostWatched)
		return
	}
	var list []string
	for i := range v.Node.Items {
		item := v.Item(i)
		name, ok := item.Str()
		if !ok {
			continue
		}
		named := func(other string) bool { return identity.Fold(other) == identity.Fold(name) }
		at := slices.IndexFunc(*watch, named)
		switch info := e.routes.Load().byName[identity.Fold(name)]; {
		case info != nil && e.seesRoute(by, info):
			name = info.Name
		case at >= 0:
			name = (*watch)[at]
		default:
			item.Fail(errs.CodeNotFound, "there is no route %q, or it is not for you to see", name)
			continue
		}
		if !slices.ContainsFunc(list, named) {
			list = append(list, name)
		}
	}
	*watch = list
}

// watchersOf returns the active users who watch a route, by its folded name.
func watchersOf(parties []Party) map[string][]string {
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

// watchers returns the users who watch a route.
func (e *Engine) watchers(id int64) []string {
	if info := e.routes.Load().byID[id]; info != nil {
		return e.parties.Load().watchers[identity.Fold(info.Name)]
	}
	return nil
}
