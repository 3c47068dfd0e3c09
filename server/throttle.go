package server

import (
	"net/netip"
	"sync"
	"time"
)

// The bounds of failed log-ins (docs/contract/drive.md#failed-log-ins).
const (
	freeFailures  = 4 // the next is refused for a while
	firstWait     = time.Second
	longestWait   = 15 * time.Minute
	forgetAfter   = time.Hour // without a failure
	mostPairs     = 16 << 10  // remembered
	mostAddresses = 16 << 10
)

// pair is a user name tried from an address. Names alone are never counted:
// anyone could then lock out any user.
type pair struct {
	addr netip.Addr
	name string
}

// pairOf returns the pair of an address and a name, folded as names are
// compared. An IPv6 address counts as its /64 network, which one client may
// have.
func pairOf(addr netip.Addr, name string) pair { return pair{addr: networkOf(addr), name: name} }

// networkOf returns what counts as one address.
func networkOf(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		if network, err := addr.Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return addr
}

// throttle counts failed log-ins per pair, and per address the users whose
// log-ins failed from it. From the fifth on, log-ins must wait, each time twice
// as long. A user who has logged in from an address before does not wait for
// failures of other users there, because an office or a proxy is one address.
type throttle struct {
	now     func() time.Time
	perUser bool // addresses are not counted: the pairs have none

	mu    sync.Mutex
	pairs *lru[pair, *failures]
	addrs *lru[netip.Addr, *failures]
	good  *lru[pair, struct{}]

	wrong, early uint64 // how many log-ins failed, and how many were refused unread
}

type failures struct {
	count int
	last  time.Time
	until time.Time // refused before
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{
		now:   now,
		pairs: newLRU[pair, *failures](mostPairs),
		addrs: newLRU[netip.Addr, *failures](mostAddresses),
		good:  newLRU[pair, struct{}](mostPairs),
	}
}

// wait returns for how long log-ins of the pair are refused, 0 for not.
func (t *throttle) wait(p pair) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	wait := t.waiting(p, t.now())
	if wait > 0 {
		t.early++
	}
	return wait
}

// refused returns how many log-ins failed, and how many were refused because of those,
// without a look at the password.
func (t *throttle) refused() (wrong, early uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wrong, t.early
}

func (t *throttle) waiting(p pair, now time.Time) time.Duration {
	var until time.Time
	if f, ok := t.pairs.Get(p); ok {
		until = f.until
	}
	if f, ok := t.addrs.Get(p.addr); ok && f.until.After(until) {
		if _, known := t.good.Get(p); !known {
			until = f.until
		}
	}
	return max(until.Sub(now), 0)
}

// fail counts a failed log-in and returns for how long the next is refused,
// 0 for not.
func (t *throttle) fail(p pair) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrong++
	now := t.now()
	first := count(t.pairs, p, now) == 1
	if _, known := t.good.Get(p); !known && !t.perUser {
		// A device with an old password fails for ever, but is one user.
		if f, ok := t.addrs.Get(p.addr); first || ok && f.count > freeFailures {
			count(t.addrs, p.addr, now)
		}
	}
	return t.waiting(p, now)
}

// count counts a failure of the key and returns how many there have been.
func count[K comparable](of *lru[K, *failures], key K, now time.Time) int {
	f, ok := of.Get(key)
	if !ok || now.Sub(f.last) > forgetAfter {
		f = &failures{}
		of.Add(key, f)
	}
	f.count++
	f.last = now
	if over := f.count - freeFailures; over > 0 {
		wait := longestWait
		if over <= 10 { // 512 s; a larger shift is longer than the longest
			wait = firstWait << (over - 1)
		}
		f.until = now.Add(wait)
	}
	return f.count
}

// succeed forgets the pair's failures.
func (t *throttle) succeed(p pair) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pairs.Remove(p)
	t.good.Add(p, struct{}{})
}
