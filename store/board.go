package store

import "flowdrive/internal/identity"

// BoardReader reads boards.
type BoardReader interface {
	// EndedStatuses returns the states of the route's cases that have ended
	// and were not canceled, by name.
	EndedStatuses(routeID int64) ([]string, error)

	// OpenStatuses returns the states of the route's open cases that are not
	// among the known ones.
	OpenStatuses(routeID int64, known []string) ([]string, error)

	// CountOpenOf counts those of the cases of each of the routes that have started, have
	// not ended and are seen by one of the parties, but no more than most of a route. Of
	// the routes in whole it counts what nobody of these sees, too.
	CountOpenOf(routes, whole []int64, parties []identity.ID, most int) (map[int64]int, error)
}
