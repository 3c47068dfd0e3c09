package relational

import (
	"errors"
	"fmt"
	"sync/atomic"

	"flowdrive/internal/errs"
)

// reserveAhead is how many ids are reserved at a time. A crash leaves a gap
// of at most that many.
const reserveAhead = 1024

// sequence numbers cases, routes, users and teams. Ids are given out from
// memory, so that a document that contains its id can be rendered before it
// enters the writer. The database has the first id that is not reserved. The
// commit that makes an id durable, or an earlier one, has reserved it, so an id
// that anyone can have seen is never given again. At a clean end the exact
// value is written, and no gap remains.
type sequence struct {
	last     atomic.Int64 // given out
	reserved int64        // the last one that is; the writer's own
}

const (
	selectSequence = `SELECT next FROM sequence`
	updateSequence = `UPDATE sequence SET next = ?1 WHERE next = ?2`
)

// NextID returns an id that was never given before: one sequence for cases,
// routes, users and teams. It never waits.
func (db *DB) NextID() int64 { return db.ids.last.Add(1) }

// ReturnID takes an id back that was given last, so that what is refused leaves no gap where
// nothing else goes on. It may be reserved already: it is given again then.
func (db *DB) ReturnID(id int64) { db.ids.last.CompareAndSwap(id, id-1) }

// PeekID returns what NextID would, and does not give it. Within a unit no
// row has that id.
func (db *DB) PeekID() int64 { return db.ids.last.Load() + 1 }

func (s *sequence) load(c *Conn) error {
	const op = "read the sequence of ids"
	var next int64
	found, err := c.Row(selectSequence).Scan(&next)
	if err != nil {
		return Failure(op, err)
	}
	if !found {
		return errs.Wrap(op, errors.New("there is none"))
	}
	s.last.Store(next - 1)
	s.reserved = next - 1
	return nil
}

// reserve sees to it that every id given out so far is reserved once the
// transaction is durable, and returns the last one that is then.
func (s *sequence) reserve(c *Conn) (reserved int64, err error) {
	last := s.last.Load()
	if last <= s.reserved {
		return s.reserved, nil
	}
	return s.write(c, last+reserveAhead)
}

// write makes last the last id that is reserved. That another process has
// moved the sequence means that both work on the file, which would give ids
// twice.
func (s *sequence) write(c *Conn, last int64) (reserved int64, err error) {
	n, err := c.Change(updateSequence, last+1, s.reserved+1)
	if err != nil {
		return 0, err
	}
	if n != 1 {
		return 0, &errs.Error{
			Kind: errs.Unavailable, Detail: detailUnavailable,
			Err: fmt.Errorf("the sequence of ids is not at %d: another process has the database open", s.reserved+1),
		}
	}
	return last, nil
}

// settle writes the exact value, outside a transaction.
func (s *sequence) settle(c *Conn) error {
	last := s.last.Load()
	if last == s.reserved {
		return nil
	}
	reserved, err := s.write(c, last)
	if err != nil {
		return Failure("write the sequence of ids", err)
	}
	s.reserved = reserved
	return nil
}
