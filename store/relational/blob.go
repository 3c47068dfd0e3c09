package relational

import (
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	selectUnusedBlobs = `SELECT sha256 FROM blobs WHERE refs = 0 AND sha256 > ?1 ORDER BY sha256 LIMIT ?2`
	selectBlob        = `SELECT refs FROM blobs WHERE sha256 = ?1`
	insertBlob        = `INSERT INTO blobs (sha256, refs) VALUES (?1, 0) ON CONFLICT DO NOTHING`
	deleteBlob        = `DELETE FROM blobs WHERE sha256 = ?1 AND refs = 0`

	selectStoredBytes = `SELECT n FROM stored_bytes WHERE author_id = ?1`
	// unlessStoredMore fails if the author has stored more. Only databases of a Pipeline are asked it.
	unlessStoredMore = `SELECT 1 / CASE WHEN coalesce((SELECT n FROM stored_bytes WHERE author_id = ?1), 0) <= ?2 THEN 1 ELSE 0 END`

	selectStoredFiles = `SELECT files FROM stored_bytes WHERE author_id = ?1`
)

// Unused returns contents that nothing refers to, in order, after the
// given one, at most limit.
func (r blobReader) Unused(after store.Digest, limit int) (all []store.Digest, err error) {
	err = r.c.Each(selectUnusedBlobs, func(scan Scan) error {
		var d store.Digest
		err := scan(bits(d[:]))
		all = append(all, d)
		return err
	}, after[:], limit)
	return all, Failure("read the contents that nothing refers to", err)
}

// Refs returns how many rows refer to a content, and whether it is known.
func (r blobReader) Refs(d store.Digest) (n int64, known bool, err error) {
	known, err = r.c.Row(selectBlob, d[:]).Scan(&n)
	return n, known, Failure("read what refers to a content", err)
}

// StoredBytes returns how many bytes the author has stored.
func (r blobReader) StoredBytes(author identity.ID) (n int64, err error) {
	_, err = r.c.Row(selectStoredBytes, int64(author)).Scan(&n)
	return n, Failure("read how much is stored", err)
}

// StoredFiles returns how many documents and folders the author has stored.
func (r blobReader) StoredFiles(author identity.ID) (n int64, err error) {
	_, err = r.c.Row(selectStoredFiles, int64(author)).Scan(&n)
	return n, Failure("read how many files are stored", err)
}

// Within reports whether the author has stored so many bytes at most. What is written later fails
// if not: so nobody waits for an answer that is nearly always the same.
func (t blobWriter) Within(author identity.ID, most int64) (bool, error) {
	const op = "compare how much is stored"
	if t.c.part.later {
		_, err := t.c.Exec(unlessStoredMore, int64(author), most)
		return err == nil, Failure(op, err)
	}
	n, err := t.Blobs().StoredBytes(author)
	return err == nil && n <= most, err
}

// Note makes a content known to which nothing refers yet, unless it is
// known already.
func (t blobWriter) Note(d store.Digest) error {
	_, err := t.c.Exec(insertBlob, d[:])
	return Failure("note a content", err)
}

// Forget deletes the row of a content. It returns errs.InUse if anything refers
// to it.
func (t blobWriter) Forget(d store.Digest) error {
	n, err := t.c.Change(deleteBlob, d[:])
	if n == 0 && err == nil {
		var known bool
		if _, known, err = t.Blobs().Refs(d); known && err == nil {
			return errs.New(errs.InUse, "Something refers to the content %x.", d)
		}
	}
	return Failure("forget a content", err)
}
