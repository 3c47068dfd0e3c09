package audit

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"flowdrive/internal/clock"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// Log writes the audit log. Rows about a change are written in the unit of
// that change. Rows about what was refused or looked at are written soon: no
// request waits for them, and beyond a bound they are counted instead. It is
// safe for concurrent use.
type Log struct {
	store   store.Store
	now     func() time.Time
	address func(context.Context) string
	errors  zerolog.Logger
	gate    *Gate
	waiting chan func(store.Tx) error
}

const (
	mostWaiting   = 1024
	flushAtOnce   = 64
	longestFinish = 10 * time.Second
)

// NewLog returns a log in the store. now is the time of rows that are written
// later; address returns where the request of a context comes from, "" for the
// machine itself; errors is told what could not be written. Run must run for
// anything to be written later.
func NewLog(db store.Store, now func() time.Time, address func(context.Context) string, errors zerolog.Logger) *Log {
	return &Log{
		store: db, now: now, address: address, errors: errors,
		gate:    NewGate(clock.Real{}.Now),
		waiting: make(chan func(store.Tx) error, mostWaiting),
	}
}

// AddressOf returns where the request of the context comes from, "" for the machine
// itself.
func (l *Log) AddressOf(ctx context.Context) string { return l.address(ctx) }

// Write writes a row in the unit of the change that it is about, so that both
// are durable or none is. The row needs no address.
func (l *Log) Write(ctx context.Context, tx store.Tx, row *Row) error {
	row.Address = l.address(ctx)
	return add(tx, row)
}

// add writes a row as the last line of the chain.
func add(tx store.Tx, row *Row) error {
	head, err := tx.Audit().Head()
	if err != nil {
		return err
	}
	line, head := chained(row.Line(), head)
	if err := tx.Write().Audit().Append(row.Time, line); err != nil {
		return err
	}
	return tx.Write().Audit().PutHead(head)
}

// Looked notes that by has looked at what is owner's, if by is an
// administrator and has no other right to it. It never blocks. The row is
// written soon; however many there are, each has its row.
func (l *Log) Looked(ctx context.Context, by identity.Principal, owner identity.ID, action Action, target string) {
	if by.Admin() && !by.In(owner) {
		l.Did(ctx, by, action, target)
	}
}

// Did notes what by has done that changes nothing which a unit stores. It never
// blocks. The row is written soon; however many there are, each has its row.
func (l *Log) Did(ctx context.Context, by identity.Principal, action Action, target string) {
	row := NewRow(by, l.now(), action, target, "")
	row.Address = l.address(ctx)
	l.writeLater(row)
}

// Refused notes what by was refused to do to itself, and why. It never blocks.
func (l *Log) Refused(ctx context.Context, by identity.Principal, action Action, why string) {
	row := NewRow(by, l.now(), action, string(by.Name), why)
	row.Address, row.Outcome = l.address(ctx), Refused
	l.Tried(row)
}

// Tried takes a row about what somebody from outside tried. Too many of them
// are counted instead. It never blocks.
func (l *Log) Tried(row *Row) {
	for _, admitted := range l.gate.Admit(row) {
		l.writeLater(admitted)
	}
}

// writeLater has a row written, or counts it if too much waits.
func (l *Log) writeLater(row *Row) {
	if !l.Later(func(tx store.Tx) error { return add(tx, row) }) {
		l.gate.Miss(row)
	}
}

// Later has f run soon, in a unit that others may share; if f fails, what it
// did is undone. It is for what no request waits for, as when a secret was
// last used. It never blocks, and returns false if too much waits already.
func (l *Log) Later(f func(store.Tx) error) bool {
	select {
	case l.waiting <- f:
		return true
	default:
		return false
	}
}

// Run writes until ctx ends, and then what waits by then.
func (l *Log) Run(ctx context.Context) {
	for {
		select {
		case f := <-l.waiting:
			l.flush(context.WithoutCancel(ctx), f)
		case <-ctx.Done():
			l.finish(context.WithoutCancel(ctx))
			return
		}
	}
}

// finish writes what waits, and how much was not written.
func (l *Log) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, longestFinish)
	defer cancel()
	if missed := l.gate.Missed(); missed != nil {
		l.flush(ctx, func(tx store.Tx) error { return add(tx, missed) })
	}
	for {
		select {
		case f := <-l.waiting:
			l.flush(ctx, f)
		default:
			return
		}
	}
}

// flush writes the first and what waits besides, each as a part of one unit.
func (l *Log) flush(ctx context.Context, first func(store.Tx) error) {
	batch := []func(store.Tx) error{first}
gathering:
	for len(batch) < flushAtOnce {
		select {
		case f := <-l.waiting:
			batch = append(batch, f)
		default:
			break gathering
		}
	}
	for _, err := range store.InParts(ctx, l.store, batch) {
		if err != nil {
			l.errors.Error().Err(err).Msg("background: a write failed that no request waits for")
		}
	}
}
