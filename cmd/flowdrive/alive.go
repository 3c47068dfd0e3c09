package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/store/postgres"
)

// runningName is a file of the data folder that is there while a server runs, and
// after one that was not stopped in good order. Its time of change is the last sign of
// life: a server that has nothing to do writes nothing to its database.
const runningName = "running"

// markRunning notes that a server runs. It returns when the last one was there last if that
// was not stopped in good order, else zero.
func markRunning(data string) (seen time.Time, err error) {
	path := filepath.Join(data, runningName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		info, err := os.Stat(path)
		if err != nil {
			return time.Time{}, fmt.Errorf("look when a server ran: %w", err)
		}
		return info.ModTime().UTC(), nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("note that a server runs: %w", err)
	}
	return time.Time{}, f.Close()
}

// comeBack has administrators told if there was no server for some time.
func (a *app) comeBack(ctx context.Context) {
	var err error
	switch {
	case a.sandbox != nil:
	case !a.settings.offline:
		err = a.engine.Return(ctx, a.seen)
	case a.unclean: // its file is removed at the end of this
		err = a.engine.Server.Ended(ctx, a.seen)
	}
	if err != nil {
		a.log.Error().Err(err).Msg("server: for how long there was none could not be found out or told")
	}
}

// longestGoodbye bounds how long is waited for the database when the server ends.
const longestGoodbye = 5 * time.Second

// live gives signs of life until ctx ends, and then notes that the server was stopped in good
// order: the next start tells administrators for how long there was none.
func (a *app) live(ctx context.Context) error {
	if a.sandbox != nil {
		return nil
	}
	tick := time.NewTicker(engine.AliveEvery)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-tick.C:
			err = a.signOfLife(ctx)
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestGoodbye)
			defer cancel()
			if err := a.engine.Server.Alive(ctx, true); err != nil {
				a.log.Warn().Err(err).Msg("server: that it was stopped in good order could not be stored")
			}
			return nil
		}
		if err != nil && ctx.Err() == nil {
			a.log.Warn().Err(err).Msg("server: its sign of life could not be stored")
		}
	}
}

// signOfLife leaves one where the next server finds it. On PostgreSQL that can be on
// another machine.
func (a *app) signOfLife(ctx context.Context) error {
	if _, shared := a.db.(*postgres.DB); shared {
		return a.engine.Server.Alive(ctx, false)
	}
	now := clock.Real{}.Now()
	return os.Chtimes(filepath.Join(a.settings.data, runningName), now, now)
}
