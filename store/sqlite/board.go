package sqlite

const (
	openOfRoute = `
		SELECT id FROM cases
		WHERE route_id = ?1 AND state IN ('queued', 'active', 'suspended') AND id > ?2 ORDER BY id LIMIT ?3`
	endedInStatus = `
		SELECT id FROM cases
		WHERE route_id = ?1 AND state IN ('completed', 'closed', 'failed') AND status = ?4 AND id > ?2 ORDER BY id LIMIT ?3`

	nextEndedStatus = `
		SELECT coalesce(min(status), '') FROM cases
		WHERE route_id = ?1 AND state IN ('completed', 'closed', 'failed') AND status > ?2`
	otherOpenStatus = `
		SELECT status FROM cases
		WHERE route_id = ?1 AND state IN ('queued', 'active', 'suspended')
			AND status <> '' AND status NOT IN (SELECT value FROM json_each(?2)) LIMIT 1`
)

// EndedStatuses returns the states of the route's ended cases but canceled
// ones, by name. It costs a look into an index for each, however many cases
// there are.
func (r *reader) EndedStatuses(routeID int64) (all []string, err error) {
	for last := ""; ; {
		if _, err := r.c.row(nextEndedStatus, routeID, last).scan(&last); err != nil {
			return nil, failure("read the states of ended cases", err)
		}
		if last == "" {
			return all, nil
		}
		all = append(all, last)
	}
}

// OpenStatuses returns those states of the route's open cases that are not
// among the known ones. It reads all that are open.
func (r *reader) OpenStatuses(routeID int64, known []string) (others []string, err error) {
	for {
		var status string
		found, err := r.c.row(otherOpenStatus, routeID, array(known)).scan(&status)
		if err != nil {
			return nil, failure("read the states of open cases", err)
		}
		if !found {
			return others, nil
		}
		others, known = append(others, status), append(known[:len(known):len(known)], status)
	}
}
