package relational

import (
	"slices"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	tasksOfParty = `
		SELECT case_id FROM tasks
		WHERE party_id = ?1 AND case_id > ?2 AND lists & ?4 <> 0 ORDER BY case_id LIMIT ?3`
	tasksOfRoute = `
		SELECT case_id FROM route_tasks
		WHERE route_id = ?1 AND case_id > ?2 AND lists & ?4 <> 0 ORDER BY case_id LIMIT ?3`

	// The same for many routes at once, for administrators: from the begin of
	// the list.
	tasksOfRoutes = `
		SELECT case_id FROM route_tasks
		WHERE case_id > ?2 AND ?1 = 0 AND lists & ?4 <> 0 AND +route_id IN (SELECT value FROM json_each(?5))
		ORDER BY case_id LIMIT ?3`

	hasTasks = `
		SELECT 1 FROM tasks
		WHERE case_id = ?1 AND lists & ?3 <> 0 AND party_id IN (SELECT value FROM json_each(?2)) LIMIT 1`

	selectRevisions = `SELECT id, revision FROM cases WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id`

	// Those of the cases ?1 in which one of the parties ?2, or the administrators of one
	// of the routes ?3, may have tasks.
	revisionsAmong = `
		SELECT id, revision FROM cases WHERE id IN (SELECT value FROM json_each(?1)) AND (
			EXISTS (SELECT 1 FROM tasks WHERE case_id = cases.id AND lists & ?4 <> 0 AND party_id IN (SELECT value FROM json_each(?2)))
			OR EXISTS (SELECT 1 FROM route_tasks WHERE case_id = cases.id AND lists & ?4 <> 0 AND route_id IN (SELECT value FROM json_each(?3))))
		ORDER BY id`

	deleteTasks = `
		DELETE FROM tasks
		WHERE case_id = ?1 AND party_id NOT IN (SELECT value ->> 0 FROM json_each(?2))`
	deleteAllTasks = `DELETE FROM tasks WHERE case_id = ?1`
	upsertTask     = `
		INSERT INTO tasks (party_id, case_id, lists) VALUES (?1, ?2, ?3)
		ON CONFLICT (party_id, case_id) DO UPDATE SET lists = excluded.lists WHERE tasks.lists <> excluded.lists`
	upsertTasks = `
		INSERT INTO tasks (party_id, case_id, lists)
		SELECT value ->> 0, ?1, value ->> 1 FROM json_each(?2) WHERE true
		ON CONFLICT (party_id, case_id) DO UPDATE SET lists = excluded.lists WHERE tasks.lists <> excluded.lists`
	deleteRouteTasks = `DELETE FROM route_tasks WHERE case_id = ?1`
	upsertRouteTasks = `
		INSERT INTO route_tasks (route_id, case_id, lists) VALUES (?1, ?2, ?3)
		ON CONFLICT (route_id, case_id) DO UPDATE SET lists = excluded.lists`
)

var selectMarkings = `SELECT ` + caseTable.list("", "form") + ` FROM cases WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id`

// fewRoutes is up to how many routes each is looked up by itself.
const fewRoutes = 8

// WithTasks returns the cases in which the parties may have tasks, by id, with
// Marking, without Form, Access and Tasks.
func (r taskReader) WithTasks(f store.TaskFilter) (all []store.Case, err error) {
	err = r.walk(taskSources(f), f.After, func(ids []int64) (bool, error) {
		if f.Limit > 0 {
			ids = ids[:min(len(ids), f.Limit-len(all))]
		}
		err := caseTable.add(r.c, &all, selectMarkings, array(ids))
		return f.Limit > 0 && len(all) >= f.Limit, err
	})
	return all, Failure("read the cases with tasks", err)
}

// TaskRevisions returns the cases in which the parties may have tasks with their
// revisions, by id.
func (r taskReader) TaskRevisions(f store.TaskFilter) (all []store.CaseRevision, err error) {
	add := func(scan Scan) error {
		var one store.CaseRevision
		err := scan(&one.ID, &one.Revision)
		all = append(all, one)
		return err
	}
	if f.Among != nil {
		err = r.c.Each(revisionsAmong, add, array(f.Among), array(f.Parties), array(f.Routes), int64(f.Lists))
		return all, Failure("read the cases with tasks", err)
	}
	err = r.walk(taskSources(f), f.After, func(ids []int64) (bool, error) {
		if f.Limit > 0 {
			ids = ids[:min(len(ids), f.Limit-len(all))]
		}
		err := r.c.Each(selectRevisions, add, array(ids))
		return f.Limit > 0 && len(all) >= f.Limit, err
	})
	return all, Failure("read the cases with tasks", err)
}

// WithMarkings returns those of the cases that there are, by id, with Marking, without
// Form, Access and Tasks.
func (r taskReader) WithMarkings(ids []int64) (all []store.Case, err error) {
	for len(ids) > 0 && err == nil {
		n := min(len(ids), walkChunk)
		err = caseTable.add(r.c, &all, selectMarkings, array(ids[:n]))
		ids = ids[n:]
	}
	return all, Failure("read cases", err)
}

// taskSources returns what yields the ids of the cases with tasks.
func taskSources(f store.TaskFilter) []source {
	lists := []any{int64(f.Lists)}
	sources := sourcesOf(tasksOfParty, f.Parties)
	if len(f.Routes) <= fewRoutes {
		sources = append(sources, sourcesOf(tasksOfRoute, f.Routes)...)
	}
	for i := range sources {
		sources[i].more = lists
	}
	if len(f.Routes) > fewRoutes {
		sources = append(sources, source{query: tasksOfRoutes, more: append(lists, array(f.Routes))})
	}
	return sources
}

// HasTasks reports whether one of the parties may have tasks of their own in the case.
func (r taskReader) HasTasks(caseID int64, parties []identity.ID) (bool, error) {
	var one int
	found, err := r.c.Row(hasTasks, caseID, array(parties), int64(machine.OwnLists)).Scan(&one)
	return found, Failure("read the tasks of a case", err)
}

// putTasks updates the index of worklists for the case. had is what the index
// has of the case, or nil if that is not known.
func (t *tx) putTasks(c *store.Case, had []store.TaskShare) error {
	parties, ofAdmins := shares(c.Tasks)
	before, adminsHad := shares(had)
	gone := slices.ContainsFunc(before, func(had [2]int64) bool {
		return !slices.ContainsFunc(parties, func(has [2]int64) bool { return has[0] == had[0] })
	})
	var err error
	switch {
	case had != nil && !gone:
	case len(parties) == 0:
		_, err = t.c.Exec(deleteAllTasks, c.ID)
	default:
		_, err = t.c.Exec(deleteTasks, c.ID, array(parties))
	}
	switch {
	case err != nil:
	case len(parties) == 1:
		_, err = t.c.Exec(upsertTask, parties[0][0], c.ID, parties[0][1])
	case len(parties) > 1:
		_, err = t.c.Exec(upsertTasks, c.ID, array(parties))
	}
	switch {
	case err != nil || had != nil && adminsHad == ofAdmins:
	case ofAdmins == 0:
		_, err = t.c.Exec(deleteRouteTasks, c.ID)
	default:
		_, err = t.c.Exec(upsertRouteTasks, c.RouteID, c.ID, ofAdmins)
	}
	return Failure("store the tasks of a case", err)
}

// shares returns which parties have tasks on which lists, and on which the
// administrators of the route have any.
func shares(list []store.TaskShare) (parties [][2]int64, ofAdmins int64) {
	for _, share := range list {
		if share.Party == 0 {
			ofAdmins = int64(share.Lists)
		} else {
			parties = append(parties, [2]int64{int64(share.Party), int64(share.Lists)})
		}
	}
	return parties, ofAdmins
}
