package files

import (
	"strings"
	"sync"

	"flowdrive/engine/account"
	"flowdrive/engine/change"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// documentCache keeps what was found under paths since the last commit, so that
// files that are only read need no look into the store. Every commit empties
// it, so that no answer is older than the request.
type documentCache struct {
	mu      sync.Mutex
	at      uint64         // Store.Changes
	parties *account.Table // rights follow from it
	found   map[cacheKey]*store.Document
}

type cacheKey struct {
	by   identity.ID
	path string
}

// The cache holds small files, and not many.
const (
	cachedDocuments = 1024
	cachedSize      = 4 << 10
)

func cacheKeyOf(by identity.Principal, path change.DocumentPath) cacheKey {
	return cacheKey{by.ID, strings.Join(path, "\x00")}
}

// get returns a copy of what was found since that commit, or nil.
func (c *documentCache) get(key cacheKey, at uint64, parties *account.Table) *store.Document {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.found[key]
	if d == nil || c.at != at || c.parties != parties {
		return nil
	}
	out := *d
	return &out
}

// put keeps what a look found that began at that commit.
func (c *documentCache) put(key cacheKey, d *store.Document, at uint64, parties *account.Table) {
	if d.Folder || d.InFile || d.Size > cachedSize || len(d.Properties) > cachedSize || int64(len(d.Content)) != d.Size {
		return
	}
	kept := *d
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at != at || c.parties != parties || len(c.found) >= cachedDocuments {
		c.at, c.parties, c.found = at, parties, map[cacheKey]*store.Document{}
	}
	c.found[key] = &kept
}
