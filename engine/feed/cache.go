package feed

import (
	"sync"
	"time"

	"flowdrive/internal/identity"
)

// Feed is a calendar that was made.
type Feed struct {
	Form     []byte
	ETag     string // of the bytes, quoted
	Modified time.Time
}

// Cache keeps calendars, as many as there is room for. A calendar is valid
// while the version that it was made from is the current one.
type Cache[V comparable] struct {
	mu    sync.Mutex
	feeds map[identity.ID]made[V]
	size  int
}

type made[V comparable] struct {
	version V
	feed    *Feed
}

const room = 16 << 20 // bytes

// Get returns the user's calendar that was made from that, nil for none.
func (c *Cache[V]) Get(user identity.ID, version V) *Feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.feeds[user]; ok && m.version == version {
		return m.feed
	}
	return nil
}

// Put keeps a calendar and returns it; one of equal bytes has not been
// modified since.
func (c *Cache[V]) Put(user identity.ID, version V, feed *Feed) *Feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, ok := c.feeds[user]; ok {
		c.size -= len(before.feed.Form)
		if before.feed.ETag == feed.ETag {
			feed = before.feed
		}
	}
	if c.size += len(feed.Form); c.feeds == nil || c.size > room {
		c.feeds, c.size = map[identity.ID]made[V]{}, len(feed.Form)
	}
	c.feeds[user] = made[V]{version, feed}
	return feed
}
