package engine

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/engine/audit"
	"flowdrive/internal/clock"
	"flowdrive/store"
)

// background writes what no request waits for: rows of the audit log about
// what was refused or looked at, and when an app password was used. What
// comes never blocks: beyond a bound it is counted instead.
type background struct {
	store   store.Store
	log     zerolog.Logger
	gate    *audit.Gate
	waiting chan func(store.Tx) error
}

const (
	mostWaitingRows = 1024
	flushAtOnce     = 64
	longestFinish   = 10 * time.Second
)

func newBackground(db store.Store, log zerolog.Logger) *background {
	return &background{
		store: db, log: log, gate: audit.NewGate(clock.Real{}.Now),
		waiting: make(chan func(store.Tx) error, mostWaitingRows),
	}
}

// row takes a row of the audit log about what somebody tried, or counts it
// where there were too many.
func (b *background) row(r *audit.Row) {
	for _, admitted := range b.gate.Admit(r) {
		b.write(admitted)
	}
}

// write takes a row of the audit log, or counts it where too much waits.
func (b *background) write(r *audit.Row) {
	line := r.Line()
	if !b.add(func(tx store.Tx) error { return tx.Write().Audit().Append(r.Time, line) }) {
		b.gate.Miss(r)
	}
}

// add takes what shall be written; false where too much waits.
func (b *background) add(f func(store.Tx) error) bool {
	select {
	case b.waiting <- f:
		return true
	default:
		return false
	}
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
	if missed := b.gate.Missed(); missed != nil {
		b.flush(ctx, func(tx store.Tx) error { return tx.Write().Audit().Append(missed.Time, missed.Line()) })
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
func (b *background) flush(ctx context.Context, first func(store.Tx) error) {
	batch := []func(store.Tx) error{first}
gathering:
	for len(batch) < flushAtOnce {
		select {
		case f := <-b.waiting:
			batch = append(batch, f)
		default:
			break gathering
		}
	}
	for _, err := range inParts(ctx, b.store, batch) {
		if err != nil {
			b.log.Error().Err(err).Msg("what no request waits for was not written")
		}
	}
}
