package server

import (
	"context"
	"sync"
	"time"

	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// memoryTimeout is how long a request waits for room in memory.
const memoryTimeout = 5 * time.Second

// Memory is the room that requests share for what they hold in memory beyond a
// trifle: documents on their way in, pages of listings on their way out. Each is
// weighed before it is read. One user has half of the room, so that the others go on
// (docs/contract/drive.md#memory).
type Memory struct {
	total int64

	mu    sync.Mutex
	used  int64
	by    map[identity.ID]int64
	freed chan struct{} // closed when room has become free
}

// NewMemory returns room for so many bytes.
func NewMemory(total int64) *Memory {
	return &Memory{total: total, by: map[identity.ID]int64{}, freed: make(chan struct{})}
}

// room is what a request holds of a Memory. A request holds it to its end.
type room struct {
	of   *Memory
	user identity.ID
	held int64
}

// Weigh lets the request that the context belongs to hold so many bytes in all. It
// waits some seconds for room. Errors: errs.Unavailable if there is none. Without a
// bound there always is.
func Weigh(ctx context.Context, bytes int64) error {
	x := exchangeOf(ctx)
	if x == nil || x.room == nil {
		return nil
	}
	return x.room.hold(ctx, bytes)
}

// roomOf returns the room of a request of the user, 0 for nobody.
func (s *Server) roomOf(user identity.ID) *room {
	if s.config.Memory == nil {
		return nil
	}
	return &room{of: s.config.Memory, user: user}
}

// hold makes it so many bytes. What is more than before is waited for.
func (r *room) hold(ctx context.Context, bytes int64) error {
	var over <-chan time.Time
	for {
		freed, ok := r.of.take(r, bytes)
		if ok {
			return nil
		}
		if over == nil {
			timer := time.NewTimer(memoryTimeout)
			defer timer.Stop()
			over = timer.C
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return errs.New(errs.Unavailable, "Too much that is large is being sent or read at this moment; try again in a moment.")
		}
	}
}

// take makes what r holds so many bytes, if there is room. Who holds nothing else has
// room for anything: it is bounded by what one request may send. If there is no
// room, freed is closed when there may be.
func (m *Memory) take(r *room, bytes int64) (freed <-chan struct{}, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	more := bytes - r.held
	if more > 0 {
		alone := m.used == r.held
		if !alone && (m.used+more > m.total || m.by[r.user]+more > m.total/2 && m.by[r.user] > r.held) {
			return m.freed, false
		}
	}
	m.used += more
	if m.by[r.user] += more; m.by[r.user] == 0 {
		delete(m.by, r.user)
	}
	if r.held = bytes; more < 0 {
		close(m.freed)
		m.freed = make(chan struct{})
	}
	return nil, true
}

// leave gives back all that the request holds.
func (r *room) leave() {
	if r != nil && r.held > 0 {
		r.of.take(r, 0)
	}
}
