// Package quota limits what one user has (docs/contract/drive.md#limits). It
// counts things, and stops reading bodies for whose bytes there is no room.
package quota

import (
	"io"
	"sync"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// What is a kind of thing whose number is limited, in the words of the error
// message.
type What string

// The kinds of things that are bounded.
const (
	Entries   What = "schedule entries"
	OpenCases What = "open cases"
	Routes    What = "routes"
	Locks     What = "locks"
)

// Counts counts what each user has, so that the limits cost no
// query: a count is read once and kept in step by the commits. On several
// nodes it is an estimate, which is enough for a limit.
type Counts struct {
	mu     sync.Mutex
	counts map[countKey]int64
}

type countKey struct {
	what What
	user identity.ID
}

// Check returns errs.TooMany if the user already has limit things. count is
// called once per user and kind.
func (c *Counts) Check(what What, user identity.ID, limit int64, count func(identity.ID) (int64, error)) error {
	key := countKey{what, user}
	c.mu.Lock()
	n, known := c.counts[key]
	c.mu.Unlock()
	if !known {
		var err error
		if n, err = count(user); err != nil {
			return err
		}
		c.mu.Lock()
		if c.counts == nil {
			c.counts = map[countKey]int64{}
		}
		if since, raced := c.counts[key]; raced {
			n = since
		} else {
			c.counts[key] = n
		}
		c.mu.Unlock()
	}
	return Within(what, n, limit)
}

// Within returns errs.TooMany if n is at the limit or above.
func Within(what What, n, limit int64) error {
	if n >= limit {
		return errs.New(errs.TooMany, "You have %d %s already, and the limit is %d; delete some first or ask an administrator.", n, what, limit)
	}
	return nil
}

// Add changes a count that is known; an unknown one will be read when it is
// asked for.
func (c *Counts) Add(what What, user identity.ID, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := countKey{what, user}
	if _, known := c.counts[key]; known {
		c.counts[key] += n
	}
}

// Reader returns a reader of the body that answers what full returns once it
// has more than room bytes.
func Reader(body io.Reader, room int64, full func() error) io.Reader {
	return &reader{r: body, room: room, full: full}
}

type reader struct {
	r    io.Reader
	room int64
	full func() error
}

// Read reads on as long as there is room.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.room -= int64(n); r.room < 0 {
		return 0, r.full()
	}
	return n, err
}
