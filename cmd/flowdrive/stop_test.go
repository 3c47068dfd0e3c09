package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"flowdrive/engine"
	"flowdrive/server"
)

func TestAwaitEnd(t *testing.T) {
	t.Parallel()
	failure := errors.New("a failure")
	for name, test := range map[string]struct {
		signal time.Duration // when the server is told to stop; 0: never
		ending time.Duration // when no more requests are served; 0: never
		ended  time.Duration // when everything has ended
		want   error
		took   time.Duration
	}{
		"by itself":                {ended: time.Hour, want: failure, took: time.Hour},
		"in time":                  {signal: 1, ending: 15 * time.Second, ended: 15*time.Second + endTimeout - 1, want: failure, took: 15*time.Second + endTimeout - 1},
		"deliveries do not end":    {signal: 1, ending: 15 * time.Second, ended: time.Hour, want: errNotEnded, took: 15*time.Second + endTimeout},
		"requests do not end":      {signal: 1, ended: time.Hour, want: errNotEnded, took: 1 + stopTimeout},
		"the listener has failed":  {ending: 1, ended: time.Hour, want: errNotEnded, took: 1 + endTimeout},
		"told to stop when it has": {signal: 2, ending: 1, ended: time.Hour, want: errNotEnded, took: 1 + endTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended, ending := make(chan error, 1), make(chan struct{})
				for _, event := range []struct {
					after time.Duration
					f     func()
				}{{test.signal, cancel}, {test.ending, func() { close(ending) }}, {test.ended, func() { ended <- failure }}} {
					if event.after > 0 {
						defer time.AfterFunc(event.after, event.f).Stop()
					}
				}
				begun := time.Now()
				if err := awaitEnd(ctx, ended, ending); !errors.Is(err, test.want) || time.Since(begun) != test.took {
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
		{errors.Join(server.ErrRequestsCut, fmt.Errorf("2 %w", server.ErrRequestsLeft)), 75},
		{errors.Join(errors.New("a failure"), errNotEnded), 75},
		{fmt.Errorf("requests %w: 2", server.ErrRequestsCut), 75},
		{errors.Join(fmt.Errorf("deliveries %w: 1", engine.ErrDeliveriesCut)), 75},
	} {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("%v: %d; want %d", test.err, got, test.want)
		}
	}
}
