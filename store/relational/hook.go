package relational

import (
	"cmp"
	"slices"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

var hookTable = table[store.Hook]{"hooks", "hook", func(h *store.Hook, to []column) []column {
	return append(to, []column{
		{"id", selected, &h.ID},
		{"route_id", fixed, &h.RouteID},
		{"folded", inserted, folded{&h.Name}},
		{"name", fixed, &h.Name},
		{"author", full, (*int64)(&h.Author)},
		{"sha256", fixed, bits(h.SHA256[:])},
		{"settings", full, &h.Settings},
		{"fault", full, &h.Fault},
		{"revision", full, &h.Revision},
		{"created", fixed, millis{&h.Created}},
		{"modified", full, millis{&h.Modified}},
	}...)
}}

var (
	insertHook        = hookTable.insert()
	updateHook        = hookTable.update(condition{where: `id = ?1`, given: 1})
	selectHook        = `SELECT ` + hookTable.list("") + ` FROM hooks WHERE route_id = ?1 AND folded = ?2`
	selectHookByToken = `SELECT ` + hookTable.list("") + ` FROM hooks WHERE sha256 = ?1`
	selectHookByID    = `SELECT ` + hookTable.list("") + ` FROM hooks WHERE id = ?1`
	selectHooks       = `SELECT ` + hookTable.list("") + ` FROM hooks WHERE route_id = ?1`
)

const deleteHook = `DELETE FROM hooks WHERE id = ?1`

// Get returns the hook of a route with that name, in any case.
func (r hookReader) Get(route int64, name string) (*store.Hook, error) {
	return hookTable.one(r.c, selectHook, route, identity.Fold(name))
}

// ByToken returns the hook whose token has that SHA-256.
func (r hookReader) ByToken(sum store.Digest) (*store.Hook, error) {
	return hookTable.one(r.c, selectHookByToken, sum[:])
}

// ByID returns the hook with that ID.
func (r hookReader) ByID(id int64) (*store.Hook, error) {
	return hookTable.one(r.c, selectHookByID, id)
}

// OfRoute returns the hooks of a route by ID.
func (r hookReader) OfRoute(route int64) (all []store.Hook, err error) {
	err = hookTable.add(r.c, &all, selectHooks, route)
	slices.SortFunc(all, func(a, b store.Hook) int { return cmp.Compare(a.ID, b.ID) })
	return all, Failure("read the hooks", err)
}

// Put stores a new hook and sets its ID, or changes the one with that ID.
func (t hookWriter) Put(h *store.Hook) error {
	if h.ID != 0 {
		n, err := updateHook.change(t.c, h, h.ID)
		return found(n, err, "hook")
	}
	err := insertHook.added(t.c, h, &h.ID)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "There is a hook %q already.", h.Name)
	}
	return Failure("store a hook", err)
}

// Delete deletes a hook.
func (t hookWriter) Delete(id int64) error {
	n, err := t.c.Change(deleteHook, id)
	return found(n, err, "hook")
}
