package engine

import "context"

// Collect is one pass of the collector.
func (e *Engine) Collect(ctx context.Context) error { return e.contents.Collect(ctx) }

// Purge deletes what was taken out of its tree.
func (e *Engine) Purge(ctx context.Context) error { return e.Files.Purge(ctx) }
