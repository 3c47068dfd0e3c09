package store

import "context"

// InParts runs the functions in one unit, in their order. One that fails is
// undone alone. The result has nil or an error for each function; if the unit
// is not committed, all have its error.
func InParts(ctx context.Context, db Store, fs []func(Tx) error) []error {
	return InPartsAhead(ctx, db, Ahead{}, fs)
}

// Savepoint runs f and returns its error. If f fails or panics, what it wrote and registered is
// undone, and nothing else. A unit that writes nothing else does without: rolling it back as a
// whole is cheaper.
func Savepoint(tx Tx, f func() error) error { return tx.Write().Parts([]func() error{f})[0] }

// InPartsAhead is InParts of functions that read what they are said to.
func InPartsAhead(ctx context.Context, db Store, of Ahead, fs []func(Tx) error) []error {
	if len(fs) == 0 {
		return nil
	}
	results := make([]error, len(fs))
	err := db.Update(ctx, func(tx Tx) error {
		if err := tx.Queue().Ahead(of); err != nil {
			return err
		}
		if len(fs) == 1 {
			return fs[0](tx)
		}
		parts := make([]func() error, len(fs))
		for i, f := range fs {
			parts[i] = func() error { return f(tx) }
		}
		results = tx.Write().Parts(parts)
		return nil
	})
	if err != nil {
		for i := range results {
			results[i] = err
		}
	}
	return results
}
