package calendar

import (
	"sync"
	"time"

	"flowdrive/internal/identity"
)

// feed is a calendar that was made.
type feed struct {
	Form     []byte
	ETag     string // of the bytes, quoted
	Modified time.Time
}

// feedCache keeps calendars, as many as there is room for. A calendar is valid
// while the version that it was made from is the current one.
type feedCache[V comparable] struct {
	mu    sync.Mutex
	feeds map[identity.ID]made[V]
	size  int
}

type made[V comparable] struct {
	version V
	feed    *feed
}

const room = 16 << 20 // bytes

// Get returns the user's calendar that was made from that, nil for none.
func (c *feedCache[V]) Get(user identity.ID, version V) *feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.feeds[user]; ok && m.version == version {
		return m.feed
	}
	return nil
}

// Put keeps a calendar and returns it; one of equal bytes has not been
// modified since.
func (c *feedCache[V]) Put(user identity.ID, version V, f *feed) *feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, ok := c.feeds[user]; ok {
		c.size -= len(before.feed.Form)
		if before.feed.ETag == f.ETag {
			f = before.feed
		}
	}
	if c.size += len(f.Form); c.feeds == nil || c.size > room {
		c.feeds, c.size = map[identity.ID]made[V]{}, len(f.Form)
	}
	c.feeds[user] = made[V]{version, f}
	return f
}
