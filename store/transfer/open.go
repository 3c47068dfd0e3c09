package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"flowdrive/store/postgres"
	"flowdrive/store/sqlite"
)

// Where says where a store is: in the file Path, or else in a PostgreSQL database. No
// server may use it meanwhile; of a PostgreSQL database this is seen to.
type Where struct {
	Path     string
	Postgres postgres.Options
}

// versionsAside is what the table with the version of the schema is called until a copy
// into PostgreSQL is finished: without it no server takes the database for one.
const versionsAside = "flowdrive_copying_versions"

// copyingSuffix is behind the name of a file until a copy into it is finished.
const copyingSuffix = ".copying"

// statementWithin is within what a statement on PostgreSQL must be done: the copy of a table
// is one.
const statementWithin = 24 * time.Hour

// OpenSource opens a store to be copied, as it is now.
func OpenSource(ctx context.Context, w Where) (*Database, error) {
	d, err := openSource(ctx, w)
	if err != nil {
		return nil, err
	}
	return opened(ctx, d)
}

// opened begins the transaction that sees a source as it is now.
func opened(ctx context.Context, d *Database) (*Database, error) {
	begin := `BEGIN`
	if d.postgres {
		begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
	}
	if err := errors.Join(d.use(ctx), d.run(ctx, begin), d.isNewest(ctx)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func openSource(ctx context.Context, w Where) (*Database, error) {
	if w.Path == "" {
		w.Postgres.Answer = statementWithin
		pool, err := postgres.OpenAlone(ctx, w.Postgres)
		if errors.Is(err, postgres.ErrStandby) {
			return nil, errors.New("a server uses the database that is to be copied; stop all its nodes")
		}
		return &Database{pool: pool, postgres: true}, err
	}
	s, err := sqlite.OpenSource(ctx, w.Path)
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return openFile(w.Path, "ro")
}

func openFile(path, mode string) (*Database, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode="+mode+"&_busy_timeout=5000&_foreign_keys=0")
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	return &Database{pool: pool}, nil
}

// isNewest refuses a database whose schema is not the one that this program makes.
func (d *Database) isNewest(ctx context.Context) error {
	newest, err := sqlite.NewestSchema()
	if err != nil {
		return err
	}
	if err := d.isStore(ctx); err != nil {
		return err
	}
	var version int64
	if err := d.conn.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&version); err != nil {
		return fmt.Errorf("the database is not one of Flowdrive: %w", err)
	}
	switch {
	case version > newest:
		return fmt.Errorf("the database has schema version %d, this program knows %d: it was last used by a newer program, use that one", version, newest)
	case version < newest:
		return fmt.Errorf("the database has schema version %d, this program reads version %d: start the server of this program on it once", version, newest)
	}
	return nil
}

// isStore refuses a database that has no version of the schema, and says what it is instead.
func (d *Database) isStore(ctx context.Context) error {
	count := `SELECT count(*), coalesce(sum(name = 'goose_db_version'), 0), coalesce(sum(name = '` + copyingTable + `'), 0)
		FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`
	if d.postgres {
		count = `SELECT count(*), count(*) FILTER (WHERE relname = 'goose_db_version'), count(*) FILTER (WHERE relname = '` + copyingTable + `')
			FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')`
	}
	var all, versions, cut int64
	if err := d.conn.QueryRowContext(ctx, count).Scan(&all, &versions, &cut); err != nil {
		return fmt.Errorf("look what the database is: %w", err)
	}
	switch {
	case cut > 0:
		return errors.New("a copy into the database was cut; run the same flowdrive copy again, which goes on with it")
	case all == 0:
		return errors.New("the database is empty; flowdrive serve makes the tables")
	case versions == 0:
		return errors.New("the database has tables of another program, it is not one of Flowdrive")
	}
	return nil
}

// OpenTarget opens the store that is copied into: an empty one, which it makes, or one into
// which a copy was cut. It refuses any other.
func OpenTarget(ctx context.Context, w Where) (d *Database, err error) {
	if w.Path == "" {
		d, err = openTargetPostgres(ctx, w.Postgres)
	} else {
		d, err = openTargetFile(ctx, w.Path)
	}
	if err != nil && d != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, err
}

func openTargetFile(ctx context.Context, path string) (*Database, error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("there is a database %s already; a copy is made into an empty folder", path), err)
	}
	copying := path + copyingSuffix
	if _, err := os.Lstat(copying); errors.Is(err, fs.ErrNotExist) {
		if err := makeFile(ctx, copying+".new", copying); err != nil {
			return nil, err
		}
	}
	d, err := openFile(copying, "rw")
	if err != nil {
		return nil, err
	}
	d.path = path
	return d, d.use(ctx)
}

// makeFile makes an empty store without triggers, which wait in a table until all rows are
// there: they would count them a second time.
func makeFile(ctx context.Context, making, path string) (err error) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(making + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	db, err := sqlite.Open(ctx, making, sqlite.Options{})
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	d, err := openFile(making, "rw")
	if err != nil {
		return err
	}
	if err := d.prepareFile(ctx); err != nil {
		return errors.Join(err, d.Close())
	}
	if err := d.Close(); err != nil {
		return err
	}
	return os.Rename(making, path)
}

func (d *Database) prepareFile(ctx context.Context) error {
	if err := d.use(ctx); err != nil {
		return err
	}
	// A log beside the file would not be renamed with it.
	if err := d.run(ctx, `PRAGMA journal_mode = DELETE`, `PRAGMA synchronous = FULL`); err != nil {
		return err
	}
	return d.inTransaction(ctx, func() error {
		if err := d.run(ctx, createCopying, `INSERT INTO flowdrive_copying (kind, name, body) SELECT 'trigger', name, sql FROM sqlite_schema WHERE type = 'trigger'`); err != nil {
			return err
		}
		var names []string
		if err := d.pairs(ctx, `SELECT name, body FROM flowdrive_copying WHERE kind = 'trigger'`, func(name, _ string) { names = append(names, name) }); err != nil {
			return err
		}
		for _, name := range names {
			if err := d.run(ctx, `DROP TRIGGER "`+name+`"`); err != nil {
				return err
			}
		}
		return d.clear(ctx)
	})
}

// clear removes the rows that a store has from the beginning.
func (d *Database) clear(ctx context.Context) error {
	for _, t := range d.tables {
		if isSeeded(t.name) {
			if err := d.run(ctx, `DELETE FROM "`+t.name+`"`); err != nil {
				return err
			}
		}
	}
	return nil
}

func openTargetPostgres(ctx context.Context, o postgres.Options) (*Database, error) {
	o.Answer = statementWithin
	pool, err := postgres.OpenAlone(ctx, o)
	if errors.Is(err, postgres.ErrStandby) {
		return nil, errors.New("a server uses the database that is to be copied into; stop all its nodes, and give an empty database")
	}
	if err != nil {
		return nil, err
	}
	d := &Database{pool: pool, postgres: true}
	if err := d.use(ctx); err != nil {
		return d, err
	}
	begun, err := d.has(ctx, copyingTable)
	if err != nil || begun {
		return d, err
	}
	if err := d.isEmpty(ctx); err != nil {
		return d, err
	}
	if err := d.Close(); err != nil { // frees the lock
		return nil, err
	}
	db, err := postgres.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	if d.pool, err = postgres.OpenAlone(ctx, o); err != nil {
		return nil, err
	}
	if err := d.use(ctx); err != nil {
		return d, err
	}
	return d, d.preparePostgres(ctx)
}

func (d *Database) has(ctx context.Context, name string) (has bool, err error) {
	err = d.conn.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&has)
	return has, err
}

// isEmpty refuses a database in which something is stored.
func (d *Database) isEmpty(ctx context.Context) error {
	for _, t := range d.tables {
		var some bool
		if err := d.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM "`+t.name+`")`).Scan(&some); err != nil {
			return err
		}
		if some && !isSeeded(t.name) {
			return fmt.Errorf("the database that is to be copied into is not empty: it has rows in the table %s; give an empty one", t.name)
		}
	}
	return nil
}

func (d *Database) preparePostgres(ctx context.Context) error {
	return d.inTransaction(ctx, func() error {
		if err := d.run(ctx, createCopying, `ALTER TABLE goose_db_version RENAME TO `+versionsAside); err != nil {
			return err
		}
		for _, t := range d.tables {
			if err := d.run(ctx, `ALTER TABLE "`+t.name+`" DISABLE TRIGGER USER`); err != nil {
				return err
			}
		}
		return d.clear(ctx)
	})
}

// finish makes the copy a store that servers can use.
func (d *Database) finish(ctx context.Context) error {
	if d.postgres {
		return d.inTransaction(ctx, func() error { return d.finishPostgres(ctx) })
	}
	var triggers []string
	if err := d.pairs(ctx, `SELECT name, body FROM flowdrive_copying WHERE kind = 'trigger' ORDER BY name`, func(_, body string) { triggers = append(triggers, body) }); err != nil {
		return err
	}
	err := d.inTransaction(ctx, func() error { return d.run(ctx, append(slices.Clip(triggers), `DROP TABLE flowdrive_copying`)...) })
	if err == nil {
		err = d.run(ctx, `PRAGMA journal_mode = WAL`)
	}
	if err := errors.Join(err, d.Close()); err != nil {
		return err
	}
	d.conn = nil
	return rename(d.path+copyingSuffix, d.path)
}

// rename renames a file, durably. What is in it is durable.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// identities sets what is numbered by the database behind the rows that there are.
const identities = `
	SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
	WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND a.attidentity <> ''`

func (d *Database) finishPostgres(ctx context.Context) error {
	var statements []string
	for _, t := range d.tables {
		statements = append(statements, `ALTER TABLE "`+t.name+`" ENABLE TRIGGER USER`)
	}
	err := d.pairs(ctx, identities, func(name, column string) {
		if !isOwn(name) {
			statements = append(statements, fmt.Sprintf(`SELECT setval(pg_get_serial_sequence('"%[1]s"', '%[2]s'), coalesce(max("%[2]s"), 0) + 1, false) FROM "%[1]s"`, name, column))
		}
	})
	if err != nil {
		return err
	}
	return d.run(ctx, append(statements, `ALTER TABLE `+versionsAside+` RENAME TO goose_db_version`, `DROP TABLE flowdrive_copying`)...)
}

// IsUnfinished reports whether a file is what a copy into the database file of that path was cut
// at.
func IsUnfinished(database, file string) bool {
	rest, ok := strings.CutPrefix(file, database+copyingSuffix)
	return ok && slices.Contains([]string{"", "-journal", ".new", ".new-wal", ".new-shm", ".new-journal"}, rest)
}
