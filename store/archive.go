package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Month is a month of the calendar in UTC, as 201211; 0 stands for no month.
type Month int64

// MonthOf returns the month of an instant.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month(t.Year()*100 + int(t.Month()))
}

// Year returns the year of the month.
func (m Month) Year() int { return int(m / 100) }

// Number returns the month within its year, from 1.
func (m Month) Number() int { return int(m % 100) }

// ArchiveReader reads what the archive and the deletion of cases rest on.
type ArchiveReader interface {
	// NextArchiveMonth returns the first month after the given one in which an
	// archived case has ended that one of the parties sees, or that is of one
	// of the routes; parties nil: any. It returns 0 if there is none.
	NextArchiveMonth(after Month, parties []identity.ID, routes []int64) (Month, error)

	// EndedChildren returns the first children of a case, by id, that have
	// ended and are not archived: their ids, markings and whether they are
	// named.
	EndedChildren(parent int64, limit int) ([]Case, error)

	// AnyChildren returns the ids of some children of a case, archived or not.
	AnyChildren(parent int64, limit int) ([]int64, error)
}

// ArchiveWriter archives cases, and deletes them.
type ArchiveWriter interface {
	// Archive puts a case without a given name into the archive, or with month
	// 0 back. It also sets when the case is due.
	Archive(id int64, month Month, due, retires time.Time) error
	SetRetires(id int64, retires time.Time) error // and changes nothing else

	// Delete deletes a case with its log, messages, names and attachments.
	// The occurrence of the entry that made it for that instant stays, without
	// it.
	Delete(id int64, entry UUID, instant time.Time) error
	PutPurge(id int64, due time.Time) error // the children of a deleted case are to be deleted
	DeletePurge(id int64) error             // they have been
}
