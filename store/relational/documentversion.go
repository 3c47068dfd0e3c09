package relational

import (
	"strings"
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

const versionColumns = `v.context_id, v.folder, v.shown, v.replaced, v.replacer_id, v.owner_id
	FROM versions v JOIN documents doc ON doc.id = v.id WHERE v.context_id = ?1 AND v.folder = ?2`

var (
	selectVersions    = `SELECT ` + documentColumns + `, ` + versionColumns + ` AND v.replaced > ?3 ORDER BY v.shown`
	selectVersionsOf  = `SELECT ` + documentColumns + `, ` + versionColumns + ` AND v.name = ?3 ORDER BY v.replaced, v.id`
	selectPastVersion = `SELECT ` + documentTable.list("doc") + `, ` + versionColumns + ` AND v.shown = ?3`
	selectVersionTree = strings.Replace(documentsAlong, "context_id = ?1", "id = ?1", 1) + `
		SELECT ` + documentTable.list("doc") + ` FROM along CROSS JOIN documents doc ON doc.id = along.id ORDER BY depth`
	selectVersionMembers = `SELECT ` + documentColumns + ` FROM documents doc WHERE doc.parent_id = ?1`
)

const (
	selectVersionTaken = `SELECT EXISTS (SELECT 1 FROM versions WHERE context_id = ?1 AND folder = ?2 AND shown = ?3)`

	// What is in the folder ?2 or below it: the paths from ?3 to ?4.
	inOrBelow             = `context_id = ?1 AND (folder = ?2 OR folder >= ?3 AND folder < ?4)`
	selectVersionFolders  = `SELECT DISTINCT folder FROM versions WHERE ` + inOrBelow + ` AND replaced > ?5 ORDER BY folder`
	selectVersionsIn      = `SELECT id FROM versions WHERE ` + inOrBelow + ` LIMIT ?5`
	selectOldestVersion   = `SELECT id FROM versions WHERE owner_id = ?1 ORDER BY replaced, id LIMIT 1`
	selectVersionsBefore  = `SELECT id FROM versions WHERE replaced <= ?1 ORDER BY replaced LIMIT ?2`
	selectFirstVersion    = `SELECT min(replaced) FROM versions`
	selectBytesOfVersions = `
		WITH RECURSIVE kept (id) AS (
			SELECT id FROM versions WHERE owner_id = ?1
			UNION ALL
			SELECT below.id FROM kept JOIN documents below ON below.parent_id = kept.id
		)
		SELECT coalesce(sum(size + coalesce(octet_length(properties), 0)), 0) FROM kept JOIN documents USING (id) WHERE author_id = ?1`

	insertVersion = `
		INSERT INTO versions (id, context_id, folder, name, shown, replaced, replacer_id, owner_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`
	leaveFolder = `UPDATE documents SET parent_id = NULL, past = 1 WHERE id = ?1 AND context_id IS NULL`
	copyFile    = `
		INSERT INTO documents (name, folder, author_id, revision, media_type, size, sha256, created, modified, content, properties, past)
		SELECT name, 0, author_id, revision, media_type, size, sha256, created, modified, content, properties, 1 FROM documents WHERE id = ?1 AND folder = 0`
	takeBack         = `UPDATE documents SET parent_id = ?2, name = ?3, past = 0 WHERE id = ?1 AND past = 1`
	deleteVersion    = `DELETE FROM versions WHERE id = ?1`
	deletePastFile   = `DELETE FROM documents WHERE id = ?1 AND past = 1 AND folder = 0`
	detachPastFolder = `UPDATE documents SET past = 0 WHERE id = ?1 AND past = 1 AND folder = 1`
	keptInFolders    = `
		WITH RECURSIVE kept (id) AS (
			SELECT id FROM versions
			UNION ALL
			SELECT below.id FROM kept JOIN documents below ON below.parent_id = kept.id
		)
		SELECT id FROM kept`
	deleteVersionsOf = `
		DELETE FROM documents WHERE id IN (
			WITH RECURSIVE kept (id) AS (
				SELECT id FROM versions WHERE context_id = ?1
				UNION ALL
				SELECT below.id FROM kept JOIN documents below ON below.parent_id = kept.id
			)
			SELECT id FROM kept)`
	giveVersionsAway = `
		UPDATE documents SET author_id = kept.context_id FROM (
			WITH RECURSIVE kept (id, context_id) AS (
				SELECT id, context_id FROM versions
				UNION ALL
				SELECT below.id, kept.context_id FROM kept JOIN documents below ON below.parent_id = kept.id
			)
			SELECT id, context_id FROM kept
		) AS kept WHERE documents.id = kept.id AND documents.author_id = ?1`
	disownVersions = `UPDATE versions SET owner_id = context_id WHERE owner_id = ?1`
)

func (r *reader) versions(query string, args ...any) (all []store.Version, err error) {
	var v store.Version
	into := r.versionInto(&v)
	err = r.c.Each(query, func(scan Scan) error {
		err := scan(into...)
		all = append(all, v)
		return err
	}, args...)
	return all, Failure("read what documents were before", err)
}

func (r *reader) versionInto(v *store.Version) []any {
	return documentTable.into(r.c, &v.Document,
		(*int64)(&v.Place.Context), &v.Place.Folder, &v.Shown, millis{&v.Replaced}, (*int64)(&v.Replacer), (*int64)(&v.Owner))
}

// In returns what was in the folder, without what was replaced at the instant or
// before.
func (r versionReader) In(at store.VersionPlace, after time.Time) ([]store.Version, error) {
	return r.versions(selectVersions, int64(at.Context), at.Folder, after.UnixMilli())
}

// Of returns all that the name was in the folder, the oldest first.
func (r versionReader) Of(at store.VersionPlace, name string) ([]store.Version, error) {
	return r.versions(selectVersionsOf, int64(at.Context), at.Folder, name)
}

// Get returns the one that is shown under the name.
func (r versionReader) Get(at store.VersionPlace, shown string) (*store.Version, error) {
	v := new(store.Version)
	found, err := r.c.Row(selectPastVersion, int64(at.Context), at.Folder, shown).Scan(r.versionInto(v)...)
	if err := read(found, err, "document"); err != nil {
		return nil, err
	}
	return v, nil
}

// Taken reports whether something is shown under the name.
func (r versionReader) Taken(at store.VersionPlace, shown string) (taken bool, err error) {
	_, err = r.c.Row(selectVersionTaken, int64(at.Context), at.Folder, shown).Scan(&taken)
	return taken, Failure("look for what a document was before", err)
}

// Folders returns the paths of the folders at the place and below it that have
// versions, in order.
func (r versionReader) Folders(at store.VersionPlace, after time.Time) (all []string, err error) {
	err = r.c.Each(selectVersionFolders, func(scan Scan) error {
		var folder string
		err := scan(&folder)
		all = append(all, folder)
		return err
	}, append(placeArguments(at), after.UnixMilli())...)
	return all, Failure("read which folders have versions", err)
}

// placeArguments returns the arguments of inOrBelow.
func placeArguments(at store.VersionPlace) []any {
	if at.Folder == "" {
		return []any{int64(at.Context), "", "", last}
	}
	return []any{int64(at.Context), at.Folder, at.Folder + "/", at.Folder + "0"} // "0" follows "/"
}

// Oldest returns the id of the owner's oldest version, 0 for none.
func (r versionReader) Oldest(owner identity.ID) (id int64, err error) {
	_, err = r.c.Row(selectOldestVersion, int64(owner)).Scan(&id)
	return id, Failure("read what may give way", err)
}

// Bytes returns how much the owner's versions hold that the owner has written.
func (r versionReader) Bytes(owner identity.ID) (n int64, err error) {
	_, err = r.c.Row(selectBytesOfVersions, int64(owner)).Scan(&n)
	return n, Failure("count what may give way", err)
}

// First returns when the oldest of all was replaced, zero if there is none.
func (r versionReader) First() (t time.Time, err error) {
	_, err = r.c.Row(selectFirstVersion).Scan(millis{&t})
	return t, Failure("read how old versions are", err)
}

// Along returns what lies along the path from a document down.
func (r versionReader) Along(id int64, names []string) ([]store.Document, error) {
	return r.documents(selectVersionTree, id, array(names))
}

// Under returns the members of a folder, without contents.
func (r versionReader) Under(id int64) ([]store.Document, error) {
	return r.documents(selectVersionMembers, id)
}

// Keep makes a version of a document or folder, with all that is in it.
func (t versionWriter) Keep(v *store.Version) error {
	n, err := t.c.Change(leaveFolder, v.ID)
	if err := found(n, err, "document"); err != nil {
		return err
	}
	return t.insert(v)
}

// KeepCopy makes a version of a copy of a file.
func (t versionWriter) KeepCopy(v *store.Version) error {
	copied, n, err := t.c.insert(copyFile, "id", v.ID)
	if err := found(n, err, "document"); err != nil {
		return err
	}
	v.ID = copied
	return t.insert(v)
}

func (t versionWriter) insert(v *store.Version) error {
	_, err := t.c.Exec(insertVersion, v.ID, int64(v.Place.Context), v.Place.Folder, v.Name, v.Shown,
		v.Replaced.UnixMilli(), int64(v.Replacer), int64(v.Owner))
	return Failure("keep what a document was", err)
}

// TakeBack makes a version a document of the folder again.
func (t versionWriter) TakeBack(id, folder int64, name string) error {
	if _, err := t.c.Exec(deleteVersion, id); err != nil {
		return Failure("take back what a document was", err)
	}
	t.c.try()
	n, err := t.c.Change(takeBack, id, folder, name)
	err = t.c.tried(err)
	if isUnique(err) {
		return nameInUse(name)
	}
	return found(n, err, "document")
}

// Drop deletes a version; what was in a folder is deleted by Purge.
func (t versionWriter) Drop(id int64) error {
	for _, statement := range []string{deleteVersion, deletePastFile, detachPastFolder} {
		if _, err := t.c.Exec(statement, id); err != nil {
			return Failure("drop what a document was", err)
		}
	}
	return nil
}

// DropBefore drops what was replaced at the instant or before, at most limit.
func (t versionWriter) DropBefore(before time.Time, limit int) (int, error) {
	return t.dropAll(selectVersionsBefore, before.UnixMilli(), limit)
}

// DropIn drops what was in the folder, and in folders below it, at most limit.
func (t versionWriter) DropIn(at store.VersionPlace, limit int) (int, error) {
	return t.dropAll(selectVersionsIn, append(placeArguments(at), limit)...)
}

func (t versionWriter) dropAll(query string, args ...any) (int, error) {
	var ids []int64
	err := t.c.Each(query, func(scan Scan) error {
		var id int64
		err := scan(&id)
		ids = append(ids, id)
		return err
	}, args...)
	if err != nil {
		return 0, Failure("read what is to be dropped", err)
	}
	for _, id := range ids {
		if err := t.Drop(id); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

// leave deletes the versions of the context of a user or team that is deleted. What
// it has written of the versions of others belongs to those.
func (t versionWriter) leave(party identity.ID) error {
	for _, statement := range []string{deleteVersionsOf, giveVersionsAway, disownVersions} {
		if _, err := t.c.Exec(statement, int64(party)); err != nil {
			return Failure("drop the versions of a user or team", err)
		}
	}
	return nil
}
