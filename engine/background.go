package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/clock"
)

// background writes what no request waits for: rows of the audit log about
// what was refused or looked at, and when an app password was used. What
// comes never blocks: beyond a bound it is counted instead.
type background struct {
	store   Store
	log     zerolog.Logger
	now     func() time.Time // the machine's, in a sandbox too: it bounds what is written
	waiting chan func(Tx) error

	mu    sync.Mutex
	since time.Time      // when the present minute began
	rows  int            // admitted in it
	alike map[rowKey]int // the same, by what makes them alike
	lost  int            // not written since a row said so
	last  time.Time      // of the row that came last
}

// rowKey is what makes rows alike.
type rowKey struct {
	actor, address string
	action         AuditAction
}

// The bounds on rows that come from outside without changing anything: an
// attacker shall be seen, but not fill the disk.
const (
	mostWaitingRows = 1024
	mostAlikeRows   = 10  // a minute
	mostRowsAMinute = 600 // of all kinds
	flushAtOnce     = 64
	longestFinish   = 10 * time.Second
)

func newBackground(store Store, log zerolog.Logger) *background {
	return &background{
		store: store, log: log, now: clock.Real{}.Now,
		waiting: make(chan func(Tx) error, mostWaitingRows), alike: map[rowKey]int{},
	}
}

// row takes a row of the audit log about what somebody tried, or counts it
// where there were too many.
func (b *background) row(r *auditRow) {
	for _, admitted := range b.admit(r) {
		b.write(admitted)
	}
}

// write takes a row of the audit log, or counts it where too much waits.
func (b *background) write(r *auditRow) {
	line := r.line()
	if b.add(func(tx Tx) error { return tx.AppendAudit(r.time, line) }) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost += max(r.lost, 1)
	b.last = r.time
}

// add takes what shall be written; false where too much waits.
func (b *background) add(f func(Tx) error) bool {
	select {
	case b.waiting <- f:
		return true
	default:
		return false
	}
}

// admit returns the rows to be written for a row that comes: none where there
// were too many in this minute, and one more that says how many were not
// written before.
func (b *background) admit(r *auditRow) []*auditRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []*auditRow
	if now := b.now(); now.Sub(b.since) >= time.Minute || now.Before(b.since) {
		if lost := b.takeLost(r.time); lost != nil {
			out = append(out, lost)
		}
		b.since, b.rows = now, 0
		clear(b.alike)
	}
	b.last = r.time
	key := rowKey{r.actor, r.address, r.action}
	if b.rows >= mostRowsAMinute || b.alike[key] >= mostAlikeRows {
		b.lost++
		return out
	}
	b.alike[key]++
	b.rows++
	return append(out, r)
}

// takeLost returns the row that says how many were not written, or nil.
func (b *background) takeLost(at time.Time) *auditRow {
	if b.lost == 0 {
		return nil
	}
	row := &auditRow{
		time: at, action: AuditLost, outcome: auditDone,
		detail: fmt.Sprintf("%d rows were not written: too many came at once", b.lost), lost: b.lost,
	}
	b.lost = 0
	return row
}

// run writes until ctx ends, and then what waits by then.
func (b *background) run(ctx context.Context) {
	for {
		select {
		case f := <-b.waiting:
			b.flush(context.WithoutCancel(ctx), f)
		case <-ctx.Done():
			b.finish(context.WithoutCancel(ctx))
			return
		}
	}
}

// finish writes what waits, and how much was not written.
func (b *background) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, longestFinish)
	defer cancel()
	b.mu.Lock()
	lost := b.takeLost(b.last)
	b.mu.Unlock()
	if lost != nil {
		b.flush(ctx, func(tx Tx) error { return tx.AppendAudit(lost.time, lost.line()) })
	}
	for {
		select {
		case f := <-b.waiting:
			b.flush(ctx, f)
		default:
			return
		}
	}
}

// flush writes the first and what waits besides, each in a unit of its own.
func (b *background) flush(ctx context.Context, first func(Tx) error) {
	batch := []func(Tx) error{first}
gathering:
	for len(batch) < flushAtOnce {
		select {
		case f := <-b.waiting:
			batch = append(batch, f)
		default:
			break gathering
		}
	}
	for _, err := range b.store.UpdateAll(ctx, batch) {
		if err != nil {
			b.log.Error().Err(err).Msg("what no request waits for was not written")
		}
	}
}
