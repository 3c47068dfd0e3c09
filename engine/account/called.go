package account

import (
	"strings"
	"unicode"
	"unicode/utf8"

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
// user or team is called so, too, or if the full name ends as that of another user would.
func (t *Table) Called(p *store.Party) string {
	switch {
	case p.FullName == "":
		return string(p.Name)
	case t.called[foldCalled(p.FullName)] == shared, t.namedBehind(p) != "":
		return p.FullName + " (" + string(p.Name) + ")"
	}
	return p.FullName
}

// namedBehind returns which other user the full name of p has behind it, as Called writes it,
// "" if none.
func (t *Table) namedBehind(p *store.Party) identity.Name {
	name := foldCalled(p.FullName)
	open := strings.LastIndexByte(name, '(')
	if open < 0 || !strings.HasSuffix(name, ")") {
		return ""
	}
	other := t.directory.ByName(identity.Name(strings.TrimSpace(name[open+1 : len(name)-1])))
	if other == nil || other.Kind != identity.User || other.ID == p.ID {
		return ""
	}
	return other.Name
}

// unseen reports whether people do not see a character, or see others in another order because
// of it: control and format characters, those of bidirectional text, of no width and of private use.
func unseen(r rune) bool {
	const blankBraille = 0x2800
	return r == blankBraille || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// seenName returns a full name as it is shown: without what is not seen.
func seenName(name string) string {
	if strings.ContainsFunc(name, unseen) {
		name = strings.Map(func(r rune) rune {
			if unseen(r) {
				return -1
			}
			return r
		}, name)
	}
	if foldCalled(name) == "" {
		return ""
	}
	return name
}

// readFullName reads the full name of a user, which cannot be taken for somebody else. It may be
// the full name of another only if byAdmin: then the name to log in with is shown, too.
func (t *Table) readFullName(v document.Value, p *store.Party, byAdmin bool) {
	old := p.FullName
	if v.Text(&p.FullName, 200); p.FullName == old {
		return
	}
	if i := strings.IndexFunc(p.FullName, unseen); i >= 0 {
		r, _ := utf8.DecodeRuneInString(p.FullName[i:])
		v.Fail(errs.CodeFormat, "has the character U+%04X behind %q, which is not seen or turns others around; write the name without it", r, p.FullName[:i])
		return
	}
	name := foldCalled(p.FullName)
	id, taken := t.called[name]
	switch other := t.directory.ByName(identity.Name(name)); {
	case name == "" && p.FullName != "":
		v.Fail(errs.CodeFormat, "has nothing but blanks; write a name, or \"\" for none")
	case name == foldCalled(old), name == foldCalled(string(p.Name)):
	case byAdmin && other != nil && other.Kind == identity.User:
		v.Fail(errs.CodeConflict, "%q is the name with which another user logs in; write another one", p.FullName)
	case !byAdmin && taken && id != p.ID:
		v.Fail(errs.CodeConflict, "%q is what another user or team is called; an administrator can give two the same", p.FullName)
	case t.namedBehind(p) != "":
		v.Fail(errs.CodeConflict, "%q is how people are shown the user %q; write the name without what is in parentheses", p.FullName, t.namedBehind(p))
	}
}

// vouchedFullName returns the full name that a directory has sent, as it is stored: what is not
// seen is taken out, and the name of another user behind it. Blanks alone are none.
func (t *Table) vouchedFullName(sent string, p *store.Party) string {
	cleaned := *p
	cleaned.FullName = seenName(strings.ToValidUTF8(sent, ""))
	for t.namedBehind(&cleaned) != "" {
		behind := max(0, strings.LastIndexAny(cleaned.FullName, "(\uff08"))
		cleaned.FullName = strings.TrimSpace(cleaned.FullName[:behind])
	}
	return cleaned.FullName
}
