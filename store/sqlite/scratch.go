package sqlite

import (
	"time"

	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	// content comes last: what only lists does not read it.
	scratchColumns = `id, author_id, folder, name, kind, locked, media_type, size, sha256, content IS NULL, created, modified, expires`

	selectScratch   = `SELECT ` + scratchColumns + `, content FROM scratch WHERE author_id = ?1 AND folder = ?2 AND folded = ?3`
	selectScratchIn = `
		SELECT ` + scratchColumns + `, NULL FROM scratch
		WHERE author_id = ?1 AND folder IN (SELECT value FROM json_each(?2)) ORDER BY author_id, folder, folded`
	selectScratchBytes  = `SELECT n FROM scratch_bytes WHERE author_id = ?1`
	selectOldestScratch = `SELECT id FROM scratch WHERE author_id = ?1 ORDER BY modified, id LIMIT 1`
	selectScratchExpiry = `SELECT min(expires) FROM scratch`

	upsertScratch = `
		INSERT INTO scratch (author_id, folder, folded, name, kind, locked, media_type, size, sha256, created, modified, expires, content)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
		ON CONFLICT (author_id, folder, folded) DO UPDATE SET name = ?4, kind = ?5, locked = ?6, media_type = ?7, size = ?8,
			sha256 = ?9, created = ?10, modified = ?11, expires = ?12, content = ?13
		RETURNING id`
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

func scanScratch(scan scan, s *store.Scratch) error {
	return scan(&s.ID, &s.Author, &s.Place.Folder, &s.Place.Name, &s.Kind, &s.Locked, &s.MediaType, &s.Size, bits(s.SHA256[:]),
		&s.InFile, millis{&s.Created}, millis{&s.Modified}, millis{&s.Expires}, &s.Content)
}

// Get returns what the author has at the place, whatever the case of its
// letters. Its folder is folded.
func (r scratchReader) Get(author identity.ID, at store.ScratchPlace) (*store.Scratch, error) {
	s := &store.Scratch{}
	found, err := r.c.row(selectScratch, int64(author), foldPath(at.Folder), identity.Fold(at.Name)).
		read(func(scan scan) error { return scanScratch(scan, s) })
	if err := read(found, err, "scratch file"); err != nil {
		return nil, err
	}
	return s, nil
}

// In returns what the author has in the folders, by folder and name,
// without Content.
func (r scratchReader) In(author identity.ID, folders ...string) (all []store.Scratch, err error) {
	folded := make([]string, len(folders))
	for i, folder := range folders {
		folded[i] = foldPath(folder)
	}
	err = r.c.each(selectScratchIn, func(scan scan) error {
		var s store.Scratch
		err := scanScratch(scan, &s)
		all = append(all, s)
		return err
	}, int64(author), array(folded))
	return all, failure("read scratch files", err)
}

// Bytes returns how much of the scratch area the author uses.
func (r scratchReader) Bytes(author identity.ID) (n int64, err error) {
	_, err = r.c.row(selectScratchBytes, int64(author)).scan(&n)
	return n, failure("read how much scratch there is", err)
}

// Oldest returns the author's row that was changed first, 0 for none.
func (r scratchReader) Oldest(author identity.ID) (id int64, err error) {
	_, err = r.c.row(selectOldestScratch, int64(author)).scan(&id)
	return id, failure("read the oldest scratch file", err)
}

// NextExpiry returns when the next row of all expires, zero for never.
func (r scratchReader) NextExpiry() (t time.Time, err error) {
	_, err = r.c.row(selectScratchExpiry).scan(millis{&t})
	return t, failure("read when scratch expires", err)
}

// Put stores a row or replaces the one of that author and place, and
// sets its ID.
func (t scratchWriter) Put(s *store.Scratch) error {
	content := any(nil)
	if !s.InFile {
		content = blob(s.Content)
	}
	_, err := t.c.row(upsertScratch, int64(s.Author), foldPath(s.Place.Folder), identity.Fold(s.Place.Name), s.Place.Name,
		string(s.Kind), s.Locked, s.MediaType, s.Size, s.SHA256[:], at(s.Created), at(s.Modified), at(s.Expires), content).scan(&s.ID)
	return failure("store a scratch file", err)
}

// Move gives a row, and all below it, another place.
func (t scratchWriter) Move(author identity.ID, from, to store.ScratchPlace) error {
	n, err := t.c.change(moveScratch, int64(author), foldPath(from.Folder), identity.Fold(from.Name),
		foldPath(to.Folder), identity.Fold(to.Name), to.Name)
	if isUnique(err) {
		return errs.New(errs.NameTaken, "The name %q is in use in this folder.", to.Name)
	}
	if err := found(n, err, "scratch file"); err != nil {
		return err
	}
	_, err = t.c.exec(moveScratchBelow, int64(author), foldPath(from.Folder+"/"+from.Name), foldPath(to.Folder+"/"+to.Name))
	return failure("move scratch files", err)
}

// Delete deletes a row and all below it.
func (t scratchWriter) Delete(author identity.ID, at store.ScratchPlace) error {
	n, err := t.c.change(deleteScratch, int64(author), foldPath(at.Folder), identity.Fold(at.Name))
	if err := found(n, err, "scratch file"); err != nil {
		return err
	}
	_, err = t.c.exec(deleteScratchBelow, int64(author), foldPath(at.Folder+"/"+at.Name))
	return failure("delete scratch files", err)
}

// DeleteByID deletes one row.
func (t scratchWriter) DeleteByID(id int64) error {
	n, err := t.c.change(deleteScratchByID, id)
	return found(n, err, "scratch file")
}

// DeleteExpired deletes what has expired by then, at most limit rows,
// and reports how many those were.
func (t scratchWriter) DeleteExpired(now time.Time, limit int) (int64, error) {
	n, err := t.c.change(deleteExpiredScratch, now.UnixMilli(), limit)
	return n, failure("delete expired scratch files", err)
}
