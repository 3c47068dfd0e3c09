package main

import (
	"context"
	"errors"
	"time"
)

// measureIdle is P10: what an engine over a million schedule entries and a
// million timers does while nothing is due.
func measureIdle(ctx context.Context, r *run) (_ []Row, err error) {
	data, err := r.folder("idle")
	if err != nil {
		return nil, err
	}
	if err := r.fillEntries(ctx, data, r.entries); err != nil {
		return nil, err
	}
	if err := r.fillTimers(ctx, data, r.timers); err != nil {
		return nil, err
	}
	before := epoch().Add(-24 * time.Hour)
	h, err := openHouse(ctx, data, houseOptions{clock: standing(before)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	const calm = 3 * time.Second // in which a start comes to rest
	pause(ctx, calm)
	ran, cpu, begin := h.stats().Statements, processCPU(), time.Now()
	pause(ctx, r.idle)
	ran, cpu = h.stats().Statements-ran, processCPU()-cpu
	share := 100 * cpu.Seconds() / time.Since(begin).Seconds()
	return []Row{
		atMost("idle for "+r.idle.String()+" with both millions", measured(Statements, float64(ran)), nil, 0),
		atMost("… CPU of the process", measured(Percent, share), nil, 0.05).
			noted("of one CPU; %s schedule entries, %s timers", plain(float64(r.entries)), plain(float64(r.timers))),
	}, ctx.Err()
}
