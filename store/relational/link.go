package relational

import "flowdrive/store"

// isLinked is a column of a case: whether other cases have relations to it.
const isLinked = `EXISTS (SELECT 1 FROM case_links WHERE target_id = cases.id)`

const (
	selectLinked = `SELECT case_id, relation FROM case_links WHERE target_id = ?1 ORDER BY relation, case_id`
	deleteLinks  = `DELETE FROM case_links WHERE case_id = ?1`
	insertLink   = `INSERT INTO case_links (case_id, relation, target_id) VALUES (?1, ?2, ?3)`
)

// Linked returns the relations of other cases to a case, by relation and case.
func (r caseReader) Linked(target int64) (all []store.CaseLink, err error) {
	err = r.c.Each(selectLinked, func(scan Scan) error {
		l := store.CaseLink{Target: target}
		err := scan(&l.CaseID, &l.Relation)
		all = append(all, l)
		return err
	}, target)
	return all, Failure("read the relations of cases to a case", err)
}

// PutLinks replaces the relations of a case.
func (t caseWriter) PutLinks(caseID int64, links []store.CaseLink) error {
	_, err := t.c.Exec(deleteLinks, caseID)
	for i := 0; i < len(links) && err == nil; i++ {
		_, err = t.c.Exec(insertLink, caseID, links[i].Relation, links[i].Target)
	}
	return Failure("store the relations of a case", err)
}
