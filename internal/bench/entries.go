package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"flowdrive/store"
)

// measureEntries is P8: what a million schedule entries cost those who wake,
// add and start.
func measureEntries(ctx context.Context, r *run) (_ []Row, err error) {
	data, err := r.folder("entries")
	if err != nil {
		return nil, err
	}
	if err := r.fillEntries(ctx, data, r.entries); err != nil {
		return nil, err
	}
	starts, err := r.openings(ctx, data)
	if err != nil {
		return nil, err
	}
	before := heap()
	watch := &stopwatch{}
	seen := &firings{}
	h, err := openHouse(ctx, data, houseOptions{wrap: watch.over, observer: seen})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	wakes, idle, err := r.wakeUps(ctx, h, seen)
	if err != nil {
		return nil, err
	}
	deciding, err := r.additions(ctx, h, watch)
	if err != nil {
		return nil, err
	}
	held := float64(max(heap()-before, 0)) / float64(r.entries)
	return []Row{
		atMost(plain(float64(r.entries))+" entries: CPU of a wake-up that fires one", wakes, quoted(Seconds, 191e-3, "robfig/cron"), 1e-3).
			noted("with the durable commit, beyond the %s of a second in which nothing is due, which are the measuring's own; the limit is robfig/cron's", quantity(idle, Seconds)),
		atMost("… adding one, before the commit", measured(Seconds, quantile(deciding, 0.5).Seconds()), quoted(Seconds, 88e-3, "robfig/cron"), 20e-6).
			noted("the median of %d; p99 %s; the limit is robfig/cron's", len(deciding), quantity(quantile(deciding, 0.99).Seconds(), Seconds)),
		atMost("… heap of each", measured(Bytes, held), quoted(Bytes, 185, "robfig/cron"), 250).
			noted("what Go's heap holds more than without engine and store; the limit is robfig/cron's"),
		atMost("… from opening the store to ready", starts, nil, 2),
	}, nil
}

// openings opens the folder again and again, and returns how long it takes
// until the engine can serve.
func (r *run) openings(ctx context.Context, data string) (*Value, error) {
	var took []float64
	for range r.rounds {
		begin := time.Now()
		h, err := openHouse(ctx, data, houseOptions{})
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin).Seconds())
		if err := h.close(); err != nil {
			return nil, err
		}
	}
	return measured(Seconds, took...), nil
}

// heap is what is held, in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what was freed by finalizers of the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// wakeUps returns the CPU time of a wake-up in which one entry is due, they
// come a second apart: what its second takes beyond one in which none is due,
// which is returned as well.
func (r *run) wakeUps(ctx context.Context, h *house, seen *firings) (wake *Value, idle float64, err error) {
	const ahead, idles = 7, 3 // seconds: to come to rest, and of those idle ones
	begin := nextSecond(ctx)
	for i := range r.wakes {
		if _, err := h.putEntry(ctx, soon(ahead+i)); err != nil {
			return nil, 0, err
		}
	}
	second := func(i int) float64 { // from a tenth before it
		at := begin.Add(time.Duration(ahead+i) * time.Second)
		pause(ctx, time.Until(at.Add(-100*time.Millisecond)))
		cpu := processCPU()
		pause(ctx, time.Until(at.Add(890*time.Millisecond)))
		return (processCPU() - cpu).Seconds()
	}
	var rest []float64
	for i := range idles {
		rest = append(rest, second(i-idles))
	}
	idle = median(rest)
	var cpus []float64
	for i := range r.wakes {
		cpus = append(cpus, max(second(i)-idle, 0))
		if got := seen.count(); got != i+1 {
			return nil, 0, errors.Join(ctx.Err(), fmt.Errorf("%d entries were fired, not %d", got, i+1))
		}
	}
	return measured(Seconds, cpus...), idle, nil
}

// nextSecond waits for a whole second, in which schedule entries are due, and
// returns it.
func nextSecond(ctx context.Context) time.Time {
	next := time.Now().Truncate(time.Second).Add(time.Second)
	pause(ctx, time.Until(next))
	return next
}

// additions adds entries one by one, and returns how long each took before
// the store was asked to commit, ascending.
func (r *run) additions(ctx context.Context, h *house, watch *stopwatch) ([]time.Duration, error) {
	var took []time.Duration
	for range r.adds {
		begin := time.Now()
		if _, err := h.putEntry(ctx, far(0)); err != nil {
			return nil, err
		}
		took = append(took, watch.asked().Sub(begin))
	}
	slices.Sort(took)
	return took, nil
}

// stopwatch is a store that notes when it was asked to write.
type stopwatch struct {
	store.Store
	at atomic.Pointer[time.Time]
}

// Update implements store.Store.
func (s *stopwatch) Update(ctx context.Context, f func(store.Tx) error) error {
	now := time.Now()
	s.at.Store(&now)
	return s.Store.Update(ctx, f)
}

func (s *stopwatch) asked() time.Time { return *s.at.Load() }

func (s *stopwatch) over(store store.Store) store.Store {
	s.Store = store
	return s
}
