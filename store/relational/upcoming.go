package relational

import (
	"cmp"
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// What is to come is found by an index alone, context by context. Rows are read
// only of the earliest.
const (
	upcomingEntries = `SELECT due, seq FROM entries WHERE context_id = ?1 AND due < ?2 ORDER BY due, seq LIMIT ?3`
	upcomingCases   = `SELECT due, id FROM cases WHERE context_id = ?1 AND due IS NOT NULL ORDER BY due, id LIMIT ?2`

	// Of tasks the due time stands in the row of their case.
	newestTasks = `
		SELECT case_id FROM tasks
		WHERE party_id = ?1 AND lists & ?2 <> 0 ORDER BY case_id DESC LIMIT ?3`
	dueOfCases = `SELECT due, id FROM cases WHERE id IN (SELECT value FROM json_each(?1)) AND due IS NOT NULL`
)

// mostTasks is how many cases with tasks of a party are looked at.
const mostTasks = 10_000

// dueID says when the row of that id is due.
type dueID struct{ due, id int64 }

// firstDue returns the ids of the rows that are due first.
func firstDue(rows []dueID, limit int) []int64 {
	slices.SortFunc(rows, func(a, b dueID) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.id, b.id)) })
	rows = slices.Compact(rows)
	ids := make([]int64, min(len(rows), limit))
	for i := range ids {
		ids[i] = rows[i].id
	}
	return ids
}

// dueOf appends what a statement finds.
func (r *reader) dueOf(rows []dueID, query string, args ...any) ([]dueID, error) {
	err := r.c.Each(query, func(scan Scan) error {
		var row dueID
		err := scan(&row.due, &row.id)
		rows = append(rows, row)
		return err
	}, args...)
	return rows, err
}

// Upcoming returns the entries of the contexts that are due before an
// instant: those that are due first, in order of creation.
func (r entryReader) Upcoming(contexts []identity.ID, before time.Time, limit int) (all []store.Entry, err error) {
	const op = "read what schedule entries are due"
	var rows []dueID
	for _, c := range contexts {
		if rows, err = r.dueOf(rows, upcomingEntries, int64(c), at(before), limit); err != nil {
			return nil, Failure(op, err)
		}
	}
	err = entryTable.add(r.c, &all, selectEntries, array(firstDue(rows, limit)), 0, "")
	return all, Failure(op, err)
}

const opDueCases = "read what cases are due"

// Upcoming returns cases of the contexts that are due, the earliest, by id;
// with Marking, without Form and Access.
func (r caseReader) Upcoming(contexts []identity.ID, limit int) ([]store.Case, error) {
	var rows []dueID
	var err error
	for _, c := range contexts {
		if rows, err = r.dueOf(rows, upcomingCases, int64(c), limit); err != nil {
			return nil, Failure(opDueCases, err)
		}
	}
	return r.markings(firstDue(rows, limit))
}

// UpcomingTasks returns the same of cases in which one of the parties may have
// tasks on the lists.
func (r taskReader) UpcomingTasks(lists machine.Lists, parties []identity.ID, limit int) ([]store.Case, error) {
	var rows []dueID
	for _, p := range parties {
		ids, err := values[int64](r.c, newestTasks, int64(p), int64(lists), mostTasks)
		if err == nil {
			rows, err = r.dueOf(rows, dueOfCases, array(ids))
		}
		if err != nil {
			return nil, Failure(opDueCases, err)
		}
	}
	return r.markings(firstDue(rows, limit))
}

// markings returns the cases by id.
func (r *reader) markings(ids []int64) (all []store.Case, err error) {
	err = caseTable.add(r.c, &all, selectMarkings, array(ids))
	return all, Failure(opDueCases, err)
}
