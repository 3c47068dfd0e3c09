package change

import (
	"context"

	"flowdrive/store"
)

// Apply stores what was decided, in a transaction in which everything it was
// decided on still holds, and returns the result of the use case.
type Apply[T any] func(store.Tx) (T, error)

// Make makes a change, as [Maker.Change] does, and returns what the unit that
// stored it returned.
func Make[T any](ctx context.Context, m *Maker, prepare func(store.Reader) (Apply[T], error)) (T, error) {
	var out T
	err := m.Change(ctx, func(r store.Reader) (Decision, error) {
		apply, err := prepare(r)
		if err != nil {
			return nil, err
		}
		return func(tx store.Tx) (err error) {
			out, err = apply(tx)
			return err
		}, nil
	})
	if err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// Do makes a change and, if it was made, does what has become due by it: see
// [Maker.RunDue]. It must not be called while contents are being stored; there
// Make is, and the caller runs what is due afterwards.
func Do[T any](ctx context.Context, m *Maker, prepare func(store.Reader) (Apply[T], error)) (T, error) {
	out, err := Make(ctx, m, prepare)
	if err == nil {
		m.RunDue(ctx)
	}
	return out, err
}
