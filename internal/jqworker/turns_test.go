package jqworker

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/identity"
)

// TestTurns: whoever has many filters waiting, others get every other turn.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := turns{free: 1}
		if err := turns.begin(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var got []identity.ID
		for _, owner := range []identity.ID{1, 1, 1, 1, 2, 2, 3} {
			go func() {
				if err := turns.begin(t.Context(), owner); err != nil {
					t.Error(err)
				}
				mu.Lock()
				got = append(got, owner)
				mu.Unlock()
			}()
			synctest.Wait()
		}
		for range 7 {
			turns.end()
			synctest.Wait()
		}
		if diff := cmp.Diff([]identity.ID{1, 2, 3, 1, 2, 1, 1}, got); diff != "" {
			t.Error(diff)
		}
		turns.end()
		if turns.free != 1 || len(turns.waiting) != 0 || len(turns.order) != 0 {
			t.Errorf("left: %+v", turns.order)
		}
	})
}

// TestTurnGivenUp: who waits no longer takes nobody's turn.
func TestTurnGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := turns{free: 1}
		if err := turns.begin(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- turns.begin(ctx, 1) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		turns.end()
		if turns.free != 1 || len(turns.order) != 0 {
			t.Errorf("%d turns are free, %v wait", turns.free, turns.order)
		}
	})
}
