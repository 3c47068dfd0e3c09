package server

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// TestParallelGuessesOfCodes: codes of the second factor that are guessed at the same time,
// from many addresses, are as many as those that are guessed one after the other. Each
// address had its own tries, and what came at once was checked before anything counted, so
// that who knew the password could go through the million codes.
func TestParallelGuessesOfCodes(t *testing.T) {
	t.Parallel()
	x := newRig(t, nil)
	sam, eva := identity.Principal{ID: 1, Name: "sam"}, identity.Principal{ID: 2, Name: "Eva"}
	var checked atomic.Int64
	wrong := func() error {
		checked.Add(1)
		return errs.New(errs.LogIn, "The code is wrong.")
	}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			e := &exchange{client: addrOf(fmt.Sprintf("192.0.2.%d:1", i))}
			_ = x.Prove(context.WithValue(t.Context(), exchangeKey{}, e), sam, wrong) // each is refused
		})
	}
	all.Wait()
	if n := checked.Load(); n != freeFailures+1 {
		t.Errorf("%d codes were checked, want %d", n, freeFailures+1)
	}
	right := func() error { return nil }
	if err := x.Prove(t.Context(), sam, right); !errs.Is(err, errs.TooMany) {
		t.Errorf("the right code while sam must wait: %v", err)
	}
	if err := x.Prove(t.Context(), eva, right); err != nil {
		t.Errorf("the code of another user: %v", err)
	}
	x.guard.clock.advance(longestWait + time.Second)
	if err := x.Prove(t.Context(), sam, right); err != nil {
		t.Errorf("the right code afterwards: %v", err)
	}
}
