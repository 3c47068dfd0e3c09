package engine

import (
	"sync"
	"time"

	"flowdrive/internal/identity"
)

// startBudget bounds how many cases the routes of a user start by themselves in an
// hour, as children or by steps. Such cases may end at once, so that no limit of open
// ones bounds them, and start others, each more than one. The zero value is ready. It
// is safe for concurrent use.
type startBudget struct {
	mu sync.Mutex
	by map[identity.ID]*spent
}

// spent is how much of a budget is left, which fills up again in an hour.
type spent struct {
	left float64
	at   time.Time
}

// take takes n cases out of the starter's budget of most an hour, or reports that it
// does not have them. now is the time of the drive, and never goes back.
func (s *startBudget) take(starter identity.ID, n int, most int64, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.by[starter]
	if b == nil {
		if s.by == nil {
			s.by = map[identity.ID]*spent{}
		}
		b = &spent{left: float64(most), at: now}
		s.by[starter] = b
	}
	if passed := now.Sub(b.at); passed > 0 {
		b.left = min(float64(most), b.left+passed.Hours()*float64(most))
		b.at = now
	}
	if b.left < float64(n) {
		return false
	}
	b.left -= float64(n)
	return true
}
