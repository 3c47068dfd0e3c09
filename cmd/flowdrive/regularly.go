package main

import (
	"context"
	"time"
)

// regularly does something at once and then after each interval until ctx ends.
func regularly(ctx context.Context, interval time.Duration, do func(context.Context)) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		do(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
