package engine

import (
	"context"
	"encoding/json"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// longestRule bounds a callback that a rule asks: a person may be waiting.
const longestRule = 5 * time.Second

// callAhead is the error of a decision that needs to know what a callback
// yields; see filterAhead.
type callAhead struct {
	call  machine.Call
	owner identity.ID // in whose context its case is
}

// Error implements error.
func (c *callAhead) Error() string { return "a callback is to be asked first" }

// Unwrap says that it is not a defect: the same change succeeds later.
func (c *callAhead) Unwrap() error {
	return errs.New(errs.Unavailable, "A callback of the route has not been asked yet; try again.")
}

// ask asks a callback for parties.
func (e *base) ask(ctx context.Context, call machine.Call) machine.Called {
	ctx, cancel := context.WithTimeout(ctx, longestRule)
	defer cancel()
	answer, err := e.reach.Callbacks.Call(ctx, call.Name, outbox.CallbackInput{Case: json.RawMessage(call.Case)})
	if err != nil {
		return machine.Called{Fault: err.Error()}
	}
	var names []string
	if json.Unmarshal(answer, &names) == nil {
		return machine.Called{Names: names}
	}
	var name *string
	if json.Unmarshal(answer, &name) != nil {
		return machine.Called{Fault: "it yields neither a name nor a list of names"}
	}
	if name == nil {
		return machine.Called{}
	}
	return machine.Called{Names: []string{*name}}
}
