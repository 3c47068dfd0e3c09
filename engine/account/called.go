package account

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// What people are called (docs/contract/drive.md#full-names).

// foldCalled returns what of a name people tell apart: not case, kinds of blanks and forms of
// letters.
func foldCalled(name string) string {
	return identity.Fold(strings.Join(strings.Fields(norm.NFKC.String(name)), " "))
}

// shared is in place of whom is called so, if several are.
const shared identity.ID = -1

// calledOf returns who is called so, by each name and full name.
func calledOf(parties []store.Party) map[string]identity.ID {
	out := map[string]identity.ID{}
	for i := range parties {
		p := &parties[i]
		for _, name := range []string{string(p.Name), p.FullName} {
			if name = foldCalled(name); name == "" {
				continue
			}
			if id, taken := out[name]; taken && id != p.ID {
				out[name] = shared
			} else {
				out[name] = p.ID
			}
		}
	}
	return out
}

// Called returns what people call a user: the full name, with the name behind it if another
// user or team is called so, too.
func (t *Table) Called(p *store.Party) string {
	switch {
	case p.FullName == "":
		return string(p.Name)
	case t.called[foldCalled(p.FullName)] == shared:
		return p.FullName + " (" + string(p.Name) + ")"
	}
	return p.FullName
}

// checkCalled refuses a full name that a user gives themselves if others are called so.
func (t *Table) checkCalled(v document.Value, old, p *store.Party) {
	name := foldCalled(p.FullName)
	if name == foldCalled(old.FullName) || name == foldCalled(string(p.Name)) {
		return
	}
	if id, taken := t.called[name]; taken && id != p.ID {
		v.Fail(errs.CodeConflict, "%q is what another user or team is called; an administrator can give two the same", p.FullName)
	}
}
