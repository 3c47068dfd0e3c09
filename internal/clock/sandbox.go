package clock

import (
	"sync/atomic"
	"time"
)

// Sandbox is a clock that stands still until it is set.
type Sandbox struct{ millis atomic.Int64 }

// NewSandbox returns a clock that stands at t.
func NewSandbox(t time.Time) *Sandbox {
	s := &Sandbox{}
	s.Set(t)
	return s
}

// Now returns the instant at which the clock stands.
func (s *Sandbox) Now() time.Time { return time.UnixMilli(s.millis.Load()).UTC() }

// Set puts the clock to t, cut to Precision.
func (s *Sandbox) Set(t time.Time) { s.millis.Store(t.UnixMilli()) }
