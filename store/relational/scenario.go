package relational

import (
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

var scenarioTable = table[store.Scenario]{"scenarios", "scenario", func(s *store.Scenario, to []column) []column {
	return append(to, []column{
		{"id", selected, &s.ID},
		{"route_id", full, number{&s.RouteID}},
		{"author_id", full, (*int64)(&s.AuthorID)},
		{"folded", unread, folded{&s.Route}},
		{"name", full, &s.Route},
		{"yaml", full, &s.YAML},
		{"length(source)", selected, &s.SourceSize},
		{"source", full, &s.Source},
		{"etag", full, &s.ETag},
		{"title", full, &s.Title},
		{"played", full, millis{&s.Played}},
		{"version", full, &s.Version},
		{"steps", full, &s.Steps},
		{"expectations", full, &s.Expectations},
		{"created", fixed, millis{&s.Created}},
		{"modified", full, millis{&s.Modified}},
	}...)
}}

var (
	insertScenario        = scenarioTable.insert()
	updateScenario        = scenarioTable.update(condition{where: `id = ?1`, given: 1})
	selectScenarioOfRoute = `SELECT ` + scenarioTable.list("") + ` FROM scenarios WHERE route_id = ?1`
	selectScenarioWaiting = `SELECT ` + scenarioTable.list("") + ` FROM scenarios WHERE route_id IS NULL AND author_id = ?1 AND folded = ?2`
	selectScenarios       = `SELECT ` + scenarioTable.list("", "source") + ` FROM scenarios WHERE route_id IS NOT NULL OR author_id = ?1 ORDER BY id`
)

const deleteScenario = `DELETE FROM scenarios WHERE id = ?1`

// OfRoute returns the scenario of a route.
func (r scenarioReader) OfRoute(route int64) (*store.Scenario, error) {
	return scenarioTable.one(r.c, selectScenarioOfRoute, route)
}

// Waiting returns the scenario of the author that waits for a route of that name, in
// any case.
func (r scenarioReader) Waiting(author identity.ID, route string) (*store.Scenario, error) {
	return scenarioTable.one(r.c, selectScenarioWaiting, int64(author), identity.Fold(route))
}

// List returns the scenarios of all routes, and those of the author that wait, by ID,
// without Source.
func (r scenarioReader) List(author identity.ID) (all []store.Scenario, err error) {
	err = scenarioTable.add(r.c, &all, selectScenarios, int64(author))
	return all, Failure("read the scenarios", err)
}

// Put stores a new scenario and sets its ID, or changes the one with that ID.
func (t scenarioWriter) Put(s *store.Scenario) error {
	const op = "store a scenario"
	taken := func() error {
		return errs.New(errs.NameTaken, "There is a scenario of the route %q already.", s.Route)
	}
	if s.ID != 0 {
		n, err := updateScenario.change(t.c, s, s.ID)
		if isUnique(err) {
			return taken()
		}
		return found(n, err, "scenario")
	}
	err := insertScenario.added(t.c, s, &s.ID)
	if isUnique(err) {
		return taken()
	}
	return Failure(op, err)
}

// Delete deletes a scenario.
func (t scenarioWriter) Delete(id int64) error {
	n, err := t.c.Change(deleteScenario, id)
	return found(n, err, "scenario")
}
