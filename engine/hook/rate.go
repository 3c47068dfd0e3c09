package hook

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"flowdrive/internal/errs"
)

// Rate is how many requests a hook takes in a time.
type Rate struct {
	n   int64
	per time.Duration
}

// ParseRate reads a rate as a hook's document has it, such as "60/minute".
func ParseRate(text string) (Rate, bool) {
	number, unit, found := strings.Cut(text, "/")
	n, err := strconv.ParseInt(number, 10, 64)
	per := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[unit]
	return Rate{n, per}, found && err == nil && n > 0 && n <= mostRate && per > 0
}

const mostRate = 100_000

// bucket is what a hook may take now: it fills with time up to the rate.
type bucket struct {
	left float64
	at   time.Time
	of   Rate
}

// mostBuckets bounds the hooks whose rates are remembered.
const mostBuckets = 10_000

// Rates are what hooks may take now. The zero value is ready for use. They are safe for
// concurrent use.
type Rates struct {
	mu    sync.Mutex
	rates map[int64]*bucket // by hook
}

// Admit takes a request of a hook, or returns errs.TooMany with the seconds after
// which there is room again. now is the machine's time.
func (e *Rates) Admit(hook int64, of Rate, now time.Time) error {
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
	wait := time.Duration((1 - b.left) / perSecond * float64(time.Second))
	return errs.NewTooMany(wait.Truncate(time.Second)+time.Second, "Too many requests came to this address")
}
