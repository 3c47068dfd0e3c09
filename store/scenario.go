package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Scenario is a scenario beside a route, or one that waits for a route of its name
// (docs/contract/routes.md#9-scenarios).
type Scenario struct {
	ID           int64 // set by the store
	RouteID      int64 // 0: it waits
	AuthorID     identity.ID
	Route        string // the name of the route, as its author wrote it
	YAML         bool   // what language Source is in
	Source       []byte // as it was PUT
	SourceSize   int64  // also if Source is left out
	ETag         string // of Source
	Title        string
	Played       time.Time // when it held last, zero if it was not played
	Version      int64     // of the route that it was played with
	Steps        int64
	Expectations int64
	Created      time.Time
	Modified     time.Time
}

// ScenarioReader reads scenarios.
type ScenarioReader interface {
	OfRoute(route int64) (*Scenario, error)
	Waiting(author identity.ID, route string) (*Scenario, error) // in any case
	// List returns those of all routes, and those of the author that wait, by ID,
	// without Source.
	List(author identity.ID) ([]Scenario, error)
}

// ScenarioWriter writes scenarios.
type ScenarioWriter interface {
	// Put stores a new scenario and sets its ID, or changes the one with that ID. It
	// returns errs.NameTaken if there is another one at its place.
	Put(s *Scenario) error
	Delete(id int64) error
}
