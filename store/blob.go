package store

import "flowdrive/internal/identity"

// BlobReader reads what is known of contents that are files.
type BlobReader interface {
	// Unused returns contents that nothing refers to, in order, after
	// the given one, at most limit.
	Unused(after Digest, limit int) ([]Digest, error)
	Refs(d Digest) (n int64, known bool, err error)
	StoredBytes(author identity.ID) (int64, error)
	StoredFiles(author identity.ID) (int64, error) // documents and folders
}

// BlobWriter notes and forgets contents that are files.
type BlobWriter interface {
	// Note makes a content known to which nothing refers yet, unless it
	// is known already.
	Note(d Digest) error

	// Within reports whether the author has stored so many bytes at most. In a unit that
	// writes later it is true, and the unit ends with ErrAgain if it is not.
	Within(author identity.ID, most int64) (bool, error)

	// Forget deletes the row of a content. It returns errs.InUse if anything
	// refers to it.
	Forget(d Digest) error
}
