package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Config says what is measured and how the parts above this package are
// started.
type Config struct {
	// Short does one round of everything with little data: it shows that all
	// of it runs, and judges nothing about time.
	Short bool

	// Only names the figures to measure; none means all.
	Only []string

	// Cases is the largest number of stored cases for the growth of cost (P12);
	// 0 is a million.
	Cases int

	// Dir is the folder below which everything is written and removed again;
	// "" is the system's for temporary files.
	Dir string

	// Stock is how many entries and timers are stored for P18, and how many cases for P19;
	// 0 is a million. P19 has 10 KB of contents for each.
	Stock int

	// River is the file of the program that is made of internal/bench/river, "" for none.
	River string

	// Program is the file of the program that "serve" is started of, as a
	// process of its own. "" leaves out what needs one.
	Program string

	// Progress is told what is being measured; it may be nil.
	Progress func(what string)
}

// size is how much of everything is done.
type size struct {
	rounds     int
	round      time.Duration
	cases      int           // stored while actions and GETs are measured
	members    int           // of the folder that is listed (P6)
	entries    int           // stored schedule entries (P8, P10)
	timers     int           // stored timers (P7, P10)
	fires      int           // of them in a round (P7)
	idle       time.Duration // in which nothing is due (P10)
	stored     int           // cases stored while the start is measured (P14)
	wakes      int           // firings one by one (P8)
	adds       int           // entries added one by one (P8)
	instants   int           // seconds in which something is due (P11)
	perSecond  int           // entries due in each
	ahead      int           // seconds in which entries are put before the first is due (P17)
	growth     []int         // cases stored, ascending (P12)
	startsEach int           // cases started in a round (P12)
	steady     time.Duration // load before memory is read (P13)
	starts     int           // of a process (P14)
	stock      int           // of entries, of timers and of cases (P18, P19)
	large      int           // bytes of each content (P19)
	asks       int           // of each page, and cases started while streams are open (P20)
	streams    int           // of events (P20)
	quiet      time.Duration // while they are open (P20)
}

func (c *Config) size() size {
	if c.Short {
		return size{
			rounds: 1, round: 100 * time.Millisecond, cases: 64, members: 200, entries: 2_000, timers: 1_000, fires: 200, idle: 200 * time.Millisecond,
			stored: 1_000, wakes: 1, adds: 50,
			instants: 2, perSecond: 4, ahead: 3, growth: c.stocks(), startsEach: 50, steady: 2 * time.Second, starts: 1,
			stock: 500, large: 100_000, asks: 2, streams: 10, quiet: 100 * time.Millisecond,
		}
	}
	return size{
		rounds: 5, round: 2 * time.Second, cases: 20_000, members: 10_000, entries: 1_000_000, timers: 1_000_000, fires: 20_000, idle: time.Minute,
		stored: 1_000_000, wakes: 15, adds: 2_000,
		instants: 25, perSecond: 8, ahead: 10, growth: c.stocks(), startsEach: 2_000, steady: time.Minute, starts: 5,
		stock: cmp.Or(c.Stock, 1_000_000), large: 1_000_000, asks: 100, streams: 500, quiet: 10 * time.Second,
	}
}

// figure is a line of the table of figures to reach.
type figure struct {
	name    string
	work    string
	measure func(context.Context, *run) ([]Row, error)
}

func figures() []figure {
	return []figure{
		{"P1", "start a case, one action, completed; 32 callers", measureStart},
		{"P2", "one action by HTTP PUT", measureAction},
		{"P3", "group commit: 64 callers over 1", measureGroup},
		{"P4", "PUT of a schedule entry, 32 connections", measurePut},
		{"P5", "GET of a case, 32 connections", measureGet},
		{"P6", workList, measureListing},
		{"P7", workTimers, measureTimers},
		{"P8", "schedule entries, a million of them", measureEntries},
		{"P9", "the next instant of a recurrence", measureNext},
		{"P10", "idle for a minute with both millions", measureIdle},
		{"P11", "lateness of firings", measureLateness},
		{"P12", workGrowth, measureGrowth},
		{"P13", "memory", measureMemory},
		{"P14", "start of the program", measureReady},
		{"P15", workShared, measureShared},
		{"P16", workNodes, measureNodes},
		{"P17", workFired, measureFired},
		{"P18", workResting, measureResting},
		{"P19", workCopy, measureCopy},
		{"P20", workPages, measurePages},
	}
}

// run is one run of the benchmarks.
type run struct {
	Config
	size
	dir     string
	folders int
}

// folder makes a new folder.
func (r *run) folder(name string) (string, error) {
	r.folders++
	path := filepath.Join(r.dir, fmt.Sprintf("%02d-%s", r.folders, name))
	return path, os.Mkdir(path, 0o700)
}

func (r *run) progress(format string, args ...any) {
	if r.Progress != nil {
		r.Progress(fmt.Sprintf(format, args...))
	}
}

// Run measures the figures and reports them in their order. A figure that
// cannot be measured is reported as failed and does not stop the others; the
// error says so as well.
func Run(ctx context.Context, cfg Config) (_ *Report, err error) {
	all := figures()
	for _, name := range cfg.Only {
		if !slices.ContainsFunc(all, func(f figure) bool { return f.name == name }) {
			return nil, fmt.Errorf("there is no figure %q; there are P1 to P%d", name, len(all))
		}
	}
	r := &run{Config: cfg, size: cfg.size()}
	if len(r.growth) < 2 {
		return nil, fmt.Errorf("P12 compares with a thousand cases: %d are not more", cfg.Cases)
	}
	if r.dir, err = os.MkdirTemp(cfg.Dir, "flowdrive-bench-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	report := newReport(r)
	for _, f := range all {
		if len(cfg.Only) > 0 && !slices.Contains(cfg.Only, f.name) {
			continue
		}
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		rows, failed := r.one(ctx, f)
		err = errors.Join(err, failed)
		report.Rows = append(report.Rows, rows...)
	}
	return report, err
}

// one measures a figure.
func (r *run) one(ctx context.Context, f figure) ([]Row, error) {
	r.progress("%s: %s", f.name, f.work)
	rows, err := f.measure(ctx, r)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.name, err)
		rows = append(rows, Row{Figure: f.name, Work: f.work, Verdict: Failed, Note: firstLine(err)})
	}
	for i := range rows {
		rows[i].Figure = f.name
		if r.Short && (rows[i].Verdict == Met || rows[i].Verdict == Missed) {
			rows[i].Verdict = NotJudged
		}
	}
	return rows, r.clean(err)
}

// clean removes what a figure has written, so that the disk has one at a time,
// and returns memory to the system.
func (r *run) clean(err error) error {
	entries, readErr := os.ReadDir(r.dir)
	err = errors.Join(err, readErr)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, e.Name())))
	}
	runtime.GC()
	return err
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
