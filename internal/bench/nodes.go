package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/pgtest"
)

const (
	workNodes   = "the same by HTTP on 3 nodes over 1, the database 2 ms further away"
	workFired   = "lateness of a firing, p99, 3 nodes"
	workResting = "3 nodes at rest: statements a second of each"
)

// several starts PostgreSQL for a figure of several nodes. missing says what the run was not
// given for it.
func (r *run) several(ctx context.Context, work string, undo *cleanup) (server *pgtest.Server, missing []Row, err error) {
	if r.Program == "" {
		return nil, skipped(work, noProgram), nil
	}
	server, err = r.postgres(ctx, undo)
	if errors.Is(err, pgtest.ErrMissing) {
		return nil, skipped(work, noPostgreSQL), nil
	}
	return server, nil, err
}

// measureNodes is P16: the work of P15 by HTTP, asked of one node and of three. All three run
// in both.
func measureNodes(ctx context.Context, r *run) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	server, missing, err := r.several(ctx, workNodes, &undo)
	if missing != nil || err != nil {
		return missing, err
	}
	const database = "nodes"
	if err := r.founded(ctx, server, database); err != nil {
		return nil, err
	}
	way, err := farAway(ctx, server, 2*time.Millisecond, &undo)
	if err != nil {
		return nil, err
	}
	nodes, err := r.startNodes(ctx, "postgres://flowdrive@"+way+"/"+database+"?sslmode=disable", 3, &undo)
	if err != nil {
		return nil, err
	}
	got, err := r.alternate(ctx, side{"3 nodes", finishing(nodes), nil}, side{"1 node", finishing(nodes[:1]), nil})
	if err != nil {
		return nil, err
	}
	return []Row{
		atLeast(workNodes, rates(got[0]), rates(got[1]), 2.5).
			noted("%d callers; one of the nodes decides, the others pass requests on to it; %s; on one node: %s", callers, describe(got[0]), describe(got[1])),
	}, nil
}

// finishing starts and completes cases by HTTP, each caller on one of the nodes.
func finishing(nodes []*process) round {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: callers, DisableCompression: true}}
	put := func(ctx context.Context, url, body string, want int) (location string, err error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		req.SetBasicAuth(caller, password)
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != want {
			err = fmt.Errorf("PUT %s: status %d, not %d: %s", url, resp.StatusCode, want, bytes.TrimSpace(text))
		}
		return resp.Header.Get("Location"), err
	}
	return func(ctx context.Context, d time.Duration) (sample, error) {
		defer client.CloseIdleConnections()
		return load(ctx, callers, d, func(ctx context.Context, i int) error {
			base := "http://" + nodes[i%len(nodes)].addr
			made, err := put(ctx, base+"/dav/Workflow/Cases/new.json", `{"route": "`+routeOnce+`"}`, http.StatusCreated)
			if err != nil {
				return err
			}
			folder := strings.TrimSuffix(made, ".json")
			_, err = put(ctx, base+folder+"/Actions/finish.json", `{}`, http.StatusNoContent)
			return err
		})
	}
}

// measureFired is P17: how late an instant's case is durable if three nodes could fire it, and
// if the active one is killed in that second. The database tells when it committed each.
func measureFired(ctx context.Context, r *run) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	server, missing, err := r.several(ctx, workFired, &undo)
	if missing != nil || err != nil {
		return missing, err
	}
	var rows []Row
	for _, test := range []struct {
		database, work string
		share, most    float64
		kill           bool
	}{
		{"calm", workFired, 0.99, 50e-3, false},
		{"killed", "… the latest, if the active node is killed in that second", 1, 20, true},
	} {
		late, err := r.fired(ctx, server, test.database, test.kill)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", test.database, err)
		}
		rows = append(rows, atMost(test.work, measured(Seconds, quantile(late, test.share).Seconds()), nil, test.most).
			noted("until the case is durable, by the clock of the database; %d firings, each instant once; p50 %s, the latest %s", len(late),
				quantity(quantile(late, 0.5).Seconds(), Seconds), quantity(quantile(late, 1).Seconds(), Seconds)))
	}
	return rows, nil
}

// fired lets entries become due, and returns how late each was fired, ascending. It fails if
// an instant has not exactly one case.
func (r *run) fired(ctx context.Context, server *pgtest.Server, database string, kill bool) (_ []time.Duration, err error) {
	var undo cleanup
	defer undo.run(&err)
	if err := r.founded(ctx, server, database); err != nil {
		return nil, err
	}
	nodes, err := r.startNodes(ctx, server.Address(database), 3, &undo)
	if err != nil {
		return nil, err
	}
	conns, err := dial(ctx, nodes[2].addr, 1) // a node that stands by, and lives on
	if err != nil {
		return nil, err
	}
	undo.add(func() error { return hangUp(conns) })
	ahead := r.ahead
	begin, want := nextSecond(ctx), r.instants*r.perSecond
	for i := range want {
		if err := conns[0].do(http.MethodPut, schedulePath, []byte(soon(ahead+i/r.perSecond)), http.StatusCreated); err != nil {
			return nil, err
		}
	}
	if kill {
		// In the middle of the instants, a moment before one.
		pause(ctx, time.Until(begin.Add(time.Duration(ahead+r.instants/2)*time.Second-10*time.Millisecond)))
		if err := nodes[0].kill(); err != nil {
			return nil, err
		}
	}
	pause(ctx, time.Until(begin.Add(time.Duration(ahead+r.instants+1)*time.Second)))
	for begin := time.Now(); ; pause(ctx, 100*time.Millisecond) {
		n, err := server.Query(ctx, database, `SELECT count(*) FROM occurrences`)
		if err != nil {
			return nil, err
		}
		if n[0] == strconv.Itoa(want) {
			break
		}
		if ctx.Err() != nil || time.Since(begin) > patience {
			return nil, errors.Join(ctx.Err(), fmt.Errorf("%s instants were fired, not %d", n[0], want))
		}
	}
	return firedIn(ctx, server, database, want)
}

// firedIn reads how late the instants of a database were, and looks that each has one case.
func firedIn(ctx context.Context, server *pgtest.Server, database string, want int) (late []time.Duration, err error) {
	cases, err := server.Query(ctx, database, `SELECT count(DISTINCT case_id) FROM occurrences WHERE outcome = 'fired' UNION ALL SELECT count(*) FROM cases`)
	if err != nil {
		return nil, err
	}
	if n := strconv.Itoa(want); cases[0] != n || cases[1] != n {
		return nil, fmt.Errorf("%d instants have %s cases that they know, of %s that there are", want, cases[0], cases[1])
	}
	all, err := server.Query(ctx, database, `SELECT (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::bigint - instant * 1000 FROM occurrences`)
	if err != nil {
		return nil, err
	}
	for _, text := range all {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		late = append(late, time.Duration(n)*time.Microsecond)
	}
	slices.Sort(late)
	return late, nil
}

// measureResting is P18: what three nodes and their database do while nothing is due.
func measureResting(ctx context.Context, r *run) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	server, missing, err := r.several(ctx, workResting, &undo)
	if missing != nil || err != nil {
		return missing, err
	}
	const database = "resting"
	if err := r.stocked(ctx, server, database); err != nil {
		return nil, err
	}
	nodes, err := r.startNodes(ctx, server.Address(database), 3, &undo)
	if err != nil {
		return nil, err
	}
	if !r.Short {
		pause(ctx, 10*time.Second) // a start comes to rest
	}
	before, err := used(ctx, server, database, nodes)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	pause(ctx, r.idle)
	after, err := used(ctx, server, database, nodes)
	if err != nil {
		return nil, err
	}
	elapsed := time.Since(begin).Seconds()
	share := func(a, b time.Duration) float64 { return 100 * (b - a).Seconds() / elapsed }
	busiest := 0.0
	for i := range nodes {
		busiest = max(busiest, share(before.nodes[i], after.nodes[i]))
	}
	return []Row{
		atMost(workResting, measured(PerSecond, float64(after.transactions-before.transactions)/elapsed/float64(len(nodes))), nil, 1).
			noted("as transactions in pg_stat_database, with one of the measuring; for %s, with %s entries and as many timers", r.idle, plain(float64(r.stock))),
		atMost("… CPU of the busiest node", measured(Percent, busiest), nil, 0.2).noted("of one CPU"),
		atMost("… CPU of PostgreSQL", measured(Percent, share(before.server, after.server)), nil, 0.5).noted("of one CPU, with all its processes"),
	}, ctx.Err()
}

// stocked makes a database with entries and timers, all due far in the future.
func (r *run) stocked(ctx context.Context, server *pgtest.Server, database string) error {
	data, err := r.folder(database)
	if err != nil {
		return err
	}
	if err := r.fillEntries(ctx, data, r.stock); err != nil {
		return err
	}
	r.progress("storing %s timers", thousands(int64(r.stock)))
	err = r.fill(ctx, data, r.stock, houseOptions{}, func(ctx context.Context, h *house, _ int) error {
		_, err := h.startCase(ctx, routeTime)
		return err
	})
	if err != nil {
		return err
	}
	if err := databases(ctx, server, database); err != nil {
		return err
	}
	r.progress("copying both into PostgreSQL")
	if err := copyTables(ctx, data, server.Address(database)); err != nil {
		return err
	}
	// What the server would do of this by itself is not rest.
	for _, statement := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := server.Query(ctx, database, statement); err != nil {
			return err
		}
	}
	return nil
}

// usage is what nodes and their database have used.
type usage struct {
	transactions int64
	nodes        []time.Duration
	server       time.Duration
}

func used(ctx context.Context, server *pgtest.Server, database string, nodes []*process) (u usage, err error) {
	n, err := server.Query(ctx, "postgres", `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '`+database+`'`)
	if err != nil {
		return u, err
	}
	if u.transactions, err = strconv.ParseInt(n[0], 10, 64); err != nil {
		return u, err
	}
	for _, p := range nodes {
		cpu, err := cpuOf(p.cmd.Process.Pid)
		if err != nil {
			return u, err
		}
		u.nodes = append(u.nodes, cpu)
	}
	u.server, err = cpuOfServer(server)
	return u, err
}
