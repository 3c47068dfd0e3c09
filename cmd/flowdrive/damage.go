package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"flowdrive/attach"
	"flowdrive/engine"
	"flowdrive/store/sqlite"
	"flowdrive/store/transfer"
)

// errNoDatabase says that a data folder has contents and no database: its disk is not
// mounted, or the database was deleted. To found it anew would hide that.
var errNoDatabase = errors.New("there are contents and no database")

// checkDatabase refuses a data folder that has lost its database.
func checkDatabase(data string) error {
	path := filepath.Join(data, databaseName)
	info, err := os.Stat(path)
	if err == nil && info.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for the database: %w", err)
	}
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
		return nil // the first commits are in the log alone
	}
	if err := refuseUnfinished(data); err != nil {
		return err
	}
	return refuseContents(data)
}

// refuseUnfinished refuses a data folder without a database into which a copy was cut: with a
// new database in it, the copy could not go on.
func refuseUnfinished(data string) error {
	entries, err := os.ReadDir(data)
	if err != nil {
		return fmt.Errorf("look what is in the data folder: %w", err)
	}
	for _, entry := range entries {
		if transfer.IsUnfinished(filepath.Join(data, databaseName), filepath.Join(data, entry.Name())) {
			return fmt.Errorf("a copy into %s was cut; run the same flowdrive copy again, which goes on with it, or give another folder", data)
		}
	}
	return nil
}

// refuseContents refuses a data folder without a database, or with one that has nothing
// in it, if it has contents.
func refuseContents(data string) error {
	has, err := attach.Exists(filepath.Join(data, contentsName))
	if err != nil || !has {
		return err
	}
	return fmt.Errorf("%w in %s: %s is not there, or nothing is in it. Nothing was changed. Is everything mounted? Otherwise restore a backup into a new folder with flowdrive restore", errNoDatabase, data, databaseName)
}

// explainDatabase says in words what is wrong with a database that is damaged.
func explainDatabase(data string, err error) error {
	if !sqlite.IsDamaged(err) {
		return err
	}
	return damagedDatabase(filepath.Join(data, databaseName), sqlite.Cause(err))
}

func damagedDatabase(path, cause string) error {
	return fmt.Errorf("the database %s is damaged (%s). Nothing was changed. flowdrive check says what it can of it; flowdrive restore makes a new data folder of a backup", path, cause)
}

// openDatabase opens the database of the data folder. It looks what the last stop has
// left, and copies the database before its schema is changed.
func (a *app) openDatabase(ctx context.Context) error {
	if a.settings.database.address != "" {
		if a.told == nil {
			a.told = newServerWatch(a.log)
		}
		return a.openPostgres(ctx)
	}
	data := a.settings.data
	if err := checkDatabase(data); err != nil {
		return err
	}
	path := filepath.Join(data, databaseName)
	var err error
	if a.seen, err = markRunning(data); err != nil {
		return err
	}
	a.unclean = !a.seen.IsZero()
	if a.told == nil {
		a.told = newServerWatch(a.log)
	}
	if a.unclean {
		err = a.lookAfterCrash(path)
	} else {
		a.told.note(engine.ServerDatabase, "")
		err = a.lookThrough(path, quickCheckAlways)
	}
	if err != nil {
		return err
	}
	copied, err := sqlite.CopyOlder(ctx, path)
	if errors.Is(err, sqlite.ErrEmpty) {
		err = refuseContents(data)
	}
	if err != nil {
		return explainDatabase(data, err)
	}
	if copied != "" {
		a.log.Info().Str("copy", copied).Msg("database: its schema is brought up to date; a copy of what it was is kept")
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{Volatile: a.settings.rehearsal})
	if err != nil {
		return explainDatabase(data, err)
	}
	a.db = db
	return nil
}

// quickCheckSize is how large a database may be, in bytes, to be looked through before
// the server is ready: about two seconds.
const quickCheckSize = 512 << 20

// quickCheckAlways is how large a database may be, in bytes, to be looked through at
// each start, also after a stop in good order: about a quarter of a second.
const quickCheckAlways = 64 << 20

// lookAfterCrash looks at what a server that was not stopped in good order has left. It
// says if the log is not there or ends early, and looks through a database that is not
// too large.
func (a *app) lookAfterCrash(path string) error {
	lost := ""
	log, err := sqlite.ReadLog(path + "-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := os.Stat(path); statErr != nil {
			return nil //nolint:nilerr // it was stopped before there was a database
		}
		a.log.Warn().Msg("database: the last server was not stopped in good order, and there is no log; if somebody has removed it, what was stored last is lost")
	case err != nil:
		return fmt.Errorf("look at the log of the database: %w", err)
	case log.Lost():
		a.log.Error().Int("pages", log.Pages).Int("lostPages", log.LostPages).
			Msg("database: its log is damaged and ends early; what was stored last may be lost, compare with what was sent or with a backup")
		lost = "its log was damaged and ended early when the server started; what was stored last may be lost, compare with what was sent or with a backup"
	}
	a.told.note(engine.ServerDatabase, lost)
	return a.lookThrough(path, quickCheckSize)
}

// lookThrough looks through a database that is there and not larger than that, and
// refuses one whose structure is damaged.
func (a *app) lookThrough(path string, most int64) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Size() > most {
		return err
	}
	found, err := sqlite.QuickCheck(path)
	if err != nil || found == "" {
		return explainDatabase(a.settings.data, err)
	}
	return damagedDatabase(path, found)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
