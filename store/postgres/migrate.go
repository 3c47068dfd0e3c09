package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"flowdrive/internal/errs"
	"flowdrive/schema"
	"flowdrive/store/relational"
)

const selectVersion = `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`

// migrateWithin is within what a statement of a migration must be done.
const migrateWithin = time.Hour

// migrate brings the schema up to the newest migration. Who calls it holds the lock. A
// schema that is up to date costs two small queries.
func migrate(ctx context.Context, o Options, by *conn) (err error) {
	const op = "bring the database's schema up to date"
	newest, err := newestMigration()
	if err != nil {
		return errs.Wrap(op, err)
	}
	version, err := schemaVersion(ctx, by)
	if err != nil {
		return failure(op, err)
	}
	if version > newest {
		return refused{refusal("The database has schema version %d, this program knows %d: it was last used by a newer program, start that one.", version, newest)}
	}
	if version == newest {
		return nil
	}
	cfg, err := pgx.ParseConfig(o.Address)
	if err != nil {
		return refused{err}
	}
	o.Answer = migrateWithin
	to, err := o.config()
	if err != nil {
		return err
	}
	cfg.Config = *to
	pool := stdlib.OpenDB(*cfg)
	defer func() { err = errors.Join(err, failure(op, pool.Close())) }()
	return failure(op, relational.Migrate(ctx, goose.DialectPostgres, pool, schema.PostgreSQLMigrations()))
}

// schemaVersion returns the number of the last migration, 0 for an empty database.
func schemaVersion(ctx context.Context, by *conn) (int64, error) {
	result := by.pg.ExecParams(ctx, isFlowdrive, nil, nil, nil, nil).Read()
	if result.Err != nil {
		return 0, result.Err
	}
	all, versions, ours, cut := string(result.Rows[0][0]), string(result.Rows[0][1]), string(result.Rows[0][2]), string(result.Rows[0][3])
	switch {
	case all == "0":
		return 0, nil
	case cut != "0":
		return 0, unfinished()
	case versions == "0" || ours == "0" && all != "1":
		return 0, foreign()
	}
	result = by.pg.ExecParams(ctx, selectVersion, nil, nil, nil, nil).Read()
	if result.Err != nil {
		return 0, result.Err
	}
	return strconv.ParseInt(string(result.Rows[0][0]), 10, 64)
}

// foreign returns that the database is another program's.
func foreign() error {
	return refused{refusal("The database has tables of another program; give Flowdrive a database of its own.")}
}

// CopyingTable is the table that a database has until a copy into it is finished.
const CopyingTable = "flowdrive_copying"

// unfinished returns that a copy into the database was cut.
func unfinished() error {
	return refused{refusal("A copy into the database was cut; run the same flowdrive copy again, which goes on with it.")}
}

// newestMigration returns the number of the newest migration that this program knows.
func newestMigration() (int64, error) {
	return relational.NewestMigration(schema.PostgreSQLMigrations())
}
