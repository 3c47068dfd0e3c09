package sqlite

import (
	"context"
	"database/sql"
	"io/fs"

	"github.com/pressly/goose/v3"

	"flowdrive/internal/errs"
	"flowdrive/schema"
	"flowdrive/store/relational"
)

const (
	// countTables counts everything in the schema, and in it the table in which
	// goose keeps its notes, and returns whose database it is.
	countTables = `
		SELECT count(*), count(*) FILTER (WHERE type = 'table' AND name = 'goose_db_version'),
			(SELECT application_id FROM pragma_application_id)
		FROM sqlite_schema`

	// applicationID is that of Flowdrive. The first migration sets it.
	applicationID = 0x46445256
	selectVersion = `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`
)

// migrate brings the schema up to the newest migration, each in a transaction
// of its own. A schema that is up to date costs two small queries: goose is
// used only if there is something to do.
func migrate(ctx context.Context, pool *sql.DB, migrations fs.FS) error {
	const op = "bring the database's schema up to date"
	newest, err := relational.NewestMigration(migrations)
	if err != nil {
		return errs.Wrap(op, err)
	}
	version, err := schemaVersion(ctx, pool)
	if err != nil {
		return failure(op, err)
	}
	if version > newest {
		return newerSchema(version, newest)
	}
	if version == newest {
		return nil
	}
	return failure(op, relational.Migrate(ctx, goose.DialectSQLite3, pool, migrations))
}

// newerSchema is the refusal of a database that a newer program has used.
func newerSchema(version, newest int64) error {
	return errs.New(errs.Unavailable,
		"The database has schema version %d, this program knows %d: it was last used by a newer program, start that one.", version, newest)
}

// schemaVersion returns the number of the last migration, 0 for an empty
// database.
func schemaVersion(ctx context.Context, pool *sql.DB) (version int64, err error) {
	var all, versions, application int
	if err := pool.QueryRowContext(ctx, countTables).Scan(&all, &versions, &application); err != nil {
		return 0, err
	}
	switch {
	case all == 0:
		return 0, nil
	case versions == 0:
		return 0, errs.New(errs.Unavailable, "The file has tables of another program; it is not a Flowdrive database.")
	case application == 0:
		err := pool.QueryRowContext(ctx, selectVersion).Scan(&version)
		if err == nil && version > 0 {
			return 0, errs.New(errs.Unavailable, "The database was made by a build of Flowdrive before its first release, and cannot be opened; begin with a new data folder.")
		}
		return version, err // all is undone of the first migration that failed
	case application != applicationID:
		return 0, errs.New(errs.Unavailable, "The file is a database of another program, not of Flowdrive.")
	}
	err = pool.QueryRowContext(ctx, selectVersion).Scan(&version)
	return version, err
}

// NewestSchema returns the number of the newest migration that this program knows.
func NewestSchema() (int64, error) {
	newest, err := relational.NewestMigration(schema.Migrations())
	return newest, errs.Wrap("read the migrations", err)
}
