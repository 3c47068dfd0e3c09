package change

import (
	"context"

	"flowdrive/store"
)

// StandingStore is the Store of requests. It does nothing for a request whose
// log-in has ended. A view is refused before it begins, so a listing ends with
// the page after which its caller lost access. A change is refused in its unit.
type StandingStore struct {
	store.Store
	Standing func(ctx context.Context) error
}

// View implements Store.
func (s StandingStore) View(ctx context.Context, f func(store.Reader) error) error {
	if err := s.judge(ctx); err != nil {
		return err
	}
	return s.Store.View(ctx, f)
}

// Update implements Store.
func (s StandingStore) Update(ctx context.Context, f func(store.Tx) error) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		if err := s.judge(ctx); err != nil {
			return err
		}
		return f(tx)
	})
}

func (s StandingStore) judge(ctx context.Context) error {
	if ctx.Value(committedKey{}) != nil {
		return nil
	}
	return s.Standing(ctx)
}

type committedKey struct{}

// Committed returns the context for what follows from a stored change. It does
// not end with the request or its log-in.
func Committed(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), committedKey{}, true)
}
