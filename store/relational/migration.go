package relational

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Migrate performs those of the migrations that the database has not seen, in the order of
// their numbers, each in a transaction of its own. They are files of SQL that only go
// forward (package schema). The driver is handed each file whole: goose's own reader of SQL
// takes 4 MiB for each line that it looks at, which were 40 MiB of a first start.
func Migrate(ctx context.Context, dialect goose.Dialect, pool *sql.DB, migrations fs.FS) error {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return err
	}
	steps := make([]*goose.Migration, 0, len(names))
	for _, name := range names {
		number, err := goose.NumericComponent(name)
		if err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
		steps = append(steps, goose.NewGoMigration(number, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			text, err := fs.ReadFile(migrations, name)
			if err == nil {
				_, err = tx.ExecContext(ctx, string(text))
			}
			if err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
			return nil
		}}, nil))
	}
	provider, err := goose.NewProvider(dialect, pool, nil, goose.WithGoMigrations(steps...),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// NewestMigration returns the highest number that a file name of the migrations begins with.
func NewestMigration(migrations fs.FS) (newest int64, err error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		number, err := goose.NumericComponent(name)
		if err != nil {
			return 0, fmt.Errorf("migration %s: %w", name, err)
		}
		newest = max(newest, number)
	}
	return newest, nil
}
