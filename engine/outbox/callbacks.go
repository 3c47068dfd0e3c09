package outbox

import (
	"context"
	"encoding/json"
)

// CallbackFunc is a function that routes can call by its name. The program that
// embeds the engine registers it (docs/contract/routes.md#assignment and
// docs/contract/routes.md#reaching-outside). It returns JSON; for an assignment
// rule that is the name of a user or team, or a list of names. As a step it may
// run more than once for the same key, and its errors are those of
// Outside.Deliver. It must end when ctx does.
type CallbackFunc func(ctx context.Context, in CallbackInput) (json.RawMessage, error)

// CallbackInput is what a callback is told.
type CallbackInput struct {
	Key   string          // idempotency key of a step; "" for a rule
	Case  json.RawMessage // id, guid, route, title, status, starter, created, version, xattr
	Value json.RawMessage // of a step that hands one over; else nil
}
