package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"flowdrive/engine"
	"flowdrive/store"
)

const (
	figuresLast = 15 * time.Second // for so long they are told again without counting anew
	figuresWait = 5 * time.Second  // so long counting may take
)

// figures tells monitoring how much there is and how much of it waits. It counts when it
// is asked, so that a server nobody monitors does nothing for it.
type figures struct {
	count func(context.Context) (*store.Figures, time.Time, error)
	wrong func(context.Context) (map[engine.ServerPart]bool, error)
	now   func() time.Time
	log   zerolog.Logger
	files map[string]string // paths of files by what they are

	mu   sync.Mutex // one counts, the others wait and take its figures
	last *store.Figures
	at   time.Time // of last, by the engine's clock
	read time.Time // of last, by now
}

var _ prometheus.Collector = (*figures)(nil)

func newFigures(a *app) *figures {
	database := filepath.Join(a.settings.data, databaseName)
	return &figures{
		count: a.engine.Figures, wrong: a.engine.Server.Wrong, now: time.Now, log: a.log,
		files: map[string]string{"database": database, "log": database + "-wal"},
	}
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("flowdrive_"+name, help, labels, nil)
}

var (
	figureCases       = describe("cases", "Open cases, by state.", "state")
	figureTaskCases   = describe("cases_with_tasks", "Open cases in which something is overdue (overdue), with warnings of any kind (warnings), and with tasks that the engine failed to perform (escalated).", "list")
	figurePending     = describe("outbox_pending", "What is still to be delivered: mails, requests and commands.")
	figureOldest      = describe("outbox_oldest_seconds", "Age of the oldest of these, 0 for none.")
	figureUndelivered = describe("outbox_undelivered", "What was given up and waits for somebody to retry or abort it.")
	figureLate        = describe("schedule_late_entries", "Schedule entries whose instant is past and has not been fired.")
	figureBehind      = describe("sweeper_behind_seconds", "For how long the first thing has been due that the server has to do by itself, 0 for nothing.")
	figureHolds       = describe("holds", "Holds, which keep cases from starting.")
	figureWrong       = describe("server_trouble", "1 if something is wrong with a part of the server, of which administrators are told.", "part")
	figureStored      = describe("stored_bytes", "Bytes that users have stored, as quotas count them.")
	figureFiles       = describe("database_bytes", "Size of the files of the database.", "file")
)

// Describe implements prometheus.Collector.
func (f *figures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		figureCases, figureTaskCases, figurePending, figureOldest, figureUndelivered, figureHolds, figureLate, figureBehind, figureWrong, figureStored, figureFiles,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector. If the figures cannot be read, those that
// come from the database are left out, so that nobody takes old ones for new.
func (f *figures) Collect(to chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for what, path := range f.files {
		switch info, err := os.Stat(path); {
		case err == nil:
			tell(figureFiles, float64(info.Size()), what)
		case !errors.Is(err, fs.ErrNotExist):
			f.log.Warn().Err(err).Msg("metrics: could not look how large the database is")
		}
	}
	read, now, err := f.fresh()
	if err != nil {
		f.log.Warn().Err(err).Msg("metrics: could not count what there is")
		return
	}
	for _, state := range []string{"queued", "active", "suspended"} {
		tell(figureCases, float64(read.Cases[state]), state)
	}
	tell(figureTaskCases, float64(read.Warned), "warnings")
	tell(figureTaskCases, float64(read.Escalated), "escalated")
	tell(figureTaskCases, float64(read.Overdue), "overdue")
	tell(figurePending, float64(read.Pending))
	tell(figureOldest, age(read.Oldest, now))
	tell(figureUndelivered, float64(read.Undelivered))
	tell(figureHolds, float64(read.Holds))
	tell(figureLate, float64(read.Late))
	tell(figureBehind, age(read.Due, now))
	tell(figureStored, float64(read.Stored))
	f.wrongParts(tell)
}

// wrongParts tells with which parts of the server something is wrong.
func (f *figures) wrongParts(tell func(d *prometheus.Desc, value float64, labels ...string)) {
	ctx, cancel := context.WithTimeout(context.Background(), figuresWait)
	defer cancel()
	wrong, err := f.wrong(ctx)
	if err != nil {
		f.log.Warn().Err(err).Msg("metrics: could not look what is wrong with the server")
	}
	for part, is := range wrong {
		value := 0.0
		if is {
			value = 1
		}
		tell(figureWrong, value, string(part))
	}
}

// age returns the seconds since an instant, 0 if it is not past or not set.
func age(t, now time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t).Seconds())
}

// fresh returns figures that are not older than figuresLast, and their instant.
func (f *figures) fresh() (*store.Figures, time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); f.last == nil || now.Sub(f.read) >= figuresLast || now.Before(f.read) {
		ctx, cancel := context.WithTimeout(context.Background(), figuresWait)
		defer cancel()
		last, at, err := f.count(ctx)
		if err != nil {
			return nil, time.Time{}, err
		}
		f.last, f.at, f.read = last, at, now
	}
	return f.last, f.at, nil
}
