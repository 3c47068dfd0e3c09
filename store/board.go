package store

// BoardReader reads boards.
type BoardReader interface {
	// EndedStatuses returns the states of the route's cases that have ended
	// and were not canceled, by name.
	EndedStatuses(routeID int64) ([]string, error)

	// OpenStatuses returns the states of the route's open cases that are not
	// among the known ones.
	OpenStatuses(routeID int64, known []string) ([]string, error)
}
