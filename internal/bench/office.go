package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// restOf returns a function that brings the log of the store in a data folder
// into its database file, as the store does in a quiet moment, so that this
// does not fall into the round of another side. Nothing may be writing.
func restOf(data string) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		db, err := openRaw(data)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		const again = 20 * time.Millisecond
		for begin := time.Now(); ctx.Err() == nil && time.Since(begin) < patience; pause(ctx, again) {
			busy, left, err := checkpoint(ctx, db)
			if err != nil || !busy && left == 0 {
				return err
			}
		}
		return errors.Join(ctx.Err(), fmt.Errorf("the store in %s does not come to rest", data))
	}
}

// querier is what both a database and one of its connections can do.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// checkpoint brings as much of the log into the database file as it can without
// waiting, and returns how many pages are left. busy means that the store is
// doing it.
func checkpoint(ctx context.Context, db querier) (busy bool, left int, err error) {
	var logged, done int
	err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &logged, &done)
	return busy, logged - done, err
}

// office is a data folder with cases. On some of them an action can be
// performed for ever.
type office struct {
	data  string
	n     int // cases
	all   stock
	cases stock   // those on which it can
	note  *series // the unit of such an action
	noted int64   // how many there were on the first of them while it was learnt
	entry []byte  // a document of a schedule entry
}

// furnish makes the folder. Actions can be performed on cases of the first
// kind.
func (r *run) furnish(ctx context.Context, n int, kinds ...kind) (_ *office, err error) {
	o := &office{n: n, noted: 3}
	if o.data, err = r.folder("office"); err != nil {
		return nil, err
	}
	if o.all, o.cases, err = r.fillCases(ctx, o.data, n, kinds...); err != nil {
		return nil, err
	}
	h, err := openHouse(ctx, o.data, houseOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if o.entry, err = h.entryDocument(ctx); err != nil {
		return nil, err
	}
	o.note, err = o.learn(ctx, h)
	return o, err
}

// learn performs the action on the first case, and returns what is written.
func (o *office) learn(ctx context.Context, h *house) (*series, error) {
	id := o.cases.at(0)
	before, err := rowsOf(ctx, o.data, id)
	if err != nil {
		return nil, err
	}
	var units [][]op
	for range o.noted {
		if err := h.perform(ctx, id, "note"); err != nil {
			return nil, err
		}
		after, err := rowsOf(ctx, o.data, id)
		if err != nil {
			return nil, err
		}
		units = append(units, written(before, after))
		before = after
	}
	return seriesOf(units)
}

// gets lets each connection get cases, one after the other.
func (o *office) gets(conns []*connection) round {
	var turn atomic.Int64
	return func(ctx context.Context, d time.Duration) (sample, error) {
		return load(ctx, len(conns), d, func(_ context.Context, caller int) error {
			path := fmt.Sprintf("/dav/Workflow/Cases/%d.json", o.all.at(turn.Add(1)))
			return conns[caller].do(http.MethodGet, path, nil, http.StatusOK)
		})
	}
}
