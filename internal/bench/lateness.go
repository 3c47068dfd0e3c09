package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"flowdrive/engine"
)

// measureLateness is P11: how late an instant's case is durable, on an engine
// that does nothing else, and on one whose writer has no rest: because of
// other entries, or because of cases that are to be started as well.
func measureLateness(ctx context.Context, r *run) ([]Row, error) {
	busy := func(f func(context.Context, *house) error) func(context.Context, *house, time.Duration) error {
		return func(ctx context.Context, h *house, d time.Duration) error {
			_, err := load(ctx, callers, d, func(ctx context.Context, _ int) error { return f(ctx, h) })
			return err
		}
	}
	var rows []Row
	for _, test := range []struct {
		name, work string
		most       float64
		meanwhile  func(context.Context, *house, time.Duration) error
	}{
		{"idle", "lateness of a firing, p99, idle", 5e-3, func(ctx context.Context, _ *house, d time.Duration) error {
			pause(ctx, d)
			return ctx.Err()
		}},
		{"entries", "… while 32 callers put entries", 50e-3, busy(func(ctx context.Context, h *house) error {
			_, err := h.putEntry(ctx, far(0))
			return err
		})},
		{"cases", "… while 32 callers start cases", 50e-3, busy(func(ctx context.Context, h *house) error {
			_, err := h.startCase(ctx, routeOnce)
			return err
		})},
	} {
		late, err := r.lateness(ctx, test.name, test.meanwhile)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", test.name, err)
		}
		rows = append(rows, atMost(test.work, measured(Seconds, quantile(late, 0.99).Seconds()), nil, test.most).
			noted("until the case is durable; %d firings, %d at the same instant; p50 %s, the latest %s", len(late), r.perSecond,
				quantity(quantile(late, 0.5).Seconds(), Seconds), quantity(quantile(late, 1).Seconds(), Seconds)))
	}
	return rows, nil
}

// lateness lets entries become due while work is done, and returns how late
// each was fired, ascending.
func (r *run) lateness(ctx context.Context, name string, work func(context.Context, *house, time.Duration) error) (_ []time.Duration, err error) {
	data, err := r.folder(name)
	if err != nil {
		return nil, err
	}
	seen := &firings{}
	h, err := openHouse(ctx, data, houseOptions{observer: seen})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	const ahead = 3 // seconds
	begin := nextSecond(ctx)
	for i := range r.instants * r.perSecond {
		if _, err := h.putEntry(ctx, soon(ahead+i/r.perSecond)); err != nil {
			return nil, err
		}
	}
	if time.Since(begin) > time.Second {
		return nil, errors.New("the machine is too slow to store the entries within a second")
	}
	if err := work(ctx, h, time.Until(begin.Add(time.Duration(ahead+r.instants)*time.Second))); err != nil {
		return nil, err
	}
	want := r.instants * r.perSecond
	for begin := time.Now(); seen.count() < want && time.Since(begin) < patience; { // the last may be late, too
		pause(ctx, 10*time.Millisecond)
	}
	late := seen.ascending()
	if len(late) != want {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("%d entries were fired, not %d", len(late), want))
	}
	return late, nil
}

// firings is an observer that notes how late instants were fired.
type firings struct {
	mu   sync.Mutex
	late []time.Duration
}

// Fired implements engine.Observer. It is called when the case is durable; the
// instant is a whole second.
func (f *firings) Fired(of engine.Firing) {
	late := lateAt(time.Now(), of.Lag)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = append(f.late, late)
}

// lateAt returns how long before now the whole second was from which lag was
// measured, less than a second ago and in milliseconds.
func lateAt(now time.Time, lag time.Duration) time.Duration {
	late := lag.Truncate(time.Second) + now.Sub(now.Truncate(time.Second))
	if late < lag-time.Millisecond {
		late += time.Second
	}
	return late
}

// Performed implements engine.Observer.
func (*firings) Performed(string) {}

// CaseStarted implements engine.Observer.
func (*firings) CaseStarted() {}

// CaseEnded implements engine.Observer.
func (*firings) CaseEnded(string) {}

// Failed implements engine.Observer.
func (*firings) Failed(string) {}

func (f *firings) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.late)
}

func (f *firings) ascending() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.late))
}
