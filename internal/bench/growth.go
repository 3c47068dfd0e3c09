package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const workGrowth = "growth of cost with the cases stored"

// stocks are the numbers of stored cases for the growth of cost, ascending.
func (c *Config) stocks() []int {
	small, most := []int{1_000, 100_000, 1_000_000, 10_000_000}, 1_000_000
	if c.Short {
		small, most = []int{200}, 2_000
	}
	if c.Cases != 0 {
		most = c.Cases
	}
	return append(slices.DeleteFunc(small, func(n int) bool { return n >= most }), most)
}

// measureGrowth is P12: what P1, P2, P4 and P5 measure, on data folders that
// differ in the number of cases alone: a round on one, then on the next.
func measureGrowth(ctx context.Context, r *run) ([]Row, error) {
	var offices []*office
	for _, n := range r.growth {
		o, err := r.furnish(ctx, n, kinds()...)
		if err != nil {
			return nil, err
		}
		offices = append(offices, o)
	}
	rows, err := r.growthOfRequests(ctx, offices)
	if err != nil {
		return rows, err
	}
	more, err := r.growthOfStart(ctx, offices)
	return append(more, rows...), err
}

// growthOfStart is P1. A round starts so many cases, and not as many as there
// is time for, so that the smallest stock remains one.
func (r *run) growthOfStart(ctx context.Context, offices []*office) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	var sides []side
	for _, o := range offices {
		h, err := openHouse(ctx, o.data, houseOptions{})
		if err != nil {
			return nil, err
		}
		undo.add(h.close)
		sides = append(sides, o.side(func(ctx context.Context, d time.Duration) (s sample, err error) {
			s.done = max(1, int(int64(r.startsEach)*int64(d)/int64(r.round)))
			begin, cpu := time.Now(), processCPU()
			err = parallel(ctx, callers, s.done, func(ctx context.Context, _ int) error { return h.startAndFinish(ctx) })
			s.elapsed, s.cpu = time.Since(begin), processCPU()-cpu
			return s, err
		}))
	}
	rows, err := r.overStocks(ctx, "start, action, completed", offices, sides)
	for i := range rows {
		rows[i].Note += fmt.Sprintf("; a round adds %s cases", plain(float64(r.startsEach)))
	}
	return rows, err
}

// growthOfRequests is P5, P2 and P4, in this order: what is only read comes
// first.
func (r *run) growthOfRequests(ctx context.Context, offices []*office) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	var gets, actions, entries []side
	for _, o := range offices {
		conns, err := r.serve(ctx, o.data, &undo)
		if err != nil {
			return nil, err
		}
		gets = append(gets, o.side(o.gets(conns)))
		actions = append(actions, o.side(o.actions(conns)))
		entries = append(entries, o.side(puts(conns, o.entry)))
	}
	got, err := r.overStocks(ctx, "GET of a case", offices, gets)
	if err != nil {
		return nil, err
	}
	acted, err := r.overStocks(ctx, "action by PUT", offices, actions)
	if err != nil {
		return nil, err
	}
	put, err := r.overStocks(ctx, "PUT of an entry", offices, entries)
	return slices.Concat(acted, put, got), err
}

func (o *office) side(f round) side { return side{"flowdrive", f, restOf(o.data)} }

// overStocks alternates between the offices, and compares each with the one that
// has the fewest cases.
func (r *run) overStocks(ctx context.Context, work string, offices []*office, sides []side) ([]Row, error) {
	r.progress("comparing what it costs: %s", work)
	got, err := r.alternate(ctx, sides...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", work, err)
	}
	var rows []Row
	for i := 1; i < len(got); i++ {
		rows = append(rows, atMostTimes(
			fmt.Sprintf("%s: %s cases over %s", work, plain(float64(offices[i].n)), plain(float64(offices[0].n))),
			measured(Seconds, each(got[i], sample.cost)...), measured(Seconds, each(got[0], sample.cost)...), 1.5,
		).noted("time each at 32 callers; CPU %s over %s",
			quantity(median(each(got[i], sample.perCPU)), Seconds), quantity(median(each(got[0], sample.perCPU)), Seconds)))
	}
	return rows, nil
}
