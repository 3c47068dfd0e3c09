package route

import (
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// onError reads what is done if something fails, nil for nothing.
func (c *compiler) onError(v document.Value) *OnError {
	if !isKind(v, document.Object) {
		return nil
	}
	on := &OnError{Steps: c.steps(v.Get("steps")), To: NoState}
	to := v.Get("to")
	switch {
	case !to.Given():
		if len(on.Steps) == 0 {
			v.Fail(errs.CodeRequired, "must have steps or to: what is done if something fails")
		}
	case c.route.Model == Dependency:
		to.Fail(errs.CodeConflict, "does not go with the dependency model, which has no states")
	default:
		if i, ok := c.isState(to); ok {
			on.To = i
		}
	}
	return on
}

// steps returns the steps, nil for none.
func (o *OnError) steps() []Step {
	if o == nil {
		return nil
	}
	return o.Steps
}
