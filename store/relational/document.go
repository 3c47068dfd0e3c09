package relational

import (
	"slices"
	"strings"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// documentTable has properties and content last: what only lists does not read
// them. A root has no name and no folder; its context has it made.
var documentTable = table[store.Document]{"documents", "document", func(d *store.Document, to []column) []column {
	return append(to, []column{
		{"id", selected, &d.ID},
		{"context_id", selected, number{(*int64)(&d.ContextID)}},
		{"parent_id", fixed, number{&d.ParentID}},
		{"name", fixed, &d.Name},
		{"folder", fixed, &d.Folder},
		{"author_id", full, (*int64)(&d.AuthorID)},
		{"revision", full, &d.Revision},
		{"media_type", full, &d.MediaType},
		{"size", full, &d.Size},
		{"sha256", full, someBits(d.SHA256[:])},
		{"{}folder = 0 AND {}content IS NULL", selected, &d.InFile},
		{"created", fixed, millis{&d.Created}},
		{"modified", full, millis{&d.Modified}},
		{"properties", fixed, text{(*string)(&d.Properties)}},
		{"content", full, content{&d.Content, d.Folder || d.InFile}},
	}...)
}}

var (
	insertDocument  = documentTable.insert()
	replaceDocument = documentTable.update(condition{where: `id = ?1 AND folder = 0`, given: 1})

	documentColumns = documentTable.list("doc", "properties", "content")

	// ?2 is a list of names. It ends with what exists of them.
	selectDocumentsAlong = documentsAlong + `
		SELECT ` + documentTable.list("doc") + ` FROM along CROSS JOIN documents doc ON doc.id = along.id ORDER BY depth`

	selectDocumentRoots = `
		SELECT ` + documentColumns + ` FROM documents doc WHERE doc.context_id IN (SELECT value FROM json_each(?1))`
	selectAllDocumentRoots = `
		SELECT ` + documentColumns + ` FROM documents doc WHERE doc.context_id IN (SELECT id FROM parties)`
	selectDocumentPage = `
		SELECT ` + documentColumns + ` FROM documents doc WHERE doc.parent_id = ?1 AND doc.id > ?2 ORDER BY doc.id LIMIT ?3`

	// The place that the list of names ?2 leads to, as above, and then its
	// members, or at most ?4 of what is below it at any depth; with properties
	// if ?3. The last column is the depth along the path, NULL beyond the
	// place.
	documentsAlong = `
		WITH RECURSIVE along (id, depth) AS (
			SELECT id, 0 FROM documents WHERE context_id = ?1
			UNION ALL
			SELECT below.id, depth + 1 FROM along
				JOIN documents below ON below.parent_id = along.id AND below.name = json_extract(?2, '$[' || depth || ']')
		)`
	documentAtEnd  = `(SELECT id FROM along WHERE depth = json_array_length(?2))`
	documentsUnder = `
		SELECT ` + documentTable.list("doc", "content") + `, along.depth FROM along CROSS JOIN documents doc ON doc.id = along.id
		UNION ALL
		SELECT ` + strings.Replace(documentTable.list("doc", "content"), "doc.properties", "CASE WHEN ?3 <> 0 THEN doc.properties END", 1) + `, NULL FROM `
	selectDocumentsIn    = documentsAlong + documentsUnder + `documents doc WHERE doc.parent_id = ` + documentAtEnd
	selectDocumentsUnder = documentsAlong + `, below (id) AS (
			SELECT id FROM documents WHERE parent_id = ` + documentAtEnd + `
			UNION ALL
			SELECT documents.id FROM below JOIN documents ON documents.parent_id = below.id
			LIMIT ?4
		)` + documentsUnder + `below CROSS JOIN documents doc ON doc.id = below.id`
)

const (
	setProperties  = `UPDATE documents SET properties = ?2 WHERE id = ?1`
	setModified    = `UPDATE documents SET modified = ?2 WHERE id = ?1`
	touchFolder    = `UPDATE documents SET revision = revision + 1, modified = ?2 WHERE id = ?1 AND folder = 1`
	deleteDocument = `DELETE FROM documents WHERE id = ?1 AND context_id IS NULL`
	moveDocument   = `UPDATE documents SET parent_id = ?2, name = ?3 WHERE id = ?1 AND context_id IS NULL`
	copyDocument   = `
		INSERT INTO documents (parent_id, name, folder, author_id, revision, media_type, size, sha256, created, modified, content, properties)
		SELECT ?2, ?3, folder, ?4, 1, media_type, size, sha256, ?5, ?5, content, properties FROM documents WHERE id = ?1`
	detachFolder = `UPDATE documents SET parent_id = NULL WHERE id = ?1 AND folder = 1 AND context_id IS NULL`

	selectDetached      = `SELECT id FROM documents WHERE parent_id IS NULL AND context_id IS NULL AND past = 0 ORDER BY id LIMIT 1`
	selectToPurge       = `SELECT id, folder FROM documents WHERE parent_id = ?1 LIMIT ?2`
	deleteDocumentFiles = `DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?1))`
	detachFolders       = `UPDATE documents SET parent_id = NULL WHERE id IN (SELECT value FROM json_each(?1))`
)

func (r *reader) documents(query string, args ...any) (all []store.Document, err error) {
	err = documentTable.add(r.c, &all, query, args...)
	return all, Failure("read documents", err)
}

// Along returns what lies along the path from the root of the
// context down: the root, and as many of the names as exist.
func (r documentReader) Along(context identity.ID, names []string) ([]store.Document, error) {
	return r.documents(selectDocumentsAlong, int64(context), array(names))
}

// Under returns what lies along the path from the root of the context
// down, as DocumentsAlong does but without contents, and what the place at its
// end holds.
func (r documentReader) Under(context identity.ID, names []string, o store.Under) (along, below []store.Document, err error) {
	budget, reached := o.Properties, 0
	along = make([]store.Document, len(names)+1)
	query, args := selectDocumentsIn, []any{int64(context), array(names), o.Properties > 0}
	if o.Deep {
		query, args = selectDocumentsUnder, append(args, o.Limit)
	}
	var d store.Document
	var depth int64
	into := documentTable.into(r.c, &d, optional{&depth})
	var blocks [][]store.Document // a slice that grows to thousands is copied again and again
	block := make([]store.Document, 0, 16)
	err = r.c.Each(query, func(scan Scan) error {
		depth = -1
		if err := scan(into...); err != nil {
			return err
		}
		if depth >= 0 {
			along[depth] = d
			reached++
			return nil
		}
		if budget -= len(d.Properties); budget < 0 {
			d.Properties, d.Unread = "", d.Properties != ""
		} else {
			d.Unread = false
		}
		if len(block) == cap(block) {
			blocks, block = append(blocks, block), make([]store.Document, 0, 512)
		}
		block = append(block, d)
		return nil
	}, args...)
	return along[:reached], slices.Concat(append(blocks, block)...), Failure("read documents", err)
}

// Roots returns the roots of the contexts, nil for all.
func (r documentReader) Roots(contexts []identity.ID) ([]store.Document, error) {
	if contexts == nil {
		return r.documents(selectAllDocumentRoots)
	}
	return r.documents(selectDocumentRoots, array(contexts))
}

// Page returns what is in the folder, by id, after the given one.
func (r documentReader) Page(folder, after int64, limit int) ([]store.Document, error) {
	return r.documents(selectDocumentPage, folder, after, limit)
}

// Insert stores a new document or folder and sets its ID. A name in
// use in its folder is errs.NameTaken.
func (t documentWriter) Insert(d *store.Document) error {
	err := insertDocument.added(t.c, d, &d.ID)
	if isUnique(err) {
		return nameInUse(d.Name)
	}
	return Failure("store a document", err)
}

// Replace changes the file of that ID.
func (t documentWriter) Replace(d *store.Document) error {
	n, err := replaceDocument.change(t.c, d, d.ID)
	return found(n, err, "document")
}

// SetProperties replaces the properties of a document or folder.
func (t documentWriter) SetProperties(id int64, properties store.Properties) error {
	n, err := t.c.Change(setProperties, id, orNoText(string(properties)))
	return found(n, err, "document")
}

// SetModified says when a document or folder was changed last.
func (t documentWriter) SetModified(id int64, modified time.Time) error {
	n, err := t.c.Change(setModified, id, at(modified))
	return found(n, err, "document")
}

// TouchFolder counts a change of the folder's members.
func (t documentWriter) TouchFolder(id int64, modified time.Time) error {
	n, err := t.c.Change(touchFolder, id, at(modified))
	return found(n, err, "folder")
}

// Delete deletes a file, or a folder without members.
func (t documentWriter) Delete(id int64) error {
	n, err := t.c.Change(deleteDocument, id)
	return found(n, err, "document")
}

// Move puts a document or folder into a folder under a name.
func (t documentWriter) Move(id, folder int64, name string) error {
	t.c.try()
	n, err := t.c.Change(moveDocument, id, folder, name)
	err = t.c.tried(err)
	if isUnique(err) {
		return nameInUse(name)
	}
	return found(n, err, "document")
}

// Copy stores a copy of a file, or of a folder without its members.
func (t documentWriter) Copy(id, folder int64, name string, author identity.ID, now time.Time) (int64, error) {
	copied, n, err := t.c.insert(copyDocument, "id", id, folder, name, int64(author), at(now))
	if isUnique(err) {
		return 0, nameInUse(name)
	}
	return copied, found(n, err, "document")
}

func nameInUse(name string) error {
	return errs.New(errs.NameTaken, "The name %q is in use in this folder.", name)
}

// DetachFolder takes a folder with all that is below it out of its tree, to
// be deleted by PurgeDocuments.
func (t documentWriter) DetachFolder(id int64) error {
	n, err := t.c.Change(detachFolder, id)
	return found(n, err, "folder")
}

// Detached reports whether anything waits for PurgeDocuments.
func (r documentReader) Detached() (bool, error) {
	_, waits, err := r.detached()
	return waits, err
}

func (r *reader) detached() (id int64, found bool, err error) {
	found, err = r.c.Row(selectDetached).Scan(&id)
	return id, found, Failure("read what is to be deleted", err)
}

// Purge deletes about that many rows of detached folders, and reports whether
// there are more. No step looks at a whole tree: it deletes the files of a
// detached folder, detaches its folders, and in the end deletes the folder
// itself.
func (t documentWriter) Purge(limit int) (more bool, err error) {
	for {
		id, found, err := t.detached()
		if err != nil || !found || limit <= 0 {
			return found, err
		}
		n, err := t.purgeFolder(id, limit)
		if err != nil {
			return false, Failure("delete documents", err)
		}
		limit -= n
	}
}

// purgeFolder takes a step towards deleting a detached folder, and returns
// how many rows that changed.
func (t *tx) purgeFolder(id int64, limit int) (int, error) {
	var files, folders []int64
	err := t.c.Each(selectToPurge, func(scan Scan) error {
		var member int64
		var folder bool
		err := scan(&member, &folder)
		if folder {
			folders = append(folders, member)
		} else {
			files = append(files, member)
		}
		return err
	}, id, limit)
	if err != nil {
		return 0, err
	}
	if len(files) > 0 {
		if _, err := t.c.Exec(deleteDocumentFiles, array(files)); err != nil {
			return 0, err
		}
	}
	if len(folders) > 0 {
		if _, err := t.c.Exec(detachFolders, array(folders)); err != nil {
			return 0, err
		}
	}
	if n := len(files) + len(folders); n > 0 {
		return n, nil
	}
	return 1, t.Write().Documents().Delete(id)
}
