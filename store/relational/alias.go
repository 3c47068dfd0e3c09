package relational

import (
	"cmp"
	"slices"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// aliasTable is only read, with the input of its case.
var aliasTable = table[store.Alias]{"aliases", "alias", func(a *store.Alias, to []column) []column {
	return append(to, []column{
		{"id", selected, &a.ID},
		{"author_id", selected, (*int64)(&a.Author)},
		{"route_id", selected, &a.RouteID},
		{"name", selected, &a.Name},
		{"case_id", selected, &a.CaseID},
		{"open", selected, &a.Open},
	}...)
}}

var (
	selectAlias = `SELECT ` + aliasTable.list("a") + `, ` + messageTable.list("m") + joinInput + `
		WHERE a.author_id = ?1 AND a.route_id = ?2 AND a.folded = ?3 AND (a.open = 1 OR ` + ofFailedCase + ` = a.case_id))`
	selectAliases = `SELECT ` + aliasTable.list("a") + `, ` + messageTable.list("m", "content") + joinInput + `
		WHERE a.author_id = ?1 AND a.route_id = ?2 AND a.open = 1`
	// An author may have dropped very many files: the few cases that have failed are where it begins.
	selectFailedAliases = `SELECT ` + aliasTable.list("a") + `, ` + messageTable.list("m", "content") + joinInput + `
		JOIN cases c ON c.id = a.case_id
		WHERE c.route_id = ?2 AND c.state = 'failed' AND c.open = 0 AND c.archived IS NULL AND +a.author_id = ?1 AND +a.route_id = ?2`
)

// ofFailedCase begins the condition that the case of an alias has failed.
const ofFailedCase = `EXISTS (SELECT 1 FROM cases c WHERE c.state = 'failed' AND c.archived IS NULL AND c.id`

const (
	joinInput = ` FROM aliases a JOIN messages m ON m.case_id = a.case_id AND m.label = '` + store.LabelInput + `'`

	upsertAlias = `
		INSERT INTO aliases (author_id, route_id, folded, name, case_id, open)
		SELECT ?1, ?2, ?3, ?4, id, open FROM cases WHERE id = ?5
		ON CONFLICT (author_id, route_id, folded) DO UPDATE SET name = ?4, case_id = ?5, open = excluded.open`
	deleteAlias = `
		DELETE FROM aliases
		WHERE author_id = ?1 AND route_id = ?2 AND folded = ?3 AND (open = 1 OR ` + ofFailedCase + ` = aliases.case_id))`
)

func (r *reader) aliases(query string, args ...any) (all []store.Alias, err error) {
	var a store.Alias
	into := aliasTable.into(r.c, &a, messageTable.into(r.c, &a.Input)...)
	err = r.c.Each(query, func(scan Scan) error {
		err := scan(into...)
		all = append(all, a)
		return err
	}, args...)
	return all, Failure("read the aliases of a folder", err)
}

// Alias returns the file that the author finds under that name, in any case, in
// the folder of the route: the input of a case that is open or has failed.
func (r nameReader) Alias(author identity.ID, routeID int64, name string) (*store.Alias, error) {
	all, err := r.aliases(selectAlias, int64(author), routeID, identity.Fold(name))
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, notFound(aliasTable.what)
	}
	return &all[0], nil
}

// Aliases returns all that the author finds in the folder of the route, by
// the first use of the name, without contents.
func (r nameReader) Aliases(author identity.ID, routeID int64) ([]store.Alias, error) {
	all, err := r.aliases(selectAliases, int64(author), routeID)
	if err != nil {
		return nil, err
	}
	failed, err := r.aliases(selectFailedAliases, int64(author), routeID)
	if err != nil {
		return nil, err
	}
	all = append(all, failed...)
	slices.SortFunc(all, func(a, b store.Alias) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// PutAlias stores an alias, by author, route and folded name. Whether it can
// be read follows from the state of its case.
func (t nameWriter) PutAlias(a *store.Alias) error {
	n, err := t.c.Change(upsertAlias, int64(a.Author), a.RouteID, identity.Fold(a.Name), a.Name, a.CaseID)
	return found(n, err, "case")
}

// DeleteAlias deletes an alias that can be read, and leaves the case.
func (t nameWriter) DeleteAlias(author identity.ID, routeID int64, name string) error {
	n, err := t.c.Change(deleteAlias, int64(author), routeID, identity.Fold(name))
	return found(n, err, "alias")
}
