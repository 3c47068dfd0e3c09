package relational

import (
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	// The sources of the archive's cases: as those of Cases/, and by the month
	// of their end, ?4.
	archivedCases   = `SELECT id FROM cases INDEXED BY archive_by_id WHERE archived IS NOT NULL AND id > ?2 AND ?1 = 0 ORDER BY id LIMIT ?3`
	archivedOfRoute = `SELECT id FROM cases WHERE route_id = ?1 AND archived IS NOT NULL AND id > ?2 ORDER BY id LIMIT ?3`
	archivedOfParty = `SELECT case_id FROM archive_access WHERE party_id = ?1 AND case_id > ?2 ORDER BY case_id LIMIT ?3`
	monthOfAll      = `SELECT id FROM cases WHERE archived = ?4 AND id > ?2 AND ?1 = 0 ORDER BY id LIMIT ?3`
	monthOfRoute    = `SELECT id FROM cases WHERE route_id = ?1 AND archived = ?4 AND id > ?2 ORDER BY id LIMIT ?3`
	monthOfParty    = `SELECT case_id FROM archive_access WHERE party_id = ?1 AND month = ?4 AND case_id > ?2 ORDER BY case_id LIMIT ?3`

	// The next month after ?2 in which there is anything.
	nextMonth        = `SELECT coalesce(min(archived), 0) FROM cases WHERE archived > ?2 AND ?1 = 0`
	nextMonthOfRoute = `SELECT coalesce(min(archived), 0) FROM cases WHERE route_id = ?1 AND archived > ?2`
	nextMonthOfParty = `SELECT coalesce(min(month), 0) FROM archive_access WHERE party_id = ?1 AND month > ?2`

	endedChildren = `
		SELECT id, marking, named FROM cases
		WHERE parent_id = ?1 AND archived IS NULL AND open = 0 ORDER BY id LIMIT ?2`
	anyChildren = `SELECT id FROM cases WHERE parent_id = ?1 ORDER BY parent_row, id LIMIT ?2`

	archiveCase = `UPDATE cases SET archived = nullif(?2, 0), due = ?3, retires = ?4, named = 0 WHERE id = ?1`
	setRetires  = `UPDATE cases SET retires = ?2 WHERE id = ?1`
	deleteCase  = `DELETE FROM cases WHERE id = ?1`

	// Notices are of no step.
	keepNotices = `UPDATE outbox SET case_id = NULL WHERE case_id = ?1 AND step = 0`

	// The instant of a triggered case is some milliseconds after the one that
	// it was made for, if others were triggered in the same moment.
	forgetCase = `
		UPDATE occurrences SET case_id = NULL
		WHERE entry = ?1 AND instant BETWEEN ?2 AND ?2 + 100000 AND case_id = ?3`

	insertPurge = `INSERT INTO purges (case_id, due) VALUES (?1, ?2) ON CONFLICT DO NOTHING`
	deletePurge = `DELETE FROM purges WHERE case_id = ?1`
)

// archiveSources returns the sources of the archived cases that the filter's
// reader may see.
func archiveSources(f store.CaseFilter) []source {
	all, ofRoute, ofParty := archivedCases, archivedOfRoute, archivedOfParty
	var month []any
	if f.Month != 0 {
		all, ofRoute, ofParty = monthOfAll, monthOfRoute, monthOfParty
		month = []any{int64(f.Month)}
	}
	var sources []source
	switch {
	case f.Access == nil && f.RouteID != 0:
		sources = []source{{query: ofRoute, key: f.RouteID}}
	case f.Access == nil:
		sources = []source{{query: all}}
	default:
		sources = append(sourcesOf(ofParty, f.Access), sourcesOf(ofRoute, f.Routes)...)
	}
	for i := range sources {
		sources[i].more = month
	}
	return sources
}

// NextArchiveMonth returns the first month after the given one in which a case
// has ended that one of the parties sees, or that is of one of the routes;
// parties nil: any. It returns 0 if there is none.
func (r archiveReader) NextArchiveMonth(after store.Month, parties []identity.ID, routes []int64) (store.Month, error) {
	sources := []source{{query: nextMonth}}
	if parties != nil {
		sources = append(sourcesOf(nextMonthOfParty, parties), sourcesOf(nextMonthOfRoute, routes)...)
	}
	first := store.Month(0)
	for _, s := range sources {
		var month store.Month
		if _, err := r.c.Row(s.query, s.key, int64(after)).Scan(&month); err != nil {
			return 0, Failure("read the months of the archive", err)
		}
		if month != 0 && (first == 0 || month < first) {
			first = month
		}
	}
	return first, nil
}

// EndedChildren returns the first children of a case that have ended and are
// not archived: their ids, markings and whether they are named.
func (r archiveReader) EndedChildren(parent int64, limit int) (all []store.Case, err error) {
	err = r.c.Each(endedChildren, func(scan Scan) error {
		var c store.Case
		err := scan(&c.ID, &c.Marking, &c.Named)
		all = append(all, c)
		return err
	}, parent, limit)
	return all, Failure("read the children of a case", err)
}

// AnyChildren returns the ids of some children of a case, archived or not.
func (r archiveReader) AnyChildren(parent int64, limit int) (ids []int64, err error) {
	ids, err = values[int64](r.c, anyChildren, parent, limit)
	return ids, Failure("read the children of a case", err)
}

// Archive puts a case into the archive, or with month 0 back into Cases/, and
// says when something of it is due.
func (t caseWriter) Archive(id int64, month store.Month, due, retires time.Time) error {
	t.touch(id)
	n, err := t.c.Change(archiveCase, id, int64(month), at(due), at(retires))
	return found(n, err, "case")
}

// SetRetires says when the retention of a case is over.
func (t caseWriter) SetRetires(id int64, retires time.Time) error {
	n, err := t.c.Change(setRetires, id, at(retires))
	return found(n, err, "case")
}

// Delete deletes a case with what belongs to it. The occurrence that made
// it, if it is of an entry, stays without it.
func (t caseWriter) Delete(id int64, entry store.UUID, instant time.Time) error {
	t.touch(id)
	if entry != (store.UUID{}) {
		if _, err := t.c.Exec(forgetCase, entry[:], instant.UnixMilli(), id); err != nil {
			return Failure("keep an occurrence without its case", err)
		}
	}
	// What people are to be told is told without the case, and what waits for that is not left behind.
	if _, err := t.c.Exec(keepNotices, id); err != nil {
		return Failure("keep the notices of a case", err)
	}
	n, err := t.c.Change(deleteCase, id)
	return found(n, err, "case")
}

// PutPurge notes that the children of a deleted case are to be deleted.
func (t caseWriter) PutPurge(id int64, due time.Time) error {
	_, err := t.c.Exec(insertPurge, id, at(due))
	return Failure("note what is left of a case", err)
}

// DeletePurge notes that nothing is left of a deleted case.
func (t caseWriter) DeletePurge(id int64) error {
	_, err := t.c.Exec(deletePurge, id)
	return Failure("note that nothing is left of a case", err)
}
