package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"flowdrive/internal/pgtest"
)

const workShared = "PostgreSQL: start a case, one action, completed; 32 callers"

// measureShared is P15: P1 on PostgreSQL, over callers of pgx with a connection each, which
// send the statements of a unit in one pipeline, and over River on the same server.
func measureShared(ctx context.Context, r *run) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	server, err := r.postgres(ctx, &undo)
	if errors.Is(err, pgtest.ErrMissing) {
		return skipped(workShared, noPostgreSQL), nil
	}
	if err != nil {
		return nil, err
	}
	limit, err := r.limitOfShared(ctx, server, &undo)
	if err != nil {
		return nil, err
	}
	data, err := r.folder("engine")
	if err != nil {
		return nil, err
	}
	if err := databases(ctx, server, "ours", "river"); err != nil {
		return nil, err
	}
	h, err := openHouse(ctx, data, houseOptions{postgres: server.Address("ours")})
	if err != nil {
		return nil, err
	}
	undo.add(h.close)
	before := h.stats()
	sides := []side{
		{"flowdrive", func(ctx context.Context, d time.Duration) (sample, error) {
			return load(ctx, callers, d, func(ctx context.Context, _ int) error { return h.startAndFinish(ctx) })
		}, nil},
		{"limit", limit, nil},
	}
	if r.River != "" {
		sides = append(sides, side{"River", r.riverRound(server.Address("river")), nil})
	}
	got, err := r.alternate(ctx, sides...)
	if err != nil {
		return nil, err
	}
	stats := h.stats()
	rows := []Row{
		atLeast(workShared, rates(got[0]), rates(got[1]), 0.5).
			noted("%s; %s units a commit; the limit is pgx with %d connections, a pipeline a unit: %s", describe(got[0]),
				plain(float64(stats.Units-before.Units)/float64(max(stats.Commits-before.Commits, 1))), callers, describe(got[1])),
	}
	if r.River == "" {
		return append(rows, skipped("… over River", "--river names no program")...), nil
	}
	return append(rows, atLeast("… over River", rates(got[0]), rates(got[2]), 2).
		noted("a job inserted, worked and completed, FetchCooldown 1 ms: p50 %s, p99 %s", quantity(median(each(got[2], half)), Seconds),
			quantity(median(each(got[2], func(s sample) float64 { return s.quantile(0.99) })), Seconds))), nil
}

// limitOfShared returns a round of what such work costs at least: the rows that the store
// writes.
func (r *run) limitOfShared(ctx context.Context, server *pgtest.Server, undo *cleanup) (round, error) {
	data, err := r.folder("rows")
	if err != nil {
		return nil, err
	}
	h, err := openHouse(ctx, data, houseOptions{})
	if err != nil {
		return nil, err
	}
	units, err := h.unitsOfStart(ctx, data)
	if err = errors.Join(err, h.close()); err != nil {
		return nil, err
	}
	if err := databases(ctx, server, "bare"); err != nil {
		return nil, err
	}
	if err := copyTables(ctx, data, server.Address("bare")); err != nil {
		return nil, err
	}
	conns := make([]*pgx.Conn, callers)
	for i := range conns {
		if conns[i], err = pgx.Connect(ctx, server.Address("bare")); err != nil {
			return nil, err
		}
		undo.add(func() error { return conns[i].Close(context.WithoutCancel(ctx)) })
	}
	var ids atomic.Int64
	ids.Store(1 << 40) // beyond those that the engine has given
	return func(ctx context.Context, d time.Duration) (sample, error) {
		return load(ctx, callers, d, func(ctx context.Context, caller int) error {
			id := ids.Add(1)
			for _, unit := range units {
				if err := pipelined(ctx, conns[caller], bind(unit, id)); err != nil {
					return err
				}
			}
			return nil
		})
	}, nil
}

// pipelined sends the statements at once, as one transaction.
func pipelined(ctx context.Context, c *pgx.Conn, ops []op) error {
	var batch pgx.Batch
	for _, o := range ops {
		args := make([]any, len(o.args))
		for i, arg := range o.args {
			args[i] = given(arg)
		}
		queued := batch.Queue(strings.ReplaceAll(o.query, "?", "$"), args...)
		if o.reads {
			queued.Query(func(rows pgx.Rows) error {
				for rows.Next() {
					rows.RawValues()
				}
				return rows.Err()
			})
		}
	}
	return c.SendBatch(ctx, &batch).Close()
}

// riverRound starts the program of River for a round.
func (r *run) riverRound(address string) round {
	return func(ctx context.Context, d time.Duration) (sample, error) {
		out, err := exec.CommandContext(ctx, r.River, "-db", address, "-callers", strconv.Itoa(callers), "-time", d.String()).Output()
		if err != nil {
			if failed, ok := errors.AsType[*exec.ExitError](err); ok {
				err = fmt.Errorf("%w: %s", err, failed.Stderr)
			}
			return sample{}, err
		}
		var got struct {
			Elapsed time.Duration
			Each    []time.Duration // ascending
		}
		if err := json.Unmarshal(out, &got); err != nil {
			return sample{}, err
		}
		return sample{done: len(got.Each), elapsed: got.Elapsed, each: got.Each}, nil
	}
}
