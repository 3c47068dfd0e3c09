package engine

import "context"

// Purge deletes what was taken out of its tree.
func (e *Engine) Purge(ctx context.Context) error { return e.Files.purge(ctx) }
