package sqlite

import (
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	aliasColumns = `a.author_id, a.route_id, a.name, a.case_id,
		m.uuid, m.case_id, m.label, m.media_type, m.size, m.sha256, m.content IS NULL, m.version, m.created, m.modified, m.author_id`
	joinInput = `FROM aliases a JOIN messages m ON m.case_id = a.case_id AND m.label = '` + store.LabelInput + `'`

	selectAlias = `SELECT ` + aliasColumns + `, m.content ` + joinInput + `
		WHERE a.author_id = ?1 AND a.route_id = ?2 AND a.folded = ?3 AND a.open = 1`
	selectAliases = `SELECT ` + aliasColumns + `, NULL ` + joinInput + `
		WHERE a.author_id = ?1 AND a.route_id = ?2 AND a.open = 1 ORDER BY a.id`

	upsertAlias = `
		INSERT INTO aliases (author_id, route_id, folded, name, case_id, open)
		SELECT ?1, ?2, ?3, ?4, id, open FROM cases WHERE id = ?5
		ON CONFLICT (author_id, route_id, folded) DO UPDATE SET name = ?4, case_id = ?5, open = excluded.open`
	deleteAlias = `DELETE FROM aliases WHERE author_id = ?1 AND route_id = ?2 AND folded = ?3 AND open = 1`
)

func scanAlias(scan scan, a *store.Alias) error {
	m := &a.Input
	return scan(&a.Author, &a.RouteID, &a.Name, &a.CaseID,
		bits(m.UUID[:]), &m.CaseID, &m.Label, &m.MediaType, &m.Size, bits(m.SHA256[:]), &m.InFile,
		&m.Version, millis{&m.Created}, millis{&m.Modified}, &m.AuthorID, &m.Content)
}

// Alias returns what the author finds under that name, whatever its case, in
// the folder of the route: the input of an open case.
func (r nameReader) Alias(author identity.ID, routeID int64, name string) (*store.Alias, error) {
	a := &store.Alias{}
	found, err := r.c.row(selectAlias, int64(author), routeID, identity.Fold(name)).read(func(scan scan) error { return scanAlias(scan, a) })
	if err := read(found, err, "alias"); err != nil {
		return nil, err
	}
	return a, nil
}

// Aliases returns all that the author finds in the folder of the route, by
// the first use of the name, without contents.
func (r nameReader) Aliases(author identity.ID, routeID int64) (all []store.Alias, err error) {
	err = r.c.each(selectAliases, func(scan scan) error {
		var a store.Alias
		err := scanAlias(scan, &a)
		all = append(all, a)
		return err
	}, int64(author), routeID)
	return all, failure("read the aliases of a folder", err)
}

// PutAlias stores an alias, by author, route and folded name. Whether it can
// be read follows from the state of its case.
func (t nameWriter) PutAlias(a *store.Alias) error {
	n, err := t.c.change(upsertAlias, int64(a.Author), a.RouteID, identity.Fold(a.Name), a.Name, a.CaseID)
	return found(n, err, "case")
}

// DeleteAlias deletes an alias of an open case and leaves the case.
func (t nameWriter) DeleteAlias(author identity.ID, routeID int64, name string) error {
	n, err := t.c.change(deleteAlias, int64(author), routeID, identity.Fold(name))
	return found(n, err, "alias")
}
