package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Version is what a document or folder below Documents/ was before it was overwritten
// or deleted (docs/contract/labels-attachments.md#history-of-documents).
type Version struct {
	Document              // as it was; it lies in no folder
	Place    VersionPlace // where it was
	Shown    string       // its name in .history/, set before it is stored
	Replaced time.Time    // when it was overwritten or deleted
	Replacer identity.ID  // by whom
	Owner    identity.ID  // whose versions give way when the quota is full
}

// VersionPlace is a folder below Documents/, whether it is still there or not.
type VersionPlace struct {
	Context identity.ID
	Folder  string // the path below the root of the context, "" the root itself
}

// VersionReader reads what documents were before. Content and Properties are left
// out but by Get.
type VersionReader interface {
	// In returns what was in the folder, in order of Shown, without what was
	// replaced at the instant or before.
	In(at VersionPlace, after time.Time) ([]Version, error)
	// Get returns the one that is shown under the name, whenever it was
	// replaced.
	Get(at VersionPlace, shown string) (*Version, error)
	// Of returns all that the name was in the folder, the oldest first.
	Of(at VersionPlace, name string) ([]Version, error)
	// Taken reports whether something is shown under the name.
	Taken(at VersionPlace, shown string) (bool, error)

	// Folders returns the paths of the folders at the place and below it that
	// have versions, in order, without what was replaced at the instant or
	// before.
	Folders(at VersionPlace, after time.Time) ([]string, error)

	// Oldest returns the id of the owner's oldest version, 0 for none. Bytes
	// returns how much all of the owner's hold that the owner has written.
	Oldest(owner identity.ID) (int64, error)
	Bytes(owner identity.ID) (int64, error)

	// First returns when the oldest of all was replaced, zero if there is none.
	First() (time.Time, error)

	// Along returns what lies along the path from a document down, the document
	// itself first. Under returns the members of a folder, without contents.
	Along(id int64, names []string) ([]Document, error)
	Under(id int64) ([]Document, error)
}

// VersionWriter writes what documents were before.
type VersionWriter interface {
	// Keep makes a version of a document or folder: it leaves its folder, with
	// all that is in it. KeepCopy makes one of a copy of a file, which stays.
	// Both take the ID of v and set it to that of the version.
	Keep(v *Version) error
	KeepCopy(v *Version) error

	// TakeBack makes a version a document of the folder again, under the name.
	TakeBack(id, folder int64, name string) error

	// Drop deletes a version; what was in a folder is deleted by Purge.
	Drop(id int64) error
	// DropBefore drops what was replaced at the instant or before, at most
	// limit, and returns how many those were.
	DropBefore(t time.Time, limit int) (int, error)
	// DropIn drops what was in the folder, and in folders below it, at most
	// limit, and returns how many those were.
	DropIn(at VersionPlace, limit int) (int, error)
}
