package relational

import "flowdrive/internal/identity"

const (
	caseRevision = `SELECT revision FROM cases WHERE id = ?1`

	childrenOfRow = `SELECT id FROM cases WHERE parent_id = ?1 AND parent_row = ?2 AND id > ?3 AND state NOT IN ('closed', 'canceled') ORDER BY id LIMIT ?4`
	childMarkings = `SELECT marking FROM cases WHERE parent_id = ?1 AND parent_row = ?2 ORDER BY id`

	casesMentioning = `SELECT id FROM cases WHERE instr(lower(CAST(marking AS TEXT)), ?1) > 0 ORDER BY id`

	casesStartedBy = `SELECT id FROM cases WHERE starter_id = ?1 ORDER BY id`

	selectPlan = `SELECT plan FROM plans WHERE case_id = ?1 AND row = ?2`
	putPlan    = `INSERT INTO plans (case_id, row, plan) VALUES (?1, ?2, ?3) ON CONFLICT (case_id, row) DO UPDATE SET plan = excluded.plan`
	deletePlan = `DELETE FROM plans WHERE case_id = ?1 AND row = ?2`
)

// Revision returns the revision of a case.
func (r caseReader) Revision(id int64) (revision int64, err error) {
	found, err := r.c.Row(caseRevision, id).Scan(&revision)
	return revision, read(found, err, "case")
}

// Mentioning returns the ids of the cases in whose markings the text stands, in any case,
// archived ones included.
func (r caseReader) Mentioning(text string) (ids []int64, err error) {
	ids, err = values[int64](r.c, casesMentioning, identity.Fold(text))
	return ids, Failure("read the cases that name a user or team", err)
}

// Started returns the ids of the cases that the user has started.
func (r partyReader) Started(id identity.ID) (ids []int64, err error) {
	ids, err = values[int64](r.c, casesStartedBy, int64(id))
	return ids, Failure("read the cases that a user has started", err)
}

// Children returns the ids of the children of an enablement that are neither
// closed nor canceled, the first ones after an id.
func (r caseReader) Children(parent, row, after int64, limit int) (ids []int64, err error) {
	ids, err = values[int64](r.c, childrenOfRow, parent, row, after, limit)
	return ids, Failure("read the children of a case", err)
}

// ChildMarkings calls f for the marking of each child of an enablement, by
// id.
func (r caseReader) ChildMarkings(parent, row int64, f func(marking []byte) error) error {
	err := r.c.Each(childMarkings, func(scan Scan) error {
		var marking []byte
		if err := scan(&marking); err != nil {
			return err
		}
		return f(marking)
	}, parent, row)
	return Failure("read the children of a case", err)
}

// Plan returns the planned children of an enablement.
func (r caseReader) Plan(caseID, row int64) (plan []byte, err error) {
	found, err := r.c.Row(selectPlan, caseID, row).Scan(&plan)
	return plan, read(found, err, "plan")
}

// PutPlan stores the planned children of an enablement; nil deletes the plan.
func (t caseWriter) PutPlan(caseID, row int64, plan []byte) error {
	if plan == nil {
		_, err := t.c.Exec(deletePlan, caseID, row)
		return Failure("drop a plan of children", err)
	}
	_, err := t.c.Exec(putPlan, caseID, row, blob(plan))
	return Failure("store a plan of children", err)
}
