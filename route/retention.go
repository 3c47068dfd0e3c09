package route

import (
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// forever is the retention that never ends.
const forever = "forever"

// readRetention reads how long ended cases stay, and what becomes of them
// then (docs/contract/routes.md#retention). Dates are added to, so that months
// and years will do.
func (c *compiler) readRetention() {
	r := c.route
	r.Then = ThenArchive
	if then, ok := str(c.root.Get("then")); ok {
		r.Then = Then(then)
	}
	v := c.root.Get("retention")
	if !v.Given() {
		r.Retention = &clock.Duration{Exact: DefaultRetention}
		return
	}
	if text, ok := str(v); !ok || text != forever {
		r.Retention = c.length(v, retentionForm)
	}
}

// retentionForm says what a retention must be.
const retentionForm = "a duration such as P15D, or " + forever

// length reads a duration of any parts; form says which there may be.
func (c *compiler) length(v document.Value, form string) *clock.Duration {
	switch {
	case isKind(v, document.String):
		d, err := clock.ParseDuration(v.Node.Text)
		if err != nil {
			v.Fail(errs.CodeFormat, "must be %s, not %q%s", form, clip(v.Node.Text), writeLong(v.Node.Text))
			return nil
		}
		return &d
	case isKind(v, document.Number):
		quiet := document.Value{Node: v.Node, Faults: &document.Faults{}}
		n, whole := quiet.Int(0, int64(clock.MaxExact/1e9))
		if !whole {
			v.Fail(errs.CodeRange, "must be %s, not %s", form, clip(v.Node.Text))
			return nil
		}
		d, _ := clock.Seconds(n)
		return &d
	}
	return nil
}
