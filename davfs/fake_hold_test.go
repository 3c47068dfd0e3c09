package davfs

import (
	"context"

	"flowdrive/engine"
	"flowdrive/internal/identity"
)

// kindHold makes holds of what the fake knows of parties.
const kindHold identity.Kind = "hold"

func (f *fake) Hold(ctx context.Context, by identity.Principal, name string) (*engine.Resource, error) {
	return f.Party(ctx, by, kindHold, name)
}

func (f *fake) Holds(ctx context.Context, by identity.Principal) ([]engine.Resource, error) {
	return f.Parties(ctx, by, kindHold)
}

func (f *fake) PutHold(ctx context.Context, req engine.Request, name string, body []byte) (*engine.Outcome, error) {
	return f.PutParty(ctx, req, kindHold, name, body)
}

func (f *fake) DeleteHold(ctx context.Context, req engine.Request, name string) error {
	return f.DeleteParty(ctx, req, kindHold, name)
}
