package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// sample is what one round did.
type sample struct {
	done    int
	elapsed time.Duration
	cpu     time.Duration   // of this process
	each    []time.Duration // how long each took, ascending
}

// rate is per second.
func (s sample) rate() float64 { return float64(s.done) / s.elapsed.Seconds() }

// cost is the time until another one is done.
func (s sample) cost() float64 { return s.elapsed.Seconds() / float64(max(s.done, 1)) }

// perCPU is the CPU time of each.
func (s sample) perCPU() float64 { return s.cpu.Seconds() / float64(max(s.done, 1)) }

// quantile returns how long the given share of all took at most.
func (s sample) quantile(share float64) float64 { return quantile(s.each, share).Seconds() }

func quantile(ascending []time.Duration, share float64) time.Duration {
	if len(ascending) == 0 {
		return 0
	}
	return ascending[min(int(share*float64(len(ascending))), len(ascending)-1)]
}

// load lets so many callers call f, each again as soon as it has returned,
// until the time is over or a call fails.
func load(ctx context.Context, callers int, d time.Duration, f func(ctx context.Context, caller int) error) (sample, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wait sync.WaitGroup
	each := make([][]time.Duration, callers)
	begin, cpu := time.Now(), processCPU()
	end := begin.Add(d)
	for caller := range callers {
		wait.Go(func() {
			for at := time.Now(); at.Before(end) && ctx.Err() == nil; {
				if err := f(ctx, caller); err != nil {
					stop(err) // the first one counts
					return
				}
				now := time.Now()
				each[caller] = append(each[caller], now.Sub(at))
				at = now
			}
		})
	}
	wait.Wait()
	s := sample{elapsed: time.Since(begin), cpu: processCPU() - cpu, each: slices.Concat(each...)}
	slices.Sort(s.each)
	s.done = len(s.each)
	if err := context.Cause(ctx); err != nil {
		return s, err
	}
	if s.done == 0 {
		return s, errors.New("nothing was done in the time of a round")
	}
	return s, nil
}

// parallel calls f for each number below n, so many at a time, until one
// fails.
func parallel(ctx context.Context, callers, n int, f func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wait sync.WaitGroup
	var next atomic.Int64
	for range callers {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(ctx, i); err != nil {
					stop(err)
					return
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// processCPU is the CPU time that this process has used.
func processCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// round does something for some time.
type round func(ctx context.Context, d time.Duration) (sample, error)

// side is one of the things that are compared.
type side struct {
	name  string
	round round
	rest  func(context.Context) error // what must not fall into the other's round; nil: nothing
}

// alternate runs rounds of one side, then of the other, and so on, after a
// short one of each that does not count. The result has a list of samples for
// each side.
func (r *run) alternate(ctx context.Context, sides ...side) ([][]sample, error) {
	out := make([][]sample, len(sides))
	for n := range r.rounds + 1 {
		d := r.round
		if n == 0 {
			d /= 4
		}
		for i, s := range sides {
			got, err := s.round(ctx, d)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			if n > 0 {
				out[i] = append(out[i], got)
			}
			if s.rest != nil && !r.Short {
				if err := s.rest(ctx); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// pause waits; it ends early with ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// each returns a figure of every sample.
func each(samples []sample, f func(sample) float64) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = f(s)
	}
	return out
}

// rates are the rates of the samples.
func rates(samples []sample) *Value { return measured(PerSecond, each(samples, sample.rate)...) }

// half is the median of how long each took.
func half(s sample) float64 { return s.quantile(0.5) }

// describe says what else was seen in the rounds.
func describe(samples []sample) string {
	return fmt.Sprintf("p50 %s, p99 %s, CPU %s each with its caller's",
		quantity(median(each(samples, half)), Seconds),
		quantity(median(each(samples, func(s sample) float64 { return s.quantile(0.99) })), Seconds),
		quantity(median(each(samples, sample.perCPU)), Seconds))
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}
