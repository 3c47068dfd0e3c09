package main

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/server"
)

func TestAwaitEnd(t *testing.T) {
	t.Parallel()
	failure := errors.New("a failure")
	for name, test := range map[string]struct {
		after time.Duration // the end of requests; 0: there is none
		want  error
		took  time.Duration
	}{
		"without requests": {after: 0, want: failure, took: time.Hour},
		"in time":          {after: endTimeout, want: failure, took: endTimeout - 1},
		"never":            {after: 2 * endTimeout, want: errNotEnded, took: endTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended, ending := make(chan error, 1), make(chan struct{})
				wait := time.Hour
				if test.after > 0 {
					close(ending)
					wait = test.after - 1
				}
				timer := time.AfterFunc(wait, func() { ended <- failure })
				defer timer.Stop()
				begun := time.Now()
				if err := awaitEnd(ended, ending); !errors.Is(err, test.want) || time.Since(begun) != test.took {
					t.Errorf("%v after %v; want %v after %v", err, time.Since(begun), test.want, test.took)
				}
			})
		})
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want int
	}{
		{errors.New("a failure"), 1},
		{usageError{errors.New("a flag")}, 2},
		{fmt.Errorf("2 %w", server.ErrRequestsLeft), 3},
		{errors.Join(errors.New("a failure"), errNotEnded), 3},
	} {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("%v: %d; want %d", test.err, got, test.want)
		}
	}
}
