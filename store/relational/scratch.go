package relational

import (
	"time"

	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// scratchTable has the content last: what only lists does not read it.
var scratchTable = table[store.Scratch]{"scratch", "scratch file", func(s *store.Scratch, to []column) []column {
	return append(to, []column{
		{"id", selected, &s.ID},
		{"author_id", fixed, (*int64)(&s.Author)},
		{"folder", selected, &s.Place.Folder},
		{"folder", inserted, foldedPath{&s.Place.Folder}},
		{"folded", inserted, folded{&s.Place.Name}},
		{"name", full, &s.Place.Name},
		{"kind", full, (*string)(&s.Kind)},
		{"locked", full, &s.Locked},
		{"media_type", full, &s.MediaType},
		{"size", full, &s.Size},
		{"sha256", full, bits(s.SHA256[:])},
		{"content IS NULL", selected, &s.InFile},
		{"created", full, millis{&s.Created}},
		{"modified", full, millis{&s.Modified}},
		{"expires", full, millis{&s.Expires}},
		{"content", full, content{&s.Content, s.InFile}},
	}...)
}}

var (
	upsertScratch   = scratchTable.upsert("author_id, folder, folded").with(` RETURNING id`)
	selectScratch   = `SELECT ` + scratchTable.list("") + ` FROM scratch WHERE author_id = ?1 AND folder = ?2 AND folded = ?3`
	selectScratchIn = `SELECT ` + scratchTable.list("", "content") + ` FROM scratch
		WHERE author_id = ?1 AND folder IN (SELECT CAST(value AS TEXT) FROM json_each(?2)) ORDER BY author_id, folder, folded`
	// What was sent and refused may have that extension, too: its reasons lie beside it.
	selectNotes = `SELECT ` + scratchTable.list("", "content") + ` FROM scratch
		WHERE author_id = ?1 AND kind = 'rejected' AND folder LIKE '/dav%/rejected' AND folded LIKE '%.txt' AND NOT EXISTS (
			SELECT 1 FROM scratch reasons
			WHERE reasons.author_id = scratch.author_id AND reasons.folder = scratch.folder AND reasons.folded = scratch.folded || '.txt')
		ORDER BY modified DESC, id DESC LIMIT ?2`
)

const (
	selectScratchBytes  = `SELECT n FROM scratch_bytes WHERE author_id = ?1`
	selectOldestScratch = `SELECT id FROM scratch WHERE author_id = ?1 ORDER BY modified, id LIMIT 1`
	selectScratchExpiry = `SELECT min(expires) FROM scratch`

	moveScratch      = `UPDATE scratch SET folder = ?4, folded = ?5, name = ?6 WHERE author_id = ?1 AND folder = ?2 AND folded = ?3`
	moveScratchBelow = `
		UPDATE scratch SET folder = ?3 || substr(folder, length(?2) + 1)
		WHERE author_id = ?1 AND (folder = ?2 OR folder > ?2 || '/' AND folder < ?2 || '0')`
	deleteScratch      = `DELETE FROM scratch WHERE author_id = ?1 AND folder = ?2 AND folded = ?3`
	deleteScratchBelow = `
		DELETE FROM scratch WHERE author_id = ?1 AND (folder = ?2 OR folder > ?2 || '/' AND folder < ?2 || '0')`
	deleteScratchByID    = `DELETE FROM scratch WHERE id = ?1`
	deleteExpiredScratch = `DELETE FROM scratch WHERE id IN (SELECT id FROM scratch WHERE expires <= ?1 ORDER BY expires LIMIT ?2)`
)

// foldPath returns a path as it is compared.
func foldPath(path string) string { return identity.Fold(norm.NFC.String(path)) }

// Get returns what the author has at the place, in any case of its letters. Its
// folder is folded.
func (r scratchReader) Get(author identity.ID, at store.ScratchPlace) (*store.Scratch, error) {
	return scratchTable.one(r.c, selectScratch, int64(author), foldPath(at.Folder), identity.Fold(at.Name))
}

// In returns what the author has in the folders, by folder and name,
// without Content.
func (r scratchReader) In(author identity.ID, folders ...string) (all []store.Scratch, err error) {
	folded := make([]string, len(folders))
	for i, folder := range folders {
		folded[i] = foldPath(folder)
	}
	err = scratchTable.add(r.c, &all, selectScratchIn, int64(author), array(folded))
	return all, Failure("read scratch files", err)
}

// Notes returns why things were refused, the newest first, without Content.
func (r scratchReader) Notes(author identity.ID, limit int) (all []store.Scratch, err error) {
	err = scratchTable.add(r.c, &all, selectNotes, int64(author), limit)
	return all, Failure("read why things were refused", err)
}

// Bytes returns how much of the scratch area the author uses.
func (r scratchReader) Bytes(author identity.ID) (n int64, err error) {
	_, err = r.c.Row(selectScratchBytes, int64(author)).Scan(&n)
	return n, Failure("read how much scratch there is", err)
}

// Oldest returns the author's row that was changed first, 0 for none.
func (r scratchReader) Oldest(author identity.ID) (id int64, err error) {
	_, err = r.c.Row(selectOldestScratch, int64(author)).Scan(&id)
	return id, Failure("read the oldest scratch file", err)
}

// NextExpiry returns when the next row of all expires, zero for never.
func (r scratchReader) NextExpiry() (t time.Time, err error) {
	_, err = r.c.Row(selectScratchExpiry).Scan(millis{&t})
	return t, Failure("read when scratch expires", err)
}

// Put stores a row or replaces the one of that author and place, and
// sets its ID.
func (t scratchWriter) Put(s *store.Scratch) error {
	err := upsertScratch.numbered(t.c, s, &s.ID)
	return Failure("store a scratch file", err)
}

// Move gives a row, and all below it, another place.
func (t scratchWriter) Move(author identity.ID, from, to store.ScratchPlace) error {
	t.c.try()
	n, err := t.c.Change(moveScratch, int64(author), foldPath(from.Folder), identity.Fold(from.Name),
		foldPath(to.Folder), identity.Fold(to.Name), to.Name)
	err = t.c.tried(err)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The name %q is in use in this folder.", to.Name)
	}
	if err := found(n, err, "scratch file"); err != nil {
		return err
	}
	_, err = t.c.Exec(moveScratchBelow, int64(author), foldPath(from.Folder+"/"+from.Name), foldPath(to.Folder+"/"+to.Name))
	return Failure("move scratch files", err)
}

// Delete deletes a row and all below it.
func (t scratchWriter) Delete(author identity.ID, at store.ScratchPlace) error {
	n, err := t.c.Change(deleteScratch, int64(author), foldPath(at.Folder), identity.Fold(at.Name))
	if err := found(n, err, "scratch file"); err != nil {
		return err
	}
	_, err = t.c.Exec(deleteScratchBelow, int64(author), foldPath(at.Folder+"/"+at.Name))
	return Failure("delete scratch files", err)
}

// DeleteByID deletes one row.
func (t scratchWriter) DeleteByID(id int64) error {
	n, err := t.c.Change(deleteScratchByID, id)
	return found(n, err, "scratch file")
}

// DeleteExpired deletes what has expired by then, at most limit rows,
// and reports how many those were.
func (t scratchWriter) DeleteExpired(now time.Time, limit int) (int64, error) {
	n, err := t.c.Change(deleteExpiredScratch, now.UnixMilli(), limit)
	return n, Failure("delete expired scratch files", err)
}
