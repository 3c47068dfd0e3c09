package store

import (
	"time"

	"flowdrive/internal/identity"
)

// Route is a stored definition, its current version.
type Route struct {
	ID         int64
	Name       string
	ContextID  identity.ID
	AuthorID   identity.ID
	Version    int64
	YAML       bool   // what language Source is in
	Source     []byte // as it was PUT
	SourceSize int64  // also if Source is left out
	ETag       string // of Source
	Form       []byte // complete form, JSON
	Brief      []byte // whom it is for and what it starts, JSON; read by Briefs alone
	Created    time.Time
	Modified   time.Time
}

// RouteReader reads routes.
type RouteReader interface {
	Scenarios() ScenarioReader
	Hooks() HookReader

	Get(id int64) (*Route, error)
	GetByName(name string) (*Route, error)            // in any case
	List() ([]Route, error)                           // by id, without Source
	Version(id, version int64) (*RouteVersion, error) // any version ever stored
	Versions(id int64) ([]RouteVersion, error)        // ascending, without Source
	InUse(id int64) (cases, entries int64, err error) // open cases, schedule entries that name it
	// Stranded returns cases of the route that can go on, by id, and whose
	// status is set and none of those; at most so many.
	Stranded(id int64, statuses []string, limit int) ([]Stranded, error)
	CurrentVersion(id int64) (version int64, err error) // the current version, cheaply
	// Briefs returns all routes by id, without Source, Form and what is about these:
	// nothing is read that is as long as a route. Brief is empty if a route was stored
	// by a release that had none.
	Briefs() ([]Route, error)

	// CountOpen counts those of the cases of each of the routes that have started, have
	// not ended and are seen by one of the parties. Of the routes in whole it counts what
	// nobody of these sees, too.
	CountOpen(routes, whole []int64, parties []identity.ID, bound OpenBound) (map[int64]OpenCount, error)
	MeaningReader
}

// OpenBound bounds what CountOpen does for each route.
type OpenBound struct {
	Most int // how many are counted
	Look int // at how many of the newest it looks, more than Most
}

// OpenCount is how many open cases of a route were counted.
type OpenCount struct {
	Cases int
	More  bool // there may be others
}

// RouteVersion is one stored version of a route.
type RouteVersion struct {
	RouteID int64
	Name    string
	Version int64
	YAML    bool
	Source  []byte
	Form    []byte
	Created time.Time
}

// RouteWriter writes routes.
type RouteWriter interface {
	Scenarios() ScenarioWriter
	Hooks() HookWriter

	// Put stores a new route or changes the one of that id, and its Brief if there is
	// one; with a new Version its source and form are kept as that version as well. A
	// name in use is errs.NameTaken.
	Put(r *Route) error
	PutBrief(r *Route) error // its Brief alone
	Delete(id int64) error   // its versions stay for the cases that have them
	MeaningWriter
}
