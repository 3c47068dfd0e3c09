package outbox

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/route"
)

// tryAgain is the exit status by which a command asks to be run again later
// (EX_TEMPFAIL of sysexits.h).
const tryAgain = "75"

// NextAttempt returns after which pause a request is sent again whose last attempt
// of so many ended with that error. again is false if it has failed for good
// (docs/contract/routes.md#trying-again).
func NextAttempt(r *machine.Request, key string, attempts int64, err error) (pause time.Duration, again bool) {
	_, final := errors.AsType[*Final](err)
	if r.Retry == nil {
		if r.Exec != nil || final || attempts >= MostAttempts {
			return 0, false
		}
		pause = PauseAfter(key, attempts)
	} else {
		if attempts > r.Retry.Times || !isRetried(r, err, final) {
			return 0, false
		}
		pause = pauseOf(r.Retry, attempts)
	}
	if later, asks := errors.AsType[*Later](err); asks {
		pause = max(pause, min(later.After, LongestLater))
	}
	return pause, true
}

// LastAttempt returns when the last attempt is made of a request of which so many
// attempts have failed, if the next one is at that time and all of them fail.
func LastAttempt(r *machine.Request, key string, attempts int64, next time.Time) time.Time {
	most := int64(MostAttempts)
	if r.Retry != nil {
		most = r.Retry.Times + 1
	}
	for n := attempts + 1; n < most; n++ {
		if r.Retry != nil {
			next = next.Add(pauseOf(r.Retry, n))
		} else {
			next = next.Add(PauseAfter(key, n))
		}
	}
	return next
}

// Restarts reports whether a request is sent again whose last attempt the end of the
// server has interrupted, so that nobody knows what became of it. A command is
// not, unless its step lists that.
func Restarts(r *machine.Request, attempts int64) bool {
	return r.Exec == nil || r.Retry != nil && attempts <= r.Retry.Times && slices.Contains(r.Retry.On, route.RetryInterrupted)
}

// afterLost returns after which pause a request is sent again whose last attempt the end of
// the server has interrupted, and whether it is. A Retry says how long the pause is after any
// failure: what the request needs may have to come back with the server.
func afterLost(r *machine.Request, attempts int64) (pause time.Duration, again bool) {
	if again = Restarts(r, attempts); again && r.Retry != nil {
		pause = pauseOf(r.Retry, attempts)
	}
	return pause, again
}

// isRetried reports whether a request with a Retry is sent again after such an error.
func isRetried(r *machine.Request, err error, final bool) bool {
	on := r.Retry.On
	how := HowFailed(err)
	if on == nil {
		if r.Exec == nil {
			return !final
		}
		on = []string{tryAgain, string(machine.FailureTimeout)}
	}
	numbered := how.Kind == machine.FailureExit || how.Kind == machine.FailureStatus
	return slices.Contains(on, string(how.Kind)) || numbered && slices.Contains(on, strconv.FormatInt(how.Status, 10))
}

// pauseOf returns the pause after so many attempts.
func pauseOf(r *machine.Repeats, attempts int64) time.Duration {
	longest := max(r.Every, LongestLater)
	pause := float64(r.Every) * math.Pow(max(r.Backoff, 1), float64(attempts-1))
	if pause >= float64(longest) {
		return longest
	}
	return time.Duration(pause)
}
