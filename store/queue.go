package store

// Lane is where queued cases wait that could be started: those of a route, or
// those of a route within a group.
type Lane struct {
	Group   string // "" for none
	RouteID int64
}

// QueuedCase is a case in a lane.
type QueuedCase struct {
	ID       int64
	Priority int
}

// QueueReader reads what the manager needs to know.
type QueueReader interface {
	// QueuedLanes returns the lanes that have cases, ascending. Cases that
	// wait for an instant or for earlier ones of their entry are in none.
	QueuedLanes() ([]Lane, error)
	QueuedCases(lane Lane, limit int) ([]QueuedCase, error) // by priority, higher first, then id

	// GroupBusy reports whether a case of the group, but for those ids, keeps
	// others from starting.
	GroupBusy(group string, but []int64) (bool, error)
}
