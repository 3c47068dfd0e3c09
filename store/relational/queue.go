package relational

import "flowdrive/store"

const (
	startable = `FROM cases WHERE state = 'queued' AND waits = 0 AND start_at IS NULL`

	nextLane     = `SELECT grp, route_id ` + startable + ` AND (grp, route_id) > (?1, ?2) ORDER BY grp, route_id LIMIT 1`
	selectQueued = `SELECT id, priority ` + startable + ` AND grp = ?1 AND route_id = ?2 ORDER BY priority DESC, id LIMIT ?3`
	groupBusy    = `SELECT 1 FROM cases WHERE grp = ?1 AND busy = 1 AND id NOT IN (SELECT value FROM json_each(?2)) LIMIT 1`
)

// Lanes returns the lanes that have cases that could be started, by group and
// route. It costs one look-up per lane, for any number of cases.
func (r queueReader) Lanes() (lanes []store.Lane, err error) {
	var last store.Lane
	for more := true; more; {
		more, err = r.c.Row(nextLane, last.Group, last.RouteID).Scan(&last.Group, &last.RouteID)
		if err != nil {
			return nil, Failure("read the queued cases", err)
		}
		if more {
			lanes = append(lanes, last)
		}
	}
	return lanes, nil
}

// QueuedCases returns the first cases of a lane that could be started, by
// priority, higher first, then id.
func (r queueReader) QueuedCases(lane store.Lane, limit int) (cases []store.QueuedCase, err error) {
	err = r.c.Each(selectQueued, func(scan Scan) error {
		var c store.QueuedCase
		err := scan(&c.ID, &c.Priority)
		cases = append(cases, c)
		return err
	}, lane.Group, lane.RouteID, limit)
	return cases, Failure("read the queued cases", err)
}

// GroupBusy reports whether a case of the group, other than those ids, keeps
// others from starting.
func (r queueReader) GroupBusy(group string, but []int64) (bool, error) {
	var one int
	busy, err := r.c.Row(groupBusy, group, array(but)).Scan(&one)
	return busy, Failure("read which cases of a group are busy", err)
}
