package prefetch

import (
	"crypto/sha256"
	"sync"

	"flowdrive/engine/machine"
)

// SearchKey is a content and what it is searched for, as machine.Search has it.
type SearchKey struct {
	SHA256     [sha256.Size]byte
	MediaType  string
	Words      string
	IgnoreCase bool
}

// Searches holds the results of searches until the decisions that need them are
// made. A content never changes, so that they never go stale.
type Searches struct {
	mu      sync.Mutex
	results map[SearchKey]machine.Found
}

// Get returns the result of a search, false for one that has not been made.
func (s *Searches) Get(key SearchKey) (machine.Found, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.results[key]
	return found, ok
}

// Put keeps the result of a search.
func (s *Searches) Put(key SearchKey, found machine.Found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.results) >= mostHeld {
		clear(s.results)
	}
	if s.results == nil {
		s.results = map[SearchKey]machine.Found{}
	}
	s.results[key] = found
}
