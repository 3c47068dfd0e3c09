package engine

import (
	"context"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// StateCount is how many cases are in a state of a route, and how many of them are late.
type StateCount struct{ Cases, Late int }

// StateCounts are the newest cases of a route that their reader sees, without those that
// are canceled or have not started.
type StateCounts struct {
	States      map[string]StateCount // by the names of the states
	Open, Ended int
	All         bool // there are no older ones
}

// StateCounts counts the newest cases of a route that by sees, by state. Of a route that by
// does not see there are none.
func (e *Cases) StateCounts(ctx context.Context, by identity.Principal, route string) (*StateCounts, error) {
	out := &StateCounts{States: map[string]StateCount{}, All: true}
	f, some := e.newestFilter(by, NewestQuery{Route: route})
	if !some {
		return out, nil
	}
	facts := e.facts.now(e.Store, e.accounts.Table())
	f.Look, f.Facts = countedNewest, facts
	now := e.Clock.Now()
	err := e.Store.View(ctx, func(r store.Reader) error {
		place, err := r.Cases().Newest(f, func(found []store.CaseState) (bool, error) {
			return false, out.add(r, facts, found, now)
		})
		out.All = place == 0
		return err
	})
	return out, err
}

// CountedOpen is how many open cases of a route are counted for a list of routes; of one
// with more it is known that there are more.
const CountedOpen = 999

// OpenOfRoutes counts the cases of the routes that have started and have not ended, by the
// id of the route: those that by sees among the newest, at most CountedOpen of each.
func (e *Cases) OpenOfRoutes(ctx context.Context, by identity.Principal, routes []int64) (counts map[int64]store.OpenCount, err error) {
	whole := routes
	if !by.Admin() {
		whole = e.rights.Administered(by)
	}
	err = e.Store.View(ctx, func(r store.Reader) (err error) {
		counts, err = r.Routes().CountOpen(routes, whole, by.Contexts(), store.OpenBound{Most: CountedOpen, Look: countedNewest})
		return err
	})
	return counts, err
}

// add counts cases.
func (s *StateCounts) add(r store.Reader, facts *factsOfView, found []store.CaseState, now time.Time) error {
	var running []int64
	status := make(map[int64]string, len(found))
	for i := range found {
		switch life := machine.Life(found[i].State); life {
		case machine.Queued, machine.Canceled:
			continue
		case machine.Completed, machine.Closed:
			s.Ended++
		default:
			s.Open++
			if life == machine.Active {
				running, status[found[i].ID] = append(running, found[i].ID), found[i].Status
			}
		}
		count := s.States[found[i].Status]
		count.Cases++
		s.States[found[i].Status] = count
	}
	dues, err := facts.dues(r, running)
	if err != nil {
		return err
	}
	for id, due := range dues {
		if !due.IsZero() && !due.After(now) {
			count := s.States[status[id]]
			count.Late++
			s.States[status[id]] = count
		}
	}
	return nil
}
