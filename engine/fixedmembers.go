package engine

import (
	"slices"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// fixedMember is a member of a complete form that the server computes and that no
// document changes.
type fixedMember struct {
	key     string
	instead string // what to do to have it changed, "" if nothing can be done
}

// keepFixed refuses each of the members that is another one than in the form, so that
// a user who has edited one learns that nothing came of it. One that is left out stays. The
// form is made only if a member is there: scripts send none of them, and a form is much work.
func keepFixed(root document.Value, form func() []byte, members []fixedMember) {
	given := func(m fixedMember) bool { return root.Node.Get(m.key) != nil }
	if root.Node.Kind != document.Object || !slices.ContainsFunc(members, given) {
		return
	}
	shown, err := document.ParseJSON(form())
	if err != nil || shown == nil {
		return // forms are JSON: there is nothing to compare with
	}
	for _, m := range members {
		v, have := root.Get(m.key), shown.Get(m.key)
		if v.Node == nil || have == nil || sameAsShown(v.Node, have) {
			continue
		}
		instead := ""
		if m.instead != "" {
			instead = ": " + m.instead
		}
		v.Fail(errs.CodeReadOnly, "cannot be changed here%s", instead)
	}
}

// sameAsShown reports whether the value is the one that the form shows. Programs may
// write the members of an object in an order of their own.
func sameAsShown(v, shown *document.Node) bool {
	if shown.Kind != document.Object || v.Kind != document.Object {
		return document.Equal(v, shown)
	}
	for _, m := range shown.Members {
		if given := v.Get(m.Key); given != nil && !document.Equal(given, m.Value) {
			return false
		}
	}
	return len(v.Members) <= len(shown.Members)
}
