package relational

import (
	"encoding/hex"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

var nameTable = table[store.GivenName]{"given_names", "name", func(n *store.GivenName, to []column) []column {
	return append(to, []column{
		{"folder", fixed, (*string)(&n.Folder)},
		{"author_id", fixed, (*int64)(&n.Author)},
		{"folded", inserted, folded{&n.Name}},
		{"name", full, &n.Name},
		{"entry", full, someBits(n.Entry[:])},
		{"case_id", full, number{&n.CaseID}},
		{"etag", full, &n.ETag},
		{"modified", full, millis{&n.Modified}},
		{"length(source)", selected, &n.Size},
		{"source", full, &n.Source},
	}...)
}}

var (
	upsertName        = nameTable.upsert("author_id, folder, folded")
	selectName        = `SELECT ` + nameTable.list("") + ` FROM given_names WHERE author_id = ?1 AND folder = ?2 AND folded = ?3`
	selectNameOfEntry = `SELECT ` + nameTable.list("") + ` FROM given_names WHERE entry = ?1`
	selectNameOfCase  = `SELECT ` + nameTable.list("") + ` FROM given_names WHERE case_id = ?1`

	selectNamesOfEntries = `SELECT ` + nameTable.list("", "source") + ` FROM given_names WHERE entry IN (SELECT unhex(value) FROM json_each(?1))`
	selectNamesOfCases   = `SELECT ` + nameTable.list("", "source") + ` FROM given_names WHERE case_id IN (SELECT value FROM json_each(?1))`
)

var deleteThatName = expecting(deleteName)

const deleteName = `DELETE FROM given_names WHERE author_id = ?1 AND folder = ?2 AND folded = ?3`

// Get returns the author's resource of that name, in any case.
func (r nameReader) Get(folder store.Folder, author identity.ID, name string) (*store.GivenName, error) {
	return nameTable.one(r.c, selectName, int64(author), string(folder), identity.Fold(name))
}

// Of returns the name of an entry or a case.
func (r nameReader) Of(folder store.Folder, entry store.UUID, caseID int64) (*store.GivenName, error) {
	if folder == store.FolderSchedule {
		return nameTable.one(r.c, selectNameOfEntry, entry[:])
	}
	return nameTable.one(r.c, selectNameOfCase, caseID)
}

// List returns the names, without Source, of the entries or cases.
func (r nameReader) List(folder store.Folder, entries []store.UUID, cases []int64) (all []store.GivenName, err error) {
	query, keys := selectNamesOfCases, array(cases)
	if folder == store.FolderSchedule {
		texts := make([]string, len(entries))
		for i, uuid := range entries {
			texts[i] = hex.EncodeToString(uuid[:])
		}
		query, keys = selectNamesOfEntries, array(texts)
	}
	err = nameTable.add(r.c, &all, query, keys)
	return all, Failure("read given names", err)
}

// Put stores a name, by folder, author and folded name. A resource
// has one name at most: a second one is errs.NameTaken.
func (t nameWriter) Put(n *store.GivenName) error {
	err := upsertName.exec(t.c, n)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The resource has another name already.")
	}
	return Failure("store a given name", err)
}

// Delete deletes a name and leaves the resource.
func (t nameWriter) Delete(folder store.Folder, author identity.ID, name string) error {
	if t.c.part.later {
		return Failure("delete a given name", t.c.put(deleteThatName, []any{int64(author), string(folder), identity.Fold(name)}))
	}
	n, err := t.c.Change(deleteName, int64(author), string(folder), identity.Fold(name))
	return found(n, err, "name")
}
