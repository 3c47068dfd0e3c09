package engine

import "context"

// Collect is one pass of the collector.
func (e *Engine) Collect(ctx context.Context) error { return e.contents.Collect(ctx) }
