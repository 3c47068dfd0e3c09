package engine

import "context"

// inParts runs the functions in one unit, in their order, each undone alone
// where it fails. The result has an error, or nil, for each: where the unit
// was not committed, all have its error.
func inParts(ctx context.Context, store Store, fs []func(Tx) error) []error {
	if len(fs) == 0 {
		return nil
	}
	results := make([]error, len(fs))
	err := store.Update(ctx, func(tx Tx) error {
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
