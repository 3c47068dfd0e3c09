package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// callers is how many work at a time by default.
const callers = 32

// measureStart is P1: a case is started, its one action performed, and it is
// completed: two durable commits each.
func measureStart(ctx context.Context, r *run) (_ []Row, err error) {
	limit, ops, err := r.limitOfStart(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, limit.close()) }()
	data, err := r.folder("engine")
	if err != nil {
		return nil, err
	}
	h, err := openHouse(ctx, data, houseOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()

	before := h.stats()
	var ids atomic.Int64
	ids.Store(limit.reserved)
	bare := limit.callers(callers)
	got, err := r.alternate(ctx,
		side{"flowdrive", func(ctx context.Context, d time.Duration) (sample, error) {
			return load(ctx, callers, d, func(ctx context.Context, _ int) error { return h.startAndFinish(ctx) })
		}, restOf(data)},
		side{"limit", func(ctx context.Context, d time.Duration) (sample, error) {
			return load(ctx, callers, d, func(_ context.Context, caller int) error {
				id := ids.Add(1)
				for _, unit := range ops {
					if err := bare[caller].do(id, bind(unit, id)); err != nil {
						return err
					}
				}
				return nil
			})
		}, limit.rest},
	)
	if err != nil {
		return nil, err
	}
	stats := h.stats()
	units := float64(stats.Units - before.Units)
	return []Row{
		atLeast("start a case, one action, completed; 32 callers", rates(got[0]), rates(got[1]), 0.5).
			noted("two durable commits each; %s; limit: %s; %s units a commit; %s statements each with those of readers and savepoints, limit %d",
				describe(got[0]), describe(got[1]), plain(units/float64(stats.Commits-before.Commits)),
				plain(2*float64(stats.Statements-before.Statements)/units), statements(ops)),
		atLeast("… over go-workflows on SQLite", rates(got[0]), quoted(PerSecond, 345, "go-workflows on SQLite"), 20),
		atLeast("… over DBOS on PostgreSQL", rates(got[0]), quoted(PerSecond, 839, "DBOS on PostgreSQL"), 8),
		atMost("… CPU of each", measured(Seconds, each(got[0], sample.perCPU)...), measured(Seconds, each(got[1], sample.perCPU)...), 110e-6),
	}, nil
}

func statements(units [][]op) (n int) {
	for _, ops := range units {
		n += len(ops)
	}
	return n
}

// limitOfStart returns the bare writer on a founded folder, and the units
// that an instance of P1 writes.
func (r *run) limitOfStart(ctx context.Context) (*bareWriter, [][]op, error) {
	data, err := r.folder("limit")
	if err != nil {
		return nil, nil, err
	}
	h, err := openHouse(ctx, data, houseOptions{})
	if err != nil {
		return nil, nil, err
	}
	units, err := h.unitsOfStart(ctx, data)
	if err = errors.Join(err, h.close()); err != nil {
		return nil, nil, err
	}
	w, err := openBare(ctx, data)
	return w, units, err
}

// unitsOfStart starts and completes a case, and returns what is written of it
// each time.
func (h *house) unitsOfStart(ctx context.Context, data string) ([][]op, error) {
	began := h.stats().Units
	id, err := h.startCase(ctx, routeOnce)
	if err != nil {
		return nil, err
	}
	started, err := rowsOf(ctx, data, id)
	if err != nil {
		return nil, err
	}
	if err := h.perform(ctx, id, "finish"); err != nil {
		return nil, err
	}
	if n := h.stats().Units - began; n != 2 {
		return nil, fmt.Errorf("a case that is started and completed takes %d commits, not 2", n)
	}
	finished, err := rowsOf(ctx, data, id)
	return [][]op{written(nil, started), written(started, finished)}, err
}

// measureGroup is P3: what commits gain by being shared.
func measureGroup(ctx context.Context, r *run) (_ []Row, err error) {
	data, err := r.folder("group")
	if err != nil {
		return nil, err
	}
	h, err := openHouse(ctx, data, houseOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	put := func(callers int) func(context.Context, time.Duration) (sample, error) {
		return func(ctx context.Context, d time.Duration) (sample, error) {
			return load(ctx, callers, d, func(ctx context.Context, _ int) error {
				_, err := h.putEntry(ctx, far(0))
				return err
			})
		}
	}
	got, err := r.alternate(ctx, side{"64 callers", put(64), restOf(data)}, side{"1 caller", put(1), restOf(data)})
	if err != nil {
		return nil, err
	}
	return []Row{
		atLeast("group commit: 64 callers over 1", rates(got[0]), rates(got[1]), 4).
			noted("a unit is a schedule entry put by the engine; %s; the limit is one caller: %s", describe(got[0]), describe(got[1])),
	}, nil
}
