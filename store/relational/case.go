package relational

import (
	"slices"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

var caseTable = table[store.Case]{"cases", "case", func(c *store.Case, to []column) []column {
	return append(to, []column{
		{"id", fixed, &c.ID},
		{"route_id", fixed, &c.RouteID},
		{"context_id", full, (*int64)(&c.ContextID)},
		{"starter_id", fixed, (*int64)(&c.StarterID)},
		{"state", full, &c.State},
		{"status", full, &c.Status},
		{"priority", full, &c.Priority},
		{"version", full, &c.Version},
		{"revision", full, &c.Revision},
		{"due", full, millis{&c.Due}},
		{"parent_id", fixed, number{&c.Parent}},
		{"parent_row", fixed, number{&c.ParentRow}},
		{"entry", inserted, someBits(c.Entry[:])},
		{"named", full, &c.Named},
		{"waits", fixed, &c.Waits},
		{"grp", full, &c.Group},
		{"busy", full, &c.Busy},
		{"start_at", unread, startAt{c}},
		{"retires", full, millis{&c.Retires}},
		{"archived", selected, number{(*int64)(&c.Archived)}},
		{isLinked, selected, &c.Linked},
		{"log_bytes", selected, &c.LogBytes},
		{"log_bytes", inserted, &c.Logs},
		{"log_bytes", updated, more{&c.Logs}},
		{"form", full, &c.Form},
		{"created", fixed, millis{&c.Created}},
		{"modified", full, millis{&c.Modified}},
		{"marking", full, &c.Marking},
		{"access", inserted, list[identity.ID]{&c.Access}},
		{"access", updated, accessIfKnown{c}},
	}...)
}}

// startAt is when a queued case can be started.
type startAt struct{ c *store.Case }

func (s startAt) value() any {
	if s.c.State != string(machine.Queued) {
		return nil
	}
	return at(s.c.Due)
}

// more is what a column becomes larger by.
type more struct{ n *int64 }

func (more) expression(place string) string { return `log_bytes + ` + place }

func (m more) value() any { return *m.n }

// accessIfKnown leaves what is there if the case was read without it.
type accessIfKnown struct{ c *store.Case }

func (accessIfKnown) expression(place string) string { return `coalesce(` + place + `, access)` }

func (a accessIfKnown) value() any {
	if a.c.Access == nil {
		return nil
	}
	return array(a.c.Access)
}

// ?1 is the id, ?2 the revision that is changed.
const caseAsRead = `id = ?1 AND revision = ?2 AND coalesce(archived, 0) = ?3`

var (
	insertCase = caseTable.insert()
	updateCase = caseTable.update(condition{
		where: caseAsRead, given: 3,
		also: `waits = CASE WHEN state IN ('canceled', 'failed') THEN 0 ELSE waits END`, // one that was taken back waits for nothing
	})
	// Most changes leave alone what indexes and triggers look at. Not naming
	// those columns saves a quarter of the statement's cost.
	advanceCase = caseTable.update(condition{
		where: caseAsRead, given: 3,
		same: []string{"state", "priority", "access", "grp", "busy", "retires", "start_at"},
	})

	selectCase      = `SELECT ` + caseTable.list("") + ` FROM cases WHERE id = ?1`
	selectCases     = `SELECT ` + caseTable.list("", "marking") + ` FROM cases WHERE id IN (SELECT value FROM json_each(?1))` + casesThat
	selectSeenCases = `
		SELECT ` + caseTable.list("", "marking") + ` FROM cases WHERE id IN (
			SELECT case_id FROM case_access WHERE party_id IN (SELECT value FROM json_each(?1))
			UNION ALL SELECT id FROM cases WHERE route_id IN (SELECT value FROM json_each(?8)) AND archived IS NULL)` + casesThat
)

const (
	// ?1 is a chunk of ids, or a list of parties together with one of routes,
	// for a whole listing in one statement. The others are filters, off if
	// empty.
	casesThat = `
			AND (?2 = 0 OR route_id = ?2) AND (?3 = '' OR state = ?3)
			AND (?4 = '' OR status = ?4) AND (?5 = 0 OR context_id = ?5)
			AND (?6 = 0 OR state <> 'canceled') AND (?7 = 0 OR parent_id = ?7)
		ORDER BY id`

	allCases     = `SELECT id FROM cases INDEXED BY cases_listed WHERE archived IS NULL AND id > ?2 AND ?1 = 0 ORDER BY id LIMIT ?3`
	casesOfCase  = `SELECT id FROM cases WHERE parent_id = ?1 AND archived IS NULL AND id > ?2 ORDER BY id LIMIT ?3`
	casesOfRoute = `SELECT id FROM cases WHERE route_id = ?1 AND archived IS NULL AND id > ?2 ORDER BY id LIMIT ?3`
	casesOfParty = `SELECT case_id FROM case_access WHERE party_id = ?1 AND case_id > ?2 ORDER BY case_id LIMIT ?3`

	selectAccess   = `SELECT access FROM cases WHERE id = ?1`
	selectAccesses = `SELECT id, access FROM cases WHERE id IN (SELECT value FROM json_each(?1))`
	caseExists     = `SELECT 1 FROM cases WHERE id = ?1`

	countOpenCases = `SELECT coalesce(sum(n), 0) FROM open_cases WHERE starter_id = ?1`
)

// Get returns the case, without Access.
func (r caseReader) Get(id int64) (*store.Case, error) { return caseTable.one(r.c, selectCase, id) }

// List returns the cases that the filter selects by id, without Marking and
// Access.
func (r caseReader) List(f store.CaseFilter) (all []store.Case, err error) {
	filters := []any{f.RouteID, f.State, f.Status, int64(f.Context), f.OnBoard, f.Parent}
	if f.Limit == 0 && f.After == 0 && f.Access != nil && !f.Archived {
		err = caseTable.add(r.c, &all, selectSeenCases, append(append([]any{array(f.Access)}, filters...), array(f.Routes))...)
		return all, Failure("read the cases", err)
	}
	all, err = walk[store.Case]{&caseTable, caseSources(f), selectCases, filters}.rows(r.reader, f.After, f.Limit)
	return all, Failure("read the cases", err)
}

// caseSources returns the sources of the cases that the filter's reader may
// see: the ones with the fewest rows.
func caseSources(f store.CaseFilter) []source {
	everything := f.Access == nil
	if f.Archived {
		return archiveSources(f)
	}
	whole := f.RouteID != 0 && (everything || slices.Contains(f.Routes, f.RouteID))
	switch {
	case whole && f.OnBoard && f.Status != "":
		return []source{{query: openOfRoute, key: f.RouteID}, {query: endedInStatus, key: f.RouteID, more: []any{f.Status}}}
	case whole:
		return []source{{query: casesOfRoute, key: f.RouteID}}
	case f.Context != 0 && (everything || slices.Contains(f.Access, f.Context)):
		return []source{{query: casesOfParty, key: int64(f.Context)}} // a context sees its cases
	case everything && f.Parent != 0:
		return []source{{query: casesOfCase, key: f.Parent}}
	case everything:
		return []source{{query: allCases}}
	}
	return append(sourcesOf(casesOfParty, f.Access), sourcesOf(casesOfRoute, f.Routes)...)
}

// SeenBy reports whether the case is visible in the context of one of the
// parties.
func (r caseReader) SeenBy(id int64, parties []identity.ID) (bool, error) {
	var access []identity.ID
	found, err := r.c.Row(selectAccess, id).Scan(list[identity.ID]{&access})
	if err := read(found, err, "case"); err != nil {
		return false, err
	}
	return slices.ContainsFunc(parties, func(p identity.ID) bool { return slices.Contains(access, p) }), nil
}

// SeenAmong returns those of the cases that are visible in the context of one of the parties.
func (r taskReader) SeenAmong(ids []int64, parties []identity.ID) (seen []int64, err error) {
	err = r.c.Each(selectAccesses, func(scan Scan) error {
		var id int64
		var access []identity.ID
		err := scan(&id, list[identity.ID]{&access})
		if slices.ContainsFunc(parties, func(p identity.ID) bool { return slices.Contains(access, p) }) {
			seen = append(seen, id)
		}
		return err
	}, array(ids))
	return seen, Failure("read who sees cases", err)
}

// CountOpen returns how many cases of the starter are open.
func (r caseReader) CountOpen(starter identity.ID) (n int64, err error) {
	_, err = r.c.Row(countOpenCases, int64(starter)).Scan(&n)
	return n, Failure("count open cases", err)
}

// Insert stores a new case. An id in use is errs.NameTaken.
func (t caseWriter) Insert(c *store.Case) error {
	t.touch(c.ID)
	err := insertCase.exec(t.c, c)
	if isUnique(err) {
		var one int
		if taken, readErr := t.c.Row(caseExists, c.ID).Scan(&one); taken && readErr == nil {
			return errs.New(errs.NameTaken, "There is a case %d already.", c.ID)
		}
	}
	if err != nil || len(c.Tasks) == 0 {
		return Failure("store a case", err)
	}
	return t.putTasks(c, []store.TaskShare{})
}

// Update stores c if the stored revision is still base and the case is archived
// as it was. Otherwise it returns errs.Precondition and writes nothing. If
// Access or Tasks are nil they stay as they are.
func (t caseWriter) Update(c *store.Case, base int64) error {
	t.touch(c.ID)
	if t.c.part.later {
		err := updateCase.expect(t.c, c, c.ID, base, int64(c.Archived))
		if err == nil && c.Tasks != nil {
			err = t.putTasks(c, c.Had)
		}
		return Failure("store a case", err)
	}
	n, err := int64(0), error(nil)
	if c.State == string(machine.Active) { // as a case is for most of its life
		n, err = advanceCase.change(t.c, c, c.ID, base, int64(c.Archived))
	}
	if n == 0 && err == nil {
		n, err = updateCase.change(t.c, c, c.ID, base, int64(c.Archived))
	}
	if n == 1 && err == nil && c.Tasks != nil {
		return t.putTasks(c, c.Had)
	}
	if n == 1 || err != nil {
		return Failure("store a case", err)
	}
	var one int
	exists, err := t.c.Row(caseExists, c.ID).Scan(&one)
	if err := read(exists, err, "case"); err != nil {
		return err
	}
	return errs.New(errs.Precondition, "The case has changed since it was read.")
}
