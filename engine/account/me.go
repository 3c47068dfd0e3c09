package account

import (
	"slices"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// meForm is the complete form of me.json (docs/contract/drive.md#mejson).
type meForm struct {
	Name     identity.Name `json:"name"`
	FullName string        `json:"fullName"`
	Email    string        `json:"email"`
	Pending  *string       `json:"emailPending"`
	Deputy   *deputyForm   `json:"deputy"`
	Timezone *string       `json:"timezone"`
	Notify   bool          `json:"notify"`
	Mail     mailForm      `json:"mail"`
	Watch    []string      `json:"watch"`
	Contexts []contextForm `json:"contexts"`
	Warnings []string      `json:"warnings"`
}

type contextForm struct {
	ID    identity.ID   `json:"id"`
	Name  identity.Name `json:"name"`
	Kind  identity.Kind `json:"kind"`
	Admin bool          `json:"admin"`
}

// Me returns the complete form of me.json of the user, with warnings about it. It
// changes with the teams as well.
func (t *Table) Me(id identity.ID, warnings []string) []byte {
	p, by := t.byID[id], t.directory.Principal(id)
	form := meForm{Name: p.Name, FullName: p.FullName, Email: p.Email, Deputy: formOfDeputy(p.Deputy), Notify: !p.Quiet, Watch: orEmpty(p.Watch), Contexts: []contextForm{}}
	form.Mail, form.Warnings = formOfWishes(&p.Mail), orEmpty(warnings)
	if p.Pending.Address != "" {
		form.Pending = &p.Pending.Address
	}
	if p.Zone != "" {
		form.Timezone = &p.Zone
	}
	for _, id := range by.Contexts() {
		c := t.directory.ByID(id)
		form.Contexts = append(form.Contexts, contextForm{ID: c.ID, Name: c.Name, Kind: c.Kind, Admin: t.directory.Administers(by, c.ID)})
	}
	return document.Form(form)
}

// ReadMe reads the document of me.json of the user; hash is of the new password,
// "" for none.
func (t *Table) ReadMe(id identity.ID, node *document.Node, hash string, now time.Time, known Known) (*Change, error) {
	old := t.byID[id]
	c := &Change{Old: old, Party: *old}
	var faults document.Faults
	root := document.Root(node, &faults)
	if root.Is(document.Object) {
		root.Only("name", "fullName", "email", "emailPending", "emailCode", "deputy", "timezone", "notify", "mail", "watch", "contexts", "warnings", "password", "oldPassword")
		if v := root.Get("name"); v.Given() && (v.Node.Kind != document.String || identity.Fold(v.Node.Text) != identity.Fold(string(old.Name))) {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %q", old.Name)
		}
		t.readFullName(root.Get("fullName"), &c.Party, old.Admin)
		readAddress(root, c, now, known.Address)
		readDeputy(root.Get("deputy"), t.directory, &c.Party, now, known.Dates)
		readWishes(root.Get("notify"), &c.Party.Quiet)
		readZone(root.Get("timezone"), &c.Party.Zone, known.Zone)
		readMail(root.Get("mail"), &c.Party.Mail, known.Kinds)
		readWatch(root.Get("watch"), &c.Party.Watch, known.Route)
		if v := root.Get("password"); v.Node != nil {
			checkPassword(v, known.Password, &c.Party)
			root.Get("oldPassword").Str()
		} else if root.Get("oldPassword").Given() {
			v.Fail(errs.CodeRequired, "is required with oldPassword: the new password")
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if hash != "" {
		c.Party.Password = hash
	}
	c.Changed = !sameParty(old, &c.Party)
	return c, nil
}

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

// readWatch reads the routes that the user watches: those that are
// visible to it, and those that are watched already, though they may be gone.
func readWatch(v document.Value, watch *[]string, visible func(route string) (name string, ok bool)) {
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
		switch seen, ok := visible(name); {
		case ok:
			name = seen
		case at >= 0:
			name = (*watch)[at]
		default:
			item.Fail(errs.CodeNotFound, "there is no route %q, or you may not see it", name)
			continue
		}
		if !slices.ContainsFunc(list, named) {
			list = append(list, name)
		}
	}
	*watch = list
}
