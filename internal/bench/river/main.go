// Command river does work of River, a queue on PostgreSQL, for P15 of the benchmarks: callers
// that insert a job, wait until it is worked and completed, and insert the next one. It prints
// how long each took as JSON. It is a module of its own, so that Flowdrive's has nothing of it:
// "make bench-river" builds it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

func main() {
	address := flag.String("db", "", "URL of the database")
	callers := flag.Int("callers", 32, "how many insert jobs at the same time")
	lasts := flag.Duration("time", 2*time.Second, "for how long")
	flag.Parse()
	r, err := run(context.Background(), *address, *callers, *lasts)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

// result is what was done.
type result struct {
	Elapsed time.Duration
	Each    []time.Duration // how long each job took, ascending
}

// job is one with nothing to do.
type job struct{}

// Kind implements river.JobArgs.
func (job) Kind() string { return "bench" }

type worker struct{ river.WorkerDefaults[job] }

// Work implements river.Worker.
func (*worker) Work(context.Context, *river.Job[job]) error { return nil }

func run(ctx context.Context, address string, callers int, lasts time.Duration) (_ *result, err error) {
	pool, err := pgxpool.New(ctx, address)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{})
	client, err := river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4 * callers}}, Workers: workers,
		FetchCooldown: time.Millisecond, FetchPollInterval: 100 * time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	done := &completed{waiting: map[int64]chan struct{}{}, early: map[int64]bool{}}
	events, unsubscribe := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: 100_000, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	defer unsubscribe()
	go func() {
		for e := range events {
			done.note(e.Job.ID)
		}
	}()
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Stop(context.WithoutCancel(ctx))) }()
	return load(ctx, client, done, callers, lasts)
}

// load lets the callers work until the time is over.
func load(ctx context.Context, client *river.Client[pgx.Tx], done *completed, callers int, lasts time.Duration) (*result, error) {
	each, failed := make([][]time.Duration, callers), make([]error, callers)
	begin := time.Now()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for at := time.Now(); at.Sub(begin) < lasts; {
				inserted, err := client.Insert(ctx, job{}, nil)
				if err != nil {
					failed[i] = err
					return
				}
				<-done.await(inserted.Job.ID)
				now := time.Now()
				each[i] = append(each[i], now.Sub(at))
				at = now
			}
		})
	}
	all.Wait()
	r := &result{Elapsed: time.Since(begin), Each: slices.Concat(each...)}
	slices.Sort(r.Each)
	return r, errors.Join(failed...)
}

// completed tells callers that their jobs are.
type completed struct {
	mu      sync.Mutex
	waiting map[int64]chan struct{}
	early   map[int64]bool // completed before their caller knew the id
}

func (c *completed) note(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if waits, ok := c.waiting[id]; ok {
		close(waits)
		delete(c.waiting, id)
		return
	}
	c.early[id] = true
}

func (c *completed) await(id int64) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits := make(chan struct{})
	if c.early[id] {
		delete(c.early, id)
		close(waits)
		return waits
	}
	c.waiting[id] = waits
	return waits
}
