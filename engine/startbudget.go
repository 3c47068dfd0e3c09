package engine

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// mostOrigins is how many cases are remembered that have started others. Those that
// have started nothing for longest are forgotten first.
const mostOrigins = 16 << 10

// startBudget bounds how many cases routes start by themselves in an hour, as children
// or by steps: for a user, and for the case with which it began. Such cases may end at
// once, so that no limit of open ones bounds them, and start others, each more than
// one. The zero value is ready. It is safe for concurrent use.
type startBudget struct {
	mu     sync.Mutex
	users  map[identity.ID]*spent
	origin *simplelru.LRU[int64, *spent]
}

// spent is how much of a budget is left, which fills up again in an hour.
type spent struct {
	left float64
	at   time.Time
}

// refill adds to the budget of most an hour what has come since. now never goes back.
func (b *spent) refill(most int64, now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.left = min(float64(most), b.left+passed.Hours()*float64(most))
		b.at = now
	}
}

// room returns how many cases may be started now for the starter and out of the case with
// which it began, and what is said of one more. It takes nothing: a decision may be made for
// a dry run, or be made again. now is the time of the drive.
func (s *startBudget) room(starter identity.ID, origin int64, l *Limits, now time.Time) (n int, beyond string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, of := s.of(starter, origin, l, now)
	if of.left <= user.left {
		return int(of.left), fmt.Sprintf("case %d and all that it has started would start more than %d cases in an hour; correct the route if it starts itself without end, else try again later or ask an administrator to raise the limit (--max-started-by-case)", origin, l.FromOne)
	}
	return int(user.left), fmt.Sprintf("routes would start more than %d cases for one user in an hour; try again later, or ask an administrator to raise the limit (--max-started-cases)", l.Started)
}

// take takes a case that is written out of both budgets, for as long as the unit that
// tx is of is not undone.
func (s *startBudget) take(tx store.Tx, starter identity.ID, origin int64, l *Limits, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, of := s.of(starter, origin, l, now)
	user.left--
	of.left--
	tx.IfUndone(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		user.left++
		of.left++
	})
}

// of returns both budgets as they are now. The lock must be held.
func (s *startBudget) of(starter identity.ID, origin int64, l *Limits, now time.Time) (user, of *spent) {
	if s.users == nil {
		s.users = map[identity.ID]*spent{}
		var err error
		if s.origin, err = simplelru.NewLRU[int64, *spent](mostOrigins, nil); err != nil { // of a size below one
			panic(err)
		}
	}
	user = s.users[starter]
	if user == nil {
		user = &spent{left: float64(l.Started), at: now}
		s.users[starter] = user
	}
	of, known := s.origin.Get(origin)
	if !known {
		of = &spent{left: float64(l.FromOne), at: now}
		s.origin.Add(origin, of)
	}
	user.refill(l.Started, now)
	of.refill(l.FromOne, now)
	return user, of
}
