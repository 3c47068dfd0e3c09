// Package prefetch holds what a decision that was given up needs when it is made
// again: what filters and callbacks yielded meanwhile, and the identities that
// it had for new cases. To run them, and to decide again, is the engine's.
package prefetch

import (
	"crypto/sha256"
	"sync"

	"flowdrive/engine/machine"
)

// Filters holds what filters yielded, as much as there is room for, until the
// decisions that need it are made. They are pure, so that it never goes stale.
type Filters struct {
	kept[filterKey, machine.Filtered]
}

type filterKey [sha256.Size]byte

const room = 32 << 20 // bytes

func keyOf(f machine.Filter) filterKey {
	h := sha256.New()
	for _, part := range []string{f.Filter, f.Input, f.Xattr, f.Case} {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return filterKey(h.Sum(nil))
}

// Get returns what a filter yielded, false for one that has not been run.
func (c *Filters) Get(f machine.Filter) (machine.Filtered, bool) { return c.get(keyOf(f)) }

// Put keeps what a filter yielded.
func (c *Filters) Put(f machine.Filter, result machine.Filtered) {
	c.put(keyOf(f), result, room, func(r machine.Filtered) int { return len(r.Output) + 256 })
}

// Calls keeps the results of callbacks until the decisions that need them are
// made. A callback is not a pure function, so each change calls it again.
type Calls struct {
	mu      sync.Mutex
	results map[machine.Call]machine.Called
}

// Get returns what a callback yielded, false for one that was not asked.
func (c *Calls) Get(call machine.Call) (machine.Called, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	result, ok := c.results[call]
	return result, ok
}

// Put keeps what a callback yielded.
func (c *Calls) Put(call machine.Call, result machine.Called) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results == nil {
		c.results = map[machine.Call]machine.Called{}
	}
	c.results[call] = result
}

// Drop forgets what a callback yielded.
func (c *Calls) Drop(call machine.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.results, call)
}

// Identities keeps the identities that decisions had for new cases until they
// are made again. They are taken out when they are used, so that no two cases
// get the same. A tells the attempts apart.
type Identities[A comparable] struct {
	mu   sync.Mutex
	held map[A][]machine.Identity
}

// mostHeld bounds the attempts: what was never tried again is forgotten.
const mostHeld = 1000

// Take returns the identities of an attempt, and holds them no longer.
func (i *Identities[A]) Take(attempt A) []machine.Identity {
	i.mu.Lock()
	defer i.mu.Unlock()
	identities := i.held[attempt]
	delete(i.held, attempt)
	return identities
}

// Put keeps the identities of an attempt that was given up.
func (i *Identities[A]) Put(attempt A, identities ...machine.Identity) {
	if len(identities) == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.held) >= mostHeld {
		clear(i.held)
	}
	if i.held == nil {
		i.held = map[A][]machine.Identity{}
	}
	i.held[attempt] = identities
}
