package engine

import (
	"context"

	"flowdrive/store"
)

// inParts runs the functions in one unit, in their order, each undone alone
// where it fails. The result has an error, or nil, for each: where the unit
// was not committed, all have its error.
func inParts(ctx context.Context, db store.Store, fs []func(store.Tx) error) []error {
	if len(fs) == 0 {
		return nil
	}
	results := make([]error, len(fs))
	err := db.Update(ctx, func(tx store.Tx) error {
		if len(fs) == 1 {
			return fs[0](tx)
		}
		for i, f := range fs {
			results[i] = tx.Savepoint(func() error { return f(tx) })
		}
		return nil
	})
	if err != nil {
		for i := range results {
			results[i] = err
		}
	}
	return results
}
