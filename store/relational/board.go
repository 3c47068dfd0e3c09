package relational

import (
	"cmp"
	"slices"

	"flowdrive/store"
)

const (
	openOfRoute = `
		SELECT id FROM cases
		WHERE route_id = ?1 AND open = 1 AND id > ?2 ORDER BY id LIMIT ?3`
	endedInStatus = `
		SELECT id FROM cases
		WHERE route_id = ?1 AND open = 0 AND state <> 'canceled' AND archived IS NULL AND status = ?4 AND id > ?2 ORDER BY id LIMIT ?3`

	nextEndedStatus = `
		SELECT coalesce(min(status), '') FROM cases
		WHERE route_id = ?1 AND open = 0 AND state <> 'canceled' AND archived IS NULL AND status > ?2`
	otherOpenStatus = `
		SELECT status FROM cases
		WHERE route_id = ?1 AND open = 1
			AND status <> '' AND status NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?2)) LIMIT 1`

	// Of ended cases only the completed ones can go on.
	strandedOpen = `
		SELECT id, status FROM cases
		WHERE route_id = ?1 AND open = 1
			AND status <> '' AND status NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?2)) LIMIT ?3`
	strandedCompleted = `
		SELECT id, status FROM cases
		WHERE route_id = ?1 AND open = 0 AND state <> 'canceled' AND archived IS NULL AND status = ?2 AND state = 'completed' LIMIT ?3`
)

// Stranded returns cases of the route that can go on, by id, and whose
// status is set and none of those. It reads the open ones, and of the others
// only those that it returns.
func (r routeReader) Stranded(id int64, statuses []string, limit int) (all []store.Stranded, err error) {
	const op = "read cases in other states"
	take := func(scan Scan) error {
		var s store.Stranded
		err := scan(&s.Case, &s.Status)
		all = append(all, s)
		return err
	}
	if err := r.c.Each(strandedOpen, take, id, array(statuses), limit); err != nil {
		return nil, Failure(op, err)
	}
	ended, err := r.Cases().EndedStatuses(id)
	if err != nil {
		return nil, err
	}
	for _, status := range ended {
		if slices.Contains(statuses, status) || len(all) >= limit {
			continue
		}
		if err := r.c.Each(strandedCompleted, take, id, status, limit-len(all)); err != nil {
			return nil, Failure(op, err)
		}
	}
	slices.SortFunc(all, func(a, b store.Stranded) int { return cmp.Compare(a.Case, b.Case) })
	return all, nil
}

// EndedStatuses returns the states of the route's ended cases but canceled
// ones, by name. It costs a look into an index for each, however many cases
// there are.
func (r caseReader) EndedStatuses(routeID int64) (all []string, err error) {
	for last := ""; ; {
		if _, err := r.c.Row(nextEndedStatus, routeID, last).Scan(&last); err != nil {
			return nil, Failure("read the states of ended cases", err)
		}
		if last == "" {
			return all, nil
		}
		all = append(all, last)
	}
}

// OpenStatuses returns those states of the route's open cases that are not
// among the known ones. It reads all that are open.
func (r caseReader) OpenStatuses(routeID int64, known []string) (others []string, err error) {
	for {
		var status string
		found, err := r.c.Row(otherOpenStatus, routeID, array(known)).Scan(&status)
		if err != nil {
			return nil, Failure("read the states of open cases", err)
		}
		if !found {
			return others, nil
		}
		others, known = append(others, status), append(known[:len(known):len(known)], status)
	}
}
