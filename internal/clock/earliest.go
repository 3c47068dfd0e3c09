package clock

import (
	"math"
	"sync/atomic"
	"time"
)

// Earliest holds the earliest of some instants, to the millisecond. It is safe for
// concurrent use. Forget must be called before it is used.
type Earliest struct{ millis atomic.Int64 }

// never is later than every instant.
const never = math.MaxInt64

// Forget forgets all instants.
func (e *Earliest) Forget() { e.millis.Store(never) }

// Empty reports whether there is no instant.
func (e *Earliest) Empty() bool { return e.millis.Load() == never }

// At returns the earliest instant in UTC, zero for none.
func (e *Earliest) At() time.Time {
	if at := e.millis.Load(); at != never {
		return time.UnixMilli(at).UTC()
	}
	return time.Time{}
}

// Lower adds an instant, and reports whether it is earlier than all others.
func (e *Earliest) Lower(t time.Time) bool {
	at := t.UnixMilli()
	for {
		held := e.millis.Load()
		if held <= at {
			return false
		}
		if e.millis.CompareAndSwap(held, at) {
			return true
		}
	}
}

// Reached reports whether there is an instant that is not after now.
func (e *Earliest) Reached(now time.Time) bool { return e.millis.Load() <= now.UnixMilli() }
