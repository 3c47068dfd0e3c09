package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rs/zerolog"
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

// Callbacks are the functions that routes can call.
type Callbacks struct {
	Funcs map[string]CallbackFunc // by name
	Any   bool                    // routes may name others as well, which are never asked
	Log   zerolog.Logger
}

// Has reports whether a route may name a callback.
func (e *Callbacks) Has(name string) bool { return e.Any || e.Funcs[name] != nil }

// Call calls a registered function. A panic of it is its error.
func (e *Callbacks) Call(ctx context.Context, name string, in CallbackInput) (answer json.RawMessage, err error) {
	f := e.Funcs[name]
	if f == nil {
		return nil, &Final{Reason: fmt.Sprintf("there is no callback %q", name)}
	}
	defer func() {
		if trouble := recover(); trouble != nil {
			e.Log.Error().Str("callback", name).Any("panic", trouble).Msg("callback: panicked")
			err = errors.New("the callback panicked; the server's log has it")
		}
	}()
	if answer, err = f(ctx, in); err != nil {
		return nil, err
	}
	if answer == nil {
		return json.RawMessage("null"), nil
	}
	if !json.Valid(answer) {
		return nil, &Final{Reason: "the callback yields something that is not JSON"}
	}
	return answer, nil
}
