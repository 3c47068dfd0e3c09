package outbox

import (
	"errors"
	"testing"
	"time"

	"flowdrive/engine/machine"
)

// TestNextAttempt: a command that failed is not run again unless its step says so;
// other requests are sent again for a day after what is transient.
func TestNextAttempt(t *testing.T) {
	t.Parallel()
	exit := func(status int64) error {
		return &Failed{Kind: machine.FailureExit, Status: status, Err: &Final{Reason: "exit"}}
	}
	slow := &Failed{Kind: machine.FailureTimeout, Err: &Final{Reason: "slow"}}
	status := func(code int64, err error) error {
		return &Failed{Kind: machine.FailureStatus, Status: code, Err: err}
	}
	network := errors.New("no route to host")
	exec := func(r *machine.Repeats) *machine.Request {
		return &machine.Request{Exec: &Command{Name: "x"}, Retry: r}
	}
	call := func(r *machine.Repeats) *machine.Request {
		return &machine.Request{HTTP: &HTTPCall{}, Retry: r}
	}
	twice := &machine.Repeats{Times: 2, Every: time.Minute, Backoff: 2}
	on := func(causes ...string) *machine.Repeats {
		return &machine.Repeats{Times: 2, Every: time.Minute, Backoff: 1, On: causes}
	}
	for name, test := range map[string]struct {
		request  *machine.Request
		attempts int64
		err      error
		pause    time.Duration // 0: it has failed for good
	}{
		"a command":                          {exec(nil), 1, exit(75), 0},
		"a command that was slow":            {exec(nil), 1, slow, 0},
		"by default 75":                      {exec(twice), 1, exit(75), time.Minute},
		"by default a time-out":              {exec(twice), 2, slow, 2 * time.Minute},
		"no more than that":                  {exec(twice), 3, exit(75), 0},
		"by default not 1":                   {exec(twice), 1, exit(1), 0},
		"an exit status":                     {exec(on("1")), 1, exit(1), time.Minute},
		"another one":                        {exec(on("1")), 1, exit(75), 0},
		"any":                                {exec(on("exit")), 1, exit(9), time.Minute},
		"nothing":                            {exec(on()), 1, slow, time.Minute}, // [] is as none given
		"a signal is not an exit status":     {exec(on("9")), 1, &Failed{Kind: machine.FailureSignal, Status: 9, Err: &Final{}}, 0},
		"never":                              {exec(&machine.Repeats{}), 1, slow, 0},
		"a service":                          {call(nil), 1, status(503, errors.New("503")), -1},
		"that asks to wait":                  {call(nil), 1, status(503, &Later{After: time.Hour, Err: errors.New("503")}), time.Hour},
		"for a day":                          {call(nil), MostAttempts, network, 0},
		"a service that refuses":             {call(nil), 1, status(404, &Final{Reason: "404"}), 0},
		"a service with a bound":             {call(twice), 2, network, 2 * time.Minute},
		"a service with a bound, refusing":   {call(twice), 1, status(404, &Final{Reason: "404"}), 0},
		"a service with a bound, once more":  {call(twice), 3, network, 0},
		"a status that is final by itself":   {call(on("404")), 1, status(404, &Final{Reason: "404"}), time.Minute},
		"a long pause":                       {exec(&machine.Repeats{Times: 1000, Every: time.Hour, Backoff: 10}), 900, exit(75), LongestLater},
		"a pause that is longer than others": {exec(&machine.Repeats{Times: 9, Every: 48 * time.Hour, Backoff: 2}), 3, exit(75), 48 * time.Hour},
	} {
		pause, again := NextAttempt(test.request, "key", test.attempts, test.err)
		if test.pause < 0 && again {
			continue
		}
		if pause != test.pause || again != (test.pause != 0) {
			t.Errorf("%s: again %t after %s, want %s", name, again, pause, test.pause)
		}
	}
	interrupted := &machine.Repeats{Times: 2, Every: time.Minute, On: []string{"interrupted"}}
	if Restarts(exec(nil), 1) || Restarts(exec(twice), 2) || !Restarts(exec(interrupted), 2) || Restarts(exec(interrupted), 3) || !Restarts(call(nil), 40) {
		t.Error("what the end of the server interrupted is taken up, or not, against what its step says")
	}
	for name, test := range map[string]struct {
		request *machine.Request
		pause   time.Duration
		again   bool
	}{
		"a command with a pause": {exec(interrupted), time.Minute, true},
		"a command without":      {exec(nil), 0, false},
		"a call":                 {call(nil), 0, true},
	} {
		if pause, again := afterLost(test.request, 1); pause != test.pause || again != test.again {
			t.Errorf("%s that was interrupted: again %t after %s, want %s", name, again, pause, test.pause)
		}
	}
}
