package sqlite

import (
	"encoding/hex"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	nameColumns = `folder, author_id, name, entry, case_id, etag, modified, length(source)`

	selectName        = `SELECT ` + nameColumns + `, source FROM given_names WHERE author_id = ?1 AND folder = ?2 AND folded = ?3`
	selectNameOfEntry = `SELECT ` + nameColumns + `, source FROM given_names WHERE entry = ?1`
	selectNameOfCase  = `SELECT ` + nameColumns + `, source FROM given_names WHERE case_id = ?1`

	selectNamesOfEntries = `SELECT ` + nameColumns + `, NULL FROM given_names WHERE entry IN (SELECT unhex(value) FROM json_each(?1))`
	selectNamesOfCases   = `SELECT ` + nameColumns + `, NULL FROM given_names WHERE case_id IN (SELECT value FROM json_each(?1))`

	upsertName = `
		INSERT INTO given_names (folder, author_id, folded, name, entry, case_id, etag, modified, source)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
		ON CONFLICT (author_id, folder, folded) DO UPDATE SET
			name = ?4, entry = ?5, case_id = ?6, etag = ?7, modified = ?8, source = ?9`
	deleteName = `DELETE FROM given_names WHERE author_id = ?1 AND folder = ?2 AND folded = ?3`
)

func scanName(scan scan, n *store.GivenName) error {
	return scan(&n.Folder, &n.Author, &n.Name, bits(n.Entry[:]), number{&n.CaseID}, &n.ETag, millis{&n.Modified}, &n.Size, &n.Source)
}

// Get returns what the author gave that name, whatever its case.
func (r nameReader) Get(folder store.Folder, author identity.ID, name string) (*store.GivenName, error) {
	return r.name(selectName, int64(author), string(folder), identity.Fold(name))
}

// Of returns the name of an entry or a case.
func (r nameReader) Of(folder store.Folder, entry store.UUID, caseID int64) (*store.GivenName, error) {
	if folder == store.FolderSchedule {
		return r.name(selectNameOfEntry, entry[:])
	}
	return r.name(selectNameOfCase, caseID)
}

func (r *reader) name(query string, key ...any) (*store.GivenName, error) {
	n := &store.GivenName{}
	found, err := r.c.row(query, key...).read(func(scan scan) error { return scanName(scan, n) })
	if err := read(found, err, "name"); err != nil {
		return nil, err
	}
	return n, nil
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
	err = r.c.each(query, func(scan scan) error {
		var n store.GivenName
		err := scanName(scan, &n)
		all = append(all, n)
		return err
	}, keys)
	return all, failure("read given names", err)
}

// Put stores a name, by folder, author and folded name. A resource
// has one name at most: a second one is errs.NameTaken.
func (t nameWriter) Put(n *store.GivenName) error {
	entry := any(nil)
	if n.Folder == store.FolderSchedule {
		entry = n.Entry[:]
	}
	_, err := t.c.exec(upsertName, string(n.Folder), int64(n.Author), identity.Fold(n.Name), n.Name, entry, orNull(n.CaseID),
		n.ETag, at(n.Modified), blob(n.Source))
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The resource has another name already.")
	}
	return failure("store a given name", err)
}

// Delete deletes a name and leaves what it names.
func (t nameWriter) Delete(folder store.Folder, author identity.ID, name string) error {
	n, err := t.c.change(deleteName, int64(author), string(folder), identity.Fold(name))
	return found(n, err, "name")
}
