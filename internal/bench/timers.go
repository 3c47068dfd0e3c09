package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"flowdrive/engine"
)

// The timer of the cases of P7. The one that the others are copied from never
// expires.
const (
	timeout = "PT87600H"
	lasts   = 87600 * time.Hour
)

// epoch is when the first timer of P7 is due.
func epoch() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }

// standing is a clock that stands still.
type standing time.Time

// Now implements engine.Clock.
func (s standing) Now() time.Time { return time.Time(s) }

const workTimers = "pending timers, fired in due order, one by one"

// measureTimers is P7: an engine is opened at an instant at which a part of a
// million timers is due, and fires them; the limit reads the same index and
// rows in the same order, and writes what the engine writes.
func measureTimers(ctx context.Context, r *run) ([]Row, error) {
	unit, err := r.unitOfTimer(ctx)
	if err != nil {
		return nil, err
	}
	data, err := r.folder("timers")
	if err != nil {
		return nil, err
	}
	if err := r.fillTimers(ctx, data, r.timers); err != nil {
		return nil, err
	}
	t := &timers{data: data, each: r.timers / (2*r.rounds + 2)}
	t.each = min(t.each, r.fires)
	got, err := r.alternate(ctx,
		side{"flowdrive", t.fire, nil},
		side{"limit", func(ctx context.Context, _ time.Duration) (sample, error) { return t.fireBare(ctx, unit) }, nil})
	if err != nil {
		return nil, err
	}
	return []Row{
		atLeast(plain(float64(r.timers))+" "+workTimers, rates(got[0]), rates(got[1]), 0.5).
			noted("%s each time, from opening the store to the last; CPU %s each; the limit, by the same: %s", plain(float64(got[0][0].done)),
				quantity(median(each(got[0], sample.perCPU)), Seconds), quantity(median(each(got[1], sample.perCPU)), Seconds)),
		atMost("… from opening the store to ready", measured(Seconds, t.ready...), nil, 2),
	}, nil
}

// unitOfTimer returns what the engine writes for a timer.
func (r *run) unitOfTimer(ctx context.Context) ([]op, error) {
	data, err := r.folder("timer")
	if err != nil {
		return nil, err
	}
	h, err := openHouse(ctx, data, houseOptions{clock: standing(epoch())})
	if err != nil {
		return nil, err
	}
	id, err := h.startCase(ctx, routeTime)
	if err = errors.Join(err, h.close()); err != nil {
		return nil, err
	}
	before, err := rowsOf(ctx, data, id)
	if err != nil {
		return nil, err
	}
	count := &counted{most: 1, done: make(chan struct{})}
	h, err = openHouse(ctx, data, houseOptions{clock: standing(epoch().Add(lasts)), observer: count})
	if err != nil {
		return nil, err
	}
	if err = errors.Join(count.await(ctx), h.close()); err != nil {
		return nil, err
	}
	after, err := rowsOf(ctx, data, id)
	return written(before, after), err
}

// timers are the rounds of P7, each with the timers of its own stretch of
// time.
type timers struct {
	data   string
	each   int
	rounds int
	ready  []float64 // seconds
}

// stretch returns the last instant of the next round.
func (t *timers) stretch() time.Time {
	t.rounds++
	return epoch().Add(time.Duration(t.rounds*t.each)*time.Second - time.Second)
}

// fire lets an engine fire what is due.
func (t *timers) fire(ctx context.Context, _ time.Duration) (s sample, err error) {
	now := t.stretch()
	if s.done, err = t.due(ctx, now); err != nil {
		return s, err
	}
	count := &counted{most: int64(s.done), done: make(chan struct{})}
	begin, cpu := time.Now(), processCPU()
	h, err := openHouse(ctx, t.data, houseOptions{clock: standing(now), observer: count})
	if err != nil {
		return s, err
	}
	t.ready = append(t.ready, time.Since(begin).Seconds())
	err = count.await(ctx)
	s.elapsed, s.cpu = time.Since(begin), processCPU()-cpu
	return s, errors.Join(err, h.close())
}

// due counts the timers that are due.
func (t *timers) due(ctx context.Context, now time.Time) (n int, err error) {
	db, err := openRaw(t.data)
	if err != nil {
		return 0, err
	}
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM cases WHERE due <= ?1`, now.UnixMilli()).Scan(&n)
	if err == nil && n == 0 {
		err = errors.New("no timer is due in a round")
	}
	return n, errors.Join(err, db.Close())
}

const bareDue = `SELECT id FROM cases WHERE due <= ?1 ORDER BY due, id LIMIT ?2`

// fireBare does what fire does by the bare writer.
func (t *timers) fireBare(ctx context.Context, unit []op) (s sample, err error) {
	now := t.stretch()
	due, err := t.due(ctx, now)
	if err != nil {
		return s, err
	}
	begin, cpu := time.Now(), processCPU()
	w, err := openBare(ctx, t.data)
	if err != nil {
		return s, err
	}
	for s.done < due && err == nil {
		var batch []*bareUnit
		if batch, err = w.due(ctx, now, unit); err == nil {
			s.done += len(batch)
			err = w.write(batch)
		}
	}
	s.elapsed, s.cpu = time.Since(begin), processCPU()-cpu
	return s, errors.Join(err, w.close())
}

// due returns a batch of due rows, each with the statements for it.
func (w *bareWriter) due(ctx context.Context, now time.Time, unit []op) (batch []*bareUnit, err error) {
	rows, err := w.conn.QueryContext(ctx, bareDue, now.UnixMilli(), bareBatch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		batch = append(batch, &bareUnit{ops: bind(unit, id)}) // no id of its own is given
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(batch) == 0 {
		return nil, fmt.Errorf("what was due at %s is not", now)
	}
	return batch, nil
}

// counted is an observer that waits for so many performances.
type counted struct {
	most int64
	n    atomic.Int64
	done chan struct{}
}

var _ engine.Observer = (*counted)(nil)

// await waits for them.
func (c *counted) await(ctx context.Context) error {
	timer := time.NewTimer(10 * patience)
	defer timer.Stop()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return fmt.Errorf("%d timers were fired, not %d", c.n.Load(), c.most)
	}
}

// Fired implements engine.Observer.
func (*counted) Fired(engine.Firing) {}

// Performed implements engine.Observer.
func (c *counted) Performed(string) {
	if c.n.Add(1) == c.most {
		close(c.done)
	}
}

// CaseStarted implements engine.Observer.
func (*counted) CaseStarted() {}

// CaseEnded implements engine.Observer.
func (*counted) CaseEnded(string) {}

// Failed implements engine.Observer.
func (*counted) Failed(string) {}
