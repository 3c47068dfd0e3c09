package remote

import (
	"context"
	"maps"
	"slices"
	"strings"

	"flowdrive/client"
	"flowdrive/internal/document"
)

// knownStatus says of a filter that has found nothing if no route has a state of that name.
func (s *session) knownStatus(ctx context.Context, route, status string) error {
	described, err := s.stateNames(ctx, route)
	if err != nil {
		return err
	}
	names := make([]string, len(described))
	for i, of := range described {
		names[i], _, _ = strings.Cut(of, "\t")
	}
	if slices.Contains(names, status) {
		return nil
	}
	whose := "no route that you see has"
	if route != "" {
		whose = "the route " + route + " does not have"
	}
	return s.say("warning: --status: %s a state %q%s", whose, status, document.Hint(status, names))
}

// knownXAttrs says of a filter that has found nothing which of its XATTRs no route declares: the
// name may be mistyped. A case may have others, too.
func (s *session) knownXAttrs(ctx context.Context, route string, asked map[string]string) error {
	var names []string
	for r, err := range s.Routes(ctx) {
		if err != nil {
			return err
		}
		if route == "" || route == r.Name {
			names = slices.AppendSeq(names, maps.Keys(r.XAttrs))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	whose := "no route that you see declares an"
	if route != "" {
		whose = "the route " + route + " declares no"
	}
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		if isDeclared(names, key) {
			continue
		}
		if err := s.say("warning: --xattr: %s XATTR %q%s", whose, key, document.Hint(key, names)); err != nil {
			return err
		}
	}
	return nil
}

// undeclared warns of XATTRs that the route of a case does not declare, although it declares some:
// the name may be mistyped. Those of the form of an action count as declared.
func (s *session) undeclared(ctx context.Context, route string, given map[string]any, form []string) error {
	if len(given) == 0 {
		return nil
	}
	r, err := s.Route(ctx, route)
	if client.IsSlug(err, "not-found") {
		return nil // the start says it
	}
	if err != nil || len(r.XAttrs)+len(form) == 0 {
		return err
	}
	names := slices.Sorted(maps.Keys(r.XAttrs))
	for _, key := range form {
		if !isDeclared(names, key) {
			names = append(names, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if isDeclared(names, key) {
			continue
		}
		if err := s.say("warning: --set: the route %s declares no XATTR %q%s", route, key, document.Hint(key, names)); err != nil {
			return err
		}
	}
	return nil
}

func isDeclared(names []string, key string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return sameKey(name, key) })
}

// undeclaredIn is undeclared for what an action is given.
func (s *session) undeclaredIn(ctx context.Context, to target, given map[string]any) error {
	if len(given) == 0 {
		return nil
	}
	t, err := s.Task(ctx, to.id, to.action)
	if client.IsSlug(err, "not-found") {
		return nil // to perform it says why
	}
	if err != nil {
		return err
	}
	fields, err := formOf(&t)
	if err != nil {
		return err
	}
	return s.undeclared(ctx, t.Route, given, sortedKeys(fields))
}
