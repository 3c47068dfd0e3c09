package relational

import (
	"cmp"
	"slices"
	"strings"

	"flowdrive/store"
)

const (
	newestOfAll   = `SELECT id FROM cases INDEXED BY cases_listed WHERE archived IS NULL AND id < ?2 AND ?1 = 0 ORDER BY id DESC LIMIT ?3`
	newestOfRoute = `SELECT id FROM cases WHERE route_id = ?1 AND archived IS NULL AND id < ?2 ORDER BY id DESC LIMIT ?3`
	newestOfParty = `SELECT case_id FROM case_access WHERE party_id = ?1 AND case_id < ?2 ORDER BY case_id DESC LIMIT ?3`
	newestOfCase  = `SELECT id FROM cases WHERE parent_id = ?1 AND archived IS NULL AND id < ?2 ORDER BY id DESC LIMIT ?3`

	newestArchived        = `SELECT id FROM cases INDEXED BY archive_by_id WHERE archived IS NOT NULL AND id < ?2 AND ?1 = 0 ORDER BY id DESC LIMIT ?3`
	newestArchivedOfRoute = `SELECT id FROM cases WHERE route_id = ?1 AND archived IS NOT NULL AND id < ?2 ORDER BY id DESC LIMIT ?3`
	newestArchivedOfParty = `SELECT case_id FROM archive_access INDEXED BY archive_by_party WHERE party_id = ?1 AND case_id < ?2 ORDER BY case_id DESC LIMIT ?3`

	selectCaseStates = `SELECT id, route_id, state, status, context_id, coalesce(parent_id, 0) FROM cases WHERE id IN (SELECT value FROM json_each(?1))`
)

// Newest calls take with the cases that the filter selects, from the newest on, below
// f.Before, in chunks, until take has enough or as many as f.Look were looked at. It
// returns the id down to which it has looked, 0 if that were all. With f.Oldest it goes
// from the oldest on, above f.Before.
func (r caseReader) Newest(f store.NewestFilter, take func([]store.CaseState) (enough bool, err error)) (place int64, err error) {
	bound, looked := f.Before, 0
	if bound == 0 && !f.Oldest {
		bound = 1<<63 - 1
	}
	for {
		ids, last, err := r.newestBeyond(newestSources(f), bound, f.Oldest)
		if err != nil {
			return 0, Failure("read the cases", err)
		}
		if len(ids) > 0 {
			found, err := r.states(f, ids)
			if err != nil {
				return 0, Failure("read the cases", err)
			}
			enough, err := take(found)
			if err != nil {
				return 0, err
			}
			bound, looked = ids[len(ids)-1], looked+len(ids)
			if enough || looked >= f.Look && !last {
				return bound, nil
			}
		}
		if last {
			return 0, nil
		}
	}
}

// states returns those of the cases that pass the filter, the newest first. It reads those
// that the filter's facts do not have.
func (r caseReader) states(f store.NewestFilter, ids []int64) (found []store.CaseState, err error) {
	others := ids
	if f.Facts != nil {
		found, others = f.Facts.Recall(ids)
	}
	if len(others) > 0 {
		known := len(found)
		err := r.c.Each(selectCaseStates, func(scan Scan) error {
			var one store.CaseState
			err := scan(&one.ID, &one.RouteID, &one.State, &one.Status, (*int64)(&one.Context), &one.Parent)
			found = append(found, one)
			return err
		}, array(others))
		if err != nil {
			return nil, err
		}
		if f.Facts != nil {
			f.Facts.Learn(found[known:])
		}
	}
	found = slices.DeleteFunc(found, func(c store.CaseState) bool { return !passes(&f, &c) })
	slices.SortFunc(found, func(a, b store.CaseState) int {
		if f.Oldest {
			a, b = b, a
		}
		return cmp.Compare(b.ID, a.ID)
	})
	return found, nil
}

// passes reports whether the filter selects a case that its reader may see.
func passes(f *store.NewestFilter, c *store.CaseState) bool {
	return (f.RouteID == 0 || c.RouteID == f.RouteID) && (len(f.States) == 0 || slices.Contains(f.States, c.State)) && (f.Status == "" || c.Status == f.Status) &&
		(f.Context == 0 || c.Context == f.Context) && (f.Parent == 0 || c.Parent == f.Parent)
}

// oldestFirst makes a statement of the newest ids one of the oldest.
func oldestFirst(query string) string {
	return strings.NewReplacer("id < ?2", "id > ?2", "id DESC", "id").Replace(query)
}

// newestBeyond returns ids below one, or above it if the oldest come first, that any of the
// sources yields, in their order, each once; last says that there are no others.
func (r *reader) newestBeyond(sources []source, bound int64, oldest bool) (merged []int64, last bool, err error) {
	compare := func(a, b int64) int { return cmp.Compare(b, a) }
	if oldest {
		compare = cmp.Compare[int64]
	}
	last = true
	var horizon int64 // down or up to it every source was heard
	for _, s := range sources {
		query := s.query
		if oldest {
			query = oldestFirst(query)
		}
		ids, err := values[int64](r.c, query, s.key, bound, walkChunk)
		if err != nil {
			return nil, false, err
		}
		if len(ids) == walkChunk {
			if end := ids[len(ids)-1]; last || compare(end, horizon) < 0 {
				horizon = end
			}
			last = false
		}
		merged = append(merged, ids...)
	}
	slices.SortFunc(merged, compare)
	merged = slices.Compact(merged)
	if i := slices.IndexFunc(merged, func(id int64) bool { return compare(id, horizon) > 0 }); !last && i >= 0 {
		merged = merged[:i]
	}
	return merged, last, nil
}

// newestSources returns what yields the ids of the cases that the filter's reader may see.
func newestSources(f store.NewestFilter) []source {
	all, ofRoute, ofParty := newestOfAll, newestOfRoute, newestOfParty
	if f.Archived {
		all, ofRoute, ofParty = newestArchived, newestArchivedOfRoute, newestArchivedOfParty
	}
	everything := f.Access == nil
	switch {
	case f.RouteID != 0 && (everything || slices.Contains(f.Routes, f.RouteID)):
		return []source{{query: ofRoute, key: f.RouteID}}
	case everything && f.Parent != 0 && !f.Archived:
		return []source{{query: newestOfCase, key: f.Parent}}
	case everything:
		return []source{{query: all}}
	}
	return append(sourcesOf(ofParty, f.Access), sourcesOf(ofRoute, f.Routes)...)
}
