package sqlite

import (
	"slices"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

const (
	caseHead = `id, route_id, context_id, starter_id, state, status, priority, version, revision, due,
		coalesce(parent_id, 0), coalesce(parent_row, 0), named, waits, grp, busy, retires, coalesce(archived, 0)`
	caseColumns = caseHead + `, form, created, modified`

	selectCase = `SELECT ` + caseColumns + `, marking FROM cases WHERE id = ?1`

	// ?1 is a chunk of ids, or a list of parties beside one of routes: whose
	// cases a whole listing has, with one statement however many they are. The
	// others are filters, off when empty.
	casesThat = `
			AND (?2 = 0 OR route_id = ?2) AND (?3 = '' OR state = ?3)
			AND (?4 = '' OR status = ?4) AND (?5 = 0 OR context_id = ?5)
			AND (?6 = 0 OR state <> 'canceled') AND (?7 = 0 OR parent_id = ?7)
		ORDER BY id`
	selectCases     = `SELECT ` + caseColumns + `, NULL FROM cases WHERE id IN (SELECT value FROM json_each(?1))` + casesThat
	selectSeenCases = `
		SELECT ` + caseColumns + `, NULL FROM cases WHERE id IN (
			SELECT case_id FROM case_access WHERE party_id IN (SELECT value FROM json_each(?1))
			UNION ALL SELECT id FROM cases WHERE route_id IN (SELECT value FROM json_each(?8)) AND archived IS NULL)` + casesThat

	allCases     = `SELECT id FROM cases INDEXED BY cases_listed WHERE archived IS NULL AND id > ?2 AND ?1 = 0 ORDER BY id LIMIT ?3`
	casesOfCase  = `SELECT id FROM cases WHERE parent_id = ?1 AND archived IS NULL AND id > ?2 ORDER BY id LIMIT ?3`
	casesOfRoute = `SELECT id FROM cases WHERE route_id = ?1 AND archived IS NULL AND id > ?2 ORDER BY id LIMIT ?3`
	casesOfParty = `SELECT case_id FROM case_access WHERE party_id = ?1 AND case_id > ?2 ORDER BY case_id LIMIT ?3`

	selectAccess = `SELECT access FROM cases WHERE id = ?1`
	caseExists   = `SELECT 1 FROM cases WHERE id = ?1`

	countOpenCases = `SELECT coalesce(sum(n), 0) FROM open_cases WHERE starter_id = ?1`

	insertCase = `
		INSERT INTO cases (id, route_id, context_id, starter_id, state, status, priority, version, revision,
			due, named, form, created, modified, marking, access, parent_id, parent_row, entry, waits,
			grp, busy, start_at, retires)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, nullif(?17, 0), nullif(?18, 0), ?19, ?20,
			?21, ?22, CASE ?5 WHEN 'queued' THEN ?10 END, ?23)`
	updateCase = `
		UPDATE cases SET context_id = ?3, status = ?5, version = ?7, revision = ?8, due = ?9, named = ?10,
			form = ?11, modified = ?12, marking = ?13,
			state = ?4, priority = ?6, access = coalesce(?14, access), grp = ?15, busy = ?16, retires = ?17,
			start_at = CASE ?4 WHEN 'queued' THEN ?9 END,
			waits = waits AND state NOT IN ('canceled', 'failed') -- one that was taken back waits for nothing
		WHERE id = ?1 AND revision = ?2 AND coalesce(archived, 0) = ?18`
	// Most changes leave alone what indexes and triggers look at. Not naming
	// those columns saves a quarter of the statement's cost.
	advanceCase = `
		UPDATE cases SET context_id = ?3, status = ?5, version = ?7, revision = ?8, due = ?9, named = ?10,
			form = ?11, modified = ?12, marking = ?13
		WHERE id = ?1 AND revision = ?2 AND state = ?4 AND priority = ?6 AND (?14 IS NULL OR access = ?14)
			AND grp = ?15 AND busy = ?16 AND retires IS ?17 AND coalesce(archived, 0) = ?18`
)

func scanCase(scan scan, c *store.Case) error {
	return scan(&c.ID, &c.RouteID, &c.ContextID, &c.StarterID, &c.State, &c.Status, &c.Priority, &c.Version, &c.Revision,
		millis{&c.Due}, &c.Parent, &c.ParentRow, &c.Named, &c.Waits, &c.Group, &c.Busy, millis{&c.Retires}, &c.Archived,
		&c.Form, millis{&c.Created}, millis{&c.Modified}, &c.Marking)
}

// Get returns the case, without Access.
func (r caseReader) Get(id int64) (*store.Case, error) {
	c := &store.Case{}
	found, err := r.c.row(selectCase, id).read(func(scan scan) error { return scanCase(scan, c) })
	if err := read(found, err, "case"); err != nil {
		return nil, err
	}
	return c, nil
}

// List returns the cases that the filter selects by id, without Marking and
// Access.
func (r caseReader) List(f store.CaseFilter) (all []store.Case, err error) {
	take := func(scan scan) error {
		var c store.Case
		err := scanCase(scan, &c)
		all = append(all, c)
		return err
	}
	filters := []any{f.RouteID, f.State, f.Status, int64(f.Context), f.OnBoard, f.Parent}
	if f.Limit == 0 && f.After == 0 && f.Access != nil && !f.Archived {
		err = r.c.each(selectSeenCases, take, append(append([]any{array(f.Access)}, filters...), array(f.Routes))...)
		return all, failure("read the cases", err)
	}
	err = r.walk(caseSources(f), f.After, func(ids []int64) (bool, error) {
		err := r.c.each(selectCases, take, append([]any{array(ids)}, filters...)...)
		return f.Limit > 0 && len(all) >= f.Limit, err
	})
	if f.Limit > 0 && len(all) > f.Limit {
		all = slices.Clip(all[:f.Limit])
	}
	return all, failure("read the cases", err)
}

// caseSources returns where to look for the cases that the filter's reader
// may see: among as few as there is a way to.
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

// SeenBy reports whether the case is seen in the context of one of the
// parties.
func (r caseReader) SeenBy(id int64, parties []identity.ID) (bool, error) {
	var access []identity.ID
	found, err := r.c.row(selectAccess, id).scan(list[identity.ID]{&access})
	if err := read(found, err, "case"); err != nil {
		return false, err
	}
	return slices.ContainsFunc(parties, func(p identity.ID) bool { return slices.Contains(access, p) }), nil
}

// CountOpen returns how many cases of the starter are open.
func (r caseReader) CountOpen(starter identity.ID) (n int64, err error) {
	_, err = r.c.row(countOpenCases, int64(starter)).scan(&n)
	return n, failure("count open cases", err)
}

// Insert stores a new case. An id in use is errs.NameTaken.
func (t caseWriter) Insert(c *store.Case) error {
	_, err := t.c.exec(insertCase, c.ID, c.RouteID, int64(c.ContextID), int64(c.StarterID), c.State, c.Status, c.Priority,
		c.Version, c.Revision, at(c.Due), c.Named, blob(c.Form), at(c.Created), at(c.Modified), blob(c.Marking), array(c.Access),
		c.Parent, c.ParentRow, orNone(c.Entry), c.Waits, c.Group, c.Busy, at(c.Retires))
	if isUnique(err) {
		var one int
		if taken, readErr := t.c.row(caseExists, c.ID).scan(&one); taken && readErr == nil {
			return errs.New(errs.NameTaken, "There is a case %d already.", c.ID)
		}
	}
	if err != nil || len(c.Tasks) == 0 {
		return failure("store a case", err)
	}
	return t.putTasks(c, []store.TaskShare{})
}

// Update stores c where the stored revision is still base and it is
// archived as it was; else it is errs.Precondition and nothing is written.
// Access and Tasks nil leave them as they are.
func (t caseWriter) Update(c *store.Case, base int64) error {
	var access any
	if c.Access != nil {
		access = array(c.Access)
	}
	args := []any{
		c.ID, base, int64(c.ContextID), c.State, c.Status, c.Priority,
		c.Version, c.Revision, at(c.Due), c.Named, blob(c.Form), at(c.Modified), blob(c.Marking), access, c.Group, c.Busy,
		at(c.Retires), int64(c.Archived),
	}
	n, err := int64(0), error(nil)
	if c.State == string(machine.Active) { // as a case is for most of its life
		n, err = t.c.change(advanceCase, args...)
	}
	if n == 0 && err == nil {
		n, err = t.c.change(updateCase, args...)
	}
	if n == 1 && err == nil && c.Tasks != nil {
		return t.putTasks(c, c.Had)
	}
	if n == 1 || err != nil {
		return failure("store a case", err)
	}
	var one int
	exists, err := t.c.row(caseExists, c.ID).scan(&one)
	if err := read(exists, err, "case"); err != nil {
		return err
	}
	return errs.New(errs.Precondition, "The case has changed since it was read.")
}
