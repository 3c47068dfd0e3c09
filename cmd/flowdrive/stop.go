package main

import (
	"errors"
	"time"
)

// endTimeout is how long a server may take to end once it serves no requests
// any more: longer than what the engine gives to deliveries under way.
const endTimeout = 15 * time.Second

// errNotEnded says that something goes on although it was told to end. The
// process ends all the same; what was acknowledged is on the disk.
var errNotEnded = errors.New("the server did not end in time")

// awaitEnd returns what comes from ended. If that has not come in endTimeout
// after ending was closed, it returns errNotEnded.
func awaitEnd(ended <-chan error, ending <-chan struct{}) error {
	select {
	case err := <-ended:
		return err
	case <-ending:
	}
	timer := time.NewTimer(endTimeout)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return errNotEnded
	}
}
