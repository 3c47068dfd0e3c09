package server

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"flowdrive/internal/errs"
)

// mostBuckets is how many users, and how many addresses, are remembered. Whoever is
// forgotten has been without a request for longest.
const mostBuckets = 16 << 10

// Rate bounds requests: so many a second on average, and Burst at once. The zero Rate
// is no bound.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Limits are the bounds that can change while the server runs.
type Limits struct {
	PerUser    Rate // of requests of one user
	PerAddress Rate // of requests without a valid log-in from one address

	Connections    int // 4096 by default
	FromOneAddress int // of these; an eighth of Connections by default
}

// complete returns the limits with their defaults.
func (l Limits) complete() Limits {
	if l.Connections == 0 {
		l.Connections = 4096
	}
	if l.FromOneAddress == 0 {
		l.FromOneAddress = max(1, l.Connections/8)
	}
	return l
}

// SetLimits puts other limits in force. What is already open stays open, and everybody
// begins anew with a whole burst.
func (s *Server) SetLimits(l Limits) {
	l = l.complete()
	s.userRate.set(l.PerUser)
	s.addressRate.set(l.PerAddress)
	s.connections.bound(l.Connections, l.FromOneAddress)
}

// withinRate refuses the request if its user has sent too many, or, if nobody has logged
// in, its address has. Errors: errs.TooMany.
func (s *Server) withinRate(x *exchange) error {
	var wait time.Duration
	whose := "your address, without a valid log-in"
	if user := x.principal.ID; user != 0 {
		wait, whose = s.userRate.take(user, s.config.Now()), "you"
	} else {
		wait = s.addressRate.take(networkOf(x.client), s.config.Now())
	}
	if wait == 0 {
		return nil
	}
	return errs.NewTooMany(wait, "Too many requests have come from "+whose)
}

// rates bounds how often each key may do something.
type rates[K comparable] struct {
	inForce atomic.Pointer[Rate] // nil: no bound
	refused atomic.Uint64

	mu      sync.Mutex
	buckets *lru[K, *rate.Limiter]
}

func (r *rates[K]) set(to Rate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buckets = newLRU[K, *rate.Limiter](mostBuckets)
	if to.PerSecond <= 0 {
		r.inForce.Store(nil)
		return
	}
	to.Burst = max(1, to.Burst)
	r.inForce.Store(&to)
}

// take counts one more, and returns 0; or it returns for how long the key must wait,
// and nothing is counted.
func (r *rates[K]) take(key K, now time.Time) (wait time.Duration) {
	bound := r.inForce.Load()
	if bound == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	bucket, ok := r.buckets.Get(key)
	if !ok {
		bucket = rate.NewLimiter(rate.Limit(bound.PerSecond), bound.Burst)
		r.buckets.Add(key, bucket)
	}
	if bucket.AllowN(now, 1) {
		return 0
	}
	r.refused.Add(1)
	missing := 1 - bucket.TokensAt(now)
	return max(1, time.Duration(missing/bound.PerSecond*float64(time.Second)))
}
