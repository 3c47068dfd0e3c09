package engine

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// What uses what: nothing that is used is deleted without saying by what
// (docs/contract/drive.md#what-is-in-use).

func href(elements ...string) string {
	out := "/dav"
	for _, e := range elements {
		out += "/" + url.PathEscape(e)
	}
	return out
}

func useOfRoute(info *access.Route) change.Use {
	title := info.Title
	if title == "" {
		title = info.Name
	}
	return change.Use{Href: href("Workflow", "Routes", info.Name+".json"), Kind: "route", Title: title}
}

func useOfCase(c *machine.Case) change.Use {
	return change.Use{Href: href("Workflow", "Cases", fmt.Sprint(c.ID)+".json"), Kind: "case", Title: c.Title, Case: c.ID}
}

func useOfParty(p *identity.Party) change.Use {
	folder := "Users"
	if p.Kind == identity.Team {
		folder = "Teams"
	}
	return change.Use{Href: href("Admin", folder, string(p.Name)+".json"), Kind: string(p.Kind), Title: string(p.Name)}
}

// useOfEntry is a use by a schedule entry, called by its title, else by the name that its
// author gave it.
func (e *base) useOfEntry(r store.Reader, stored *store.Entry) (change.Use, error) {
	use := change.Use{Href: href("Workflow", "Schedule", stored.UUID.String()+".json"), Kind: "schedule entry", Title: stored.UUID.String()}
	given, err := store.OrNil(r.Names().Of(store.FolderSchedule, stored.UUID, 0))
	if given != nil {
		use.Title = given.Name
	}
	if entry, unreadable := e.readForm(stored); unreadable == nil && entry.Title != "" {
		use.Title = entry.Title
	}
	return use, err
}

// PartyUses implements account.Ties.
func (e *base) PartyUses(r store.Reader, by identity.Principal, p *store.Party) (uses change.Uses, err error) {
	for _, other := range e.directory().Parties() {
		if slices.Contains(other.Members, p.Name) || slices.Contains(other.Admins, p.Name) || other.Deputy.User == p.Name {
			uses.Add(by.Admin(), useOfParty(other))
		}
	}
	for _, info := range e.rights.Routes() {
		names := info.ContextID == p.ID || info.AuthorID == p.ID
		if !names {
			used, err := e.use(r, info)
			if err != nil {
				return uses, err
			}
			names = routeNames(used.Compiled, p.Name)
		}
		if names {
			uses.Add(e.rights.SeesRoute(by, info), useOfRoute(info))
		}
	}
	entries, err := r.Entries().List(store.EntryFilter{})
	if err != nil {
		return uses, err
	}
	for i := range entries {
		if s := &entries[i]; s.ContextID == p.ID || s.AuthorID == p.ID {
			use, err := e.useOfEntry(r, s)
			if err != nil {
				return uses, err
			}
			uses.Add(access.SeesEntry(by, s.ContextID), use)
		}
	}
	if err := e.eachCaseNaming(r, p.Name, func(row *store.Case, c *machine.Case, _ *route.Route) error {
		sees, err := e.rights.SeesCase(r, by, row)
		uses.Add(sees, useOfCase(c))
		return err
	}); err != nil {
		return uses, err
	}
	some, err := r.Parties().HasContents(p.ID)
	if some {
		uses.Add(by.Admin(), change.Use{Href: href("Documents", string(p.Name)) + "/", Kind: "folder", Title: "documents and attachments of " + string(p.Name)})
	}
	return uses, err
}

// routeNames reports whether the route names the user or team.
func routeNames(r *route.Route, name identity.Name) bool {
	return slices.ContainsFunc(r.Parties(), func(p route.Party) bool { return identity.Fold(p.Name) == identity.Fold(string(name)) })
}

// eachCaseNaming calls f for each case that gives the party of that name any
// right or duty, by id, archived ones included.
func (e *base) eachCaseNaming(r store.Reader, name identity.Name, f func(row *store.Case, c *machine.Case, compiled *route.Route) error) error {
	ids, err := r.Cases().Mentioning(`"` + string(name) + `"`)
	if err != nil {
		return err
	}
	for _, id := range ids {
		row, err := r.Cases().Get(id)
		if err != nil {
			return err
		}
		c, err := e.caseOf(r, row.Marking)
		if err != nil {
			return errs.Wrap(fmt.Sprintf("read case %d", id), err)
		}
		compiled, err := e.versions.get(r, c.RouteID, c.RouteVersion)
		if err != nil {
			return err
		}
		if machine.Names(c, compiled, string(name)) {
			if err := f(row, c, compiled); err != nil {
				return err
			}
		}
	}
	return nil
}

// routeUses returns what uses a route: open cases, the schedule entries that name
// it, and the routes that start cases of it.
func (e *Routes) routeUses(r store.Reader, by identity.Principal, stored *store.Route) (uses change.Uses, err error) {
	for _, info := range e.rights.Routes() {
		if info.ID != stored.ID && info.StartsChildren(stored.Name) {
			uses.Add(e.rights.SeesRoute(by, info), useOfRoute(info))
		}
	}
	entries, err := r.Entries().List(store.EntryFilter{RouteID: stored.ID})
	if err != nil {
		return uses, err
	}
	for i := range entries {
		use, err := e.useOfEntry(r, &entries[i])
		if err != nil {
			return uses, err
		}
		uses.Add(access.SeesEntry(by, entries[i].ContextID), use)
	}
	rows, err := r.Cases().List(store.CaseFilter{RouteID: stored.ID})
	if err != nil {
		return uses, err
	}
	for i := range rows {
		row := &rows[i]
		if !open(machine.Life(row.State)) {
			continue
		}
		sees, err := e.rights.SeesCase(r, by, row)
		if err != nil {
			return uses, err
		}
		title := formTitle(row.Form)
		uses.Add(sees, change.Use{Href: href("Workflow", "Cases", fmt.Sprint(row.ID)+".json"), Kind: "case", Title: title, Case: row.ID})
	}
	return uses, nil
}

// documentUses returns the schedule entries that need a document, or one below a
// folder: as the input of their cases or for its days off.
func (e *base) documentUses(r store.Reader, by identity.Principal, at change.DocumentPath) (uses change.Uses, err error) {
	last := document.AppendString(nil, "/"+at[len(at)-1])
	entries, err := r.Entries().Holding(string(last[1 : len(last)-1]))
	if err != nil {
		return uses, err
	}
	for i := range entries {
		entry, err := e.readForm(&entries[i])
		if err != nil {
			return uses, err
		}
		if !below(entry.Document, at) && !below(entry.ExcludeCalendar, at) {
			continue
		}
		use, err := e.useOfEntry(r, &entries[i])
		if err != nil {
			return uses, err
		}
		uses.Add(access.SeesEntry(by, entries[i].ContextID), use)
	}
	return uses, nil
}

// below reports whether a path of a document is the place, or below it.
func below(path string, at change.DocumentPath) bool {
	p, err := change.ParseDocumentPath(path)
	if path == "" || err != nil || len(p) < len(at) {
		return false
	}
	p, at = p.Normal(), at.Normal()
	return identity.Fold(p[0]) == identity.Fold(at[0]) && slices.Equal(p[1:len(at)], at[1:])
}

// formTitle returns the title in a case's complete form.
func formTitle(form []byte) string {
	var f caseForm
	if err := json.Unmarshal(form, &f); err != nil {
		return ""
	}
	return f.Title
}
