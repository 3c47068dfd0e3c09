package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"flowdrive/engine"
)

// What is stored before something is measured comes by the engine, as many at a
// time as share its commits well.
const loaders = 64

// kind is a sort of stored cases: their route, and what was done with them.
type kind struct {
	route   string
	actions []string
}

// kinds are what a drive has that has been used for long: cases on which
// something can be done, cases that wait for a person or a date, and cases that
// have ended.
func kinds() []kind {
	return []kind{{route: routeMany}, {route: routeOnce, actions: []string{"finish"}}, {route: routeTime}, {route: routeOnce}}
}

// fill runs put n times on an engine over the data folder.
func (r *run) fill(ctx context.Context, data string, n int, o houseOptions, put func(ctx context.Context, h *house, i int) error) error {
	h, err := openHouse(ctx, data, o)
	if err != nil {
		return err
	}
	err = parallel(ctx, loaders, n, func(ctx context.Context, i int) error { return put(ctx, h, i) })
	return errors.Join(err, h.close())
}

// fillEntries makes a data folder that has n schedule entries, all due in the
// year 2099.
func (r *run) fillEntries(ctx context.Context, data string, n int) error {
	r.progress("storing %s schedule entries", thousands(int64(n)))
	return r.fill(ctx, data, n, houseOptions{}, func(ctx context.Context, h *house, i int) error {
		_, err := h.putEntry(ctx, far(i))
		return err
	})
}

// fillTimers makes a data folder that has n cases with a timer, due a second
// after the other, the first at the epoch, in an order of their own.
func (r *run) fillTimers(ctx context.Context, data string, n int) error {
	r.progress("storing %s timers", thousands(int64(n)))
	begin := epoch().Add(-lasts)
	return r.fill(ctx, data, n, houseOptions{clock: standing(begin)}, func(ctx context.Context, h *house, i int) error {
		req := h.request()
		req.Now = begin.Add(time.Duration(i*7919%n) * time.Second)
		_, err := h.engine.Cases.PutCase(ctx, req, engine.Ref{Author: h.by.ID}, []byte(`{"route": "`+routeTime+`"}`))
		return err
	})
}

// stock are stored cases.
type stock []int64

// at returns the i-th of them, and after the last the first again. What
// follows each other lies apart.
func (s stock) at(i int64) int64 { return s[i*7919%int64(len(s))] }

// fillCases makes a data folder with n cases, the same number of each kind, and
// returns all, and those of the first kind.
func (r *run) fillCases(ctx context.Context, data string, n int, kinds ...kind) (all, first stock, err error) {
	r.progress("storing %s cases", thousands(int64(n)))
	all = make(stock, n)
	err = r.fill(ctx, data, n, houseOptions{}, func(ctx context.Context, h *house, i int) (err error) {
		k := kinds[i%len(kinds)]
		if all[i], err = h.startCase(ctx, k.route); err != nil {
			return err
		}
		for _, action := range k.actions {
			if err := h.perform(ctx, all[i], action); err != nil {
				return err
			}
		}
		return nil
	})
	for i := 0; i < n; i += len(kinds) {
		first = append(first, all[i])
	}
	slices.Sort(all)
	slices.Sort(first)
	return all, first, err
}
