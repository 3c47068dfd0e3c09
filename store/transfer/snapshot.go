package transfer

import (
	"context"
	"errors"
	"fmt"

	"flowdrive/store/postgres"
)

// CheckSource says what is wrong with a PostgreSQL database from which a snapshot is to be
// made, nil for nothing.
func CheckSource(ctx context.Context, o postgres.Options) error {
	d, err := openBeside(ctx, o)
	if err != nil {
		return err
	}
	return d.Close()
}

// Snapshot copies the tables of a PostgreSQL database, as they are at one instant, into a new
// SQLite file. Nodes may go on meanwhile. Contents that are not in those tables stay
// where they are.
func Snapshot(ctx context.Context, o postgres.Options, path string) (err error) {
	from, err := openBeside(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := openTargetFile(ctx, path)
	if err != nil {
		return err
	}
	c := &Config{From: from, To: to, Progress: func(What, int64, int64) {}}
	if err := c.copyTables(ctx); err != nil {
		return errors.Join(err, to.Close())
	}
	return to.finish(ctx)
}

// copyTables copies all tables.
func (c *Config) copyTables(ctx context.Context) error {
	tables, err := sameTables(c.From, c.To)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := c.copyTable(ctx, t); err != nil {
			return fmt.Errorf("copy the table %s: %w", t.name, err)
		}
	}
	return nil
}

// openBeside opens a PostgreSQL database as it is now, beside nodes that may be active.
func openBeside(ctx context.Context, o postgres.Options) (*Database, error) {
	o.Answer = statementWithin
	pool, err := postgres.OpenBeside(ctx, o)
	if err != nil {
		return nil, err
	}
	return opened(ctx, &Database{pool: pool, postgres: true})
}
