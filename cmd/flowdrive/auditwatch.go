package main

import (
	"context"
	"time"
)

// Bounds of verifying the audit log beside the server: of ten parts of time it takes one at
// most.
const (
	auditEvery = time.Hour // how often it is looked whether a day is over
	auditShare = 9         // so many times as long as a part took is waited after it
)

// verifyAudit verifies the audit log until ctx ends: its newest part at the start and each
// hour, the whole once a day.
func (a *app) verifyAudit(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		began := time.Now()
		between := func(ctx context.Context) error {
			err := waitFor(ctx, min(auditShare*time.Since(began), time.Second))
			began = time.Now()
			return err
		}
		if err := a.engine.Server.VerifyAudit(ctx, between); err != nil && ctx.Err() == nil {
			a.log.Error().Err(err).Msg("server: could not verify the audit log; it is tried again in an hour")
		}
		timer.Reset(auditEvery)
	}
}

// waitFor waits, or until ctx ends.
func waitFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
