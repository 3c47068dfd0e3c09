package engine

import (
	"time"

	"flowdrive/internal/errs"
)

// bucket is what a hook may take now: it fills with time up to the rate.
type bucket struct {
	left float64
	at   time.Time
	of   rate
}

// mostBuckets bounds the hooks whose rates are remembered.
const mostBuckets = 10_000

// admit takes a request of a hook, or returns errs.TooMany with the seconds after
// which there is room again. now is the machine's time.
func (e *Hooks) admit(hook int64, of rate, now time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.rates[hook]
	if b == nil || b.of != of {
		if e.rates == nil || len(e.rates) >= mostBuckets {
			e.rates = map[int64]*bucket{}
		}
		b = &bucket{left: float64(of.n), at: now, of: of}
		e.rates[hook] = b
	}
	perSecond := float64(of.n) / of.per.Seconds()
	b.left = min(float64(of.n), b.left+max(0, now.Sub(b.at).Seconds())*perSecond)
	b.at = now
	if b.left >= 1 {
		b.left--
		return nil
	}
	wait := int((1-b.left)/perSecond) + 1
	return &errs.Error{
		Kind: errs.TooMany, Detail: "Too many requests came to this address; try again after the seconds that Retry-After names.",
		Extra: map[string]any{"retryAfter": wait},
	}
}
