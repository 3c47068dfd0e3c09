package quota

import (
	"io"
	"sync"

	"flowdrive/internal/identity"
)

// Arriving counts the bytes that each user is sending at this moment: they lie in
// temporary files and are in no other count, until they are stored. The zero value
// is ready. It is safe for concurrent use.
type Arriving struct {
	mu sync.Mutex
	by map[identity.ID]int64
}

// Reader returns a reader of the author's body that answers errs.Full once all that
// the author is sending is more than room bytes. done ends the counting of this
// body: it is stored then, or not.
func (a *Arriving) Reader(b Bytes, author identity.ID, body io.Reader, room int64) (in io.Reader, done func()) {
	r := &arrivingReader{of: a, author: author, body: body, room: room, full: func() error { return b.full(author) }}
	return r, func() {
		a.add(author, -r.read)
		r.read = 0
	}
}

// add adds n bytes and returns how many there are.
func (a *Arriving) add(author identity.ID, n int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[identity.ID]int64{}
	}
	sum := a.by[author] + n
	if a.by[author] = sum; sum == 0 {
		delete(a.by, author)
	}
	return sum
}

type arrivingReader struct {
	of         *Arriving
	author     identity.ID
	body       io.Reader
	read, room int64
	full       func() error
}

// Read reads on as long as there is room.
func (r *arrivingReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.read += int64(n)
	if r.of.add(r.author, int64(n)) > r.room {
		return 0, r.full()
	}
	return n, err
}
