package main

import (
	"context"
	"errors"
	"time"

	"flowdrive/engine"
	"flowdrive/server"
)

// A server that is told to stop ends within 30 seconds, whatever hangs
// (docs/contract/drive.md#9-command-line).
const (
	// stopTimeout is how long a server may take to end once it is told to: as
	// long as requests may take, and then what endTimeout allows.
	stopTimeout = 28 * time.Second
	// endTimeout is how long a server may take to end once it serves no requests
	// any more: longer than what the engine gives to deliveries under way.
	endTimeout = 10 * time.Second
)

// errNotEnded says that something goes on although it was told to end. The
// process ends all the same; what was acknowledged is on the disk.
var errNotEnded = errors.New("the server did not end in time")

// awaitEnd returns what comes from ended. If that has not come in endTimeout
// after ending was closed, or in stopTimeout after ctx has ended, it returns
// errNotEnded.
func awaitEnd(ctx context.Context, ended <-chan error, ending <-chan struct{}) error {
	stopped := ctx.Done()
	over := time.NewTimer(0)
	defer over.Stop()
	over.Stop()
	waits := false
	for {
		select {
		case err := <-ended:
			return err
		case <-over.C:
			return errNotEnded
		case <-stopped:
			stopped = nil
			if !waits {
				over.Reset(stopTimeout)
			}
		case <-ending:
			ending, stopped, waits = nil, nil, true
			over.Reset(endTimeout)
		}
	}
}

// wasCut reports whether something was cut off when the server was stopped.
func wasCut(err error) bool {
	return errors.Is(err, errNotEnded) || errors.Is(err, server.ErrRequestsCut) || errors.Is(err, engine.ErrDeliveriesCut)
}
