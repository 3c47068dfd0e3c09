package machine

import (
	"slices"
	"time"

	"flowdrive/route"
)

// EndedAt returns when the case came to its end. Markings of before that was
// noted know when the case was completed, else when it was last changed.
func (c *Case) EndedAt() time.Time {
	switch {
	case !c.Ended.IsZero():
		return c.Ended
	case !c.Completed.IsZero():
		return c.Completed
	}
	return c.Modified
}

// Working reports whether an event has left work on the case that can be
// done now.
func (c *Case) Working() bool { return c.nextWork() >= 0 }

// AtRest reports whether the case has ended and nothing hangs on it that goes
// on: neither work that an event left, nor children of an enablement.
func (c *Case) AtRest() bool {
	return c.Life.Ended() && !c.Working() && !slices.ContainsFunc(c.Enabled, func(e Enabled) bool { return e.Children != nil })
}

// RetiredAt returns when the retention of the case is over, zero for never:
// only what is at rest has one, and children go with their root
// (docs/contract/routes.md#retention).
func (c *Case) RetiredAt(r *route.Route) time.Time {
	if r.Retention == nil || c.Parent != 0 || !c.AtRest() {
		return time.Time{}
	}
	return r.Retention.After(c.EndedAt())
}
