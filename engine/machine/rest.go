package machine

import (
	"slices"
	"time"

	"flowdrive/route"
)

// EndedAt returns when the case ended. Markings from before this was stored have
// only when it was completed, or else when it was last changed.
func (c *Case) EndedAt() time.Time {
	switch {
	case !c.Ended.IsZero():
		return c.Ended
	case !c.Completed.IsZero():
		return c.Completed
	}
	return c.Modified
}

// Working reports whether earlier events have left work that can be done now.
func (c *Case) Working() bool { return c.nextWork() >= 0 }

// AtRest reports whether the case has ended and nothing of it goes on: neither work
// that earlier events left, nor children of an enablement.
func (c *Case) AtRest() bool {
	return c.Life.Ended() && !c.Working() && !slices.ContainsFunc(c.Enabled, func(e Enabled) bool { return e.Children != nil })
}

// RetiredAt returns when the retention of the case ends, zero for never. Only a case
// at rest has one, and children go with their root
// (docs/contract/routes.md#retention).
func (c *Case) RetiredAt(r *route.Route) time.Time {
	if r.Retention == nil || c.Parent != 0 || !c.AtRest() {
		return time.Time{}
	}
	return r.Retention.After(c.EndedAt())
}
