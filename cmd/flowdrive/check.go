package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"flowdrive/internal/clock"
	"flowdrive/store/backup"
	"flowdrive/store/check"
)

// errNotChecked says that a check could not look. It makes the exit code 2.
var errNotChecked = errors.New("nothing was checked")

func checkCommand() *cobra.Command {
	var data string
	var repair bool
	var db databaseSettings
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check a data folder or a database, beside a running server or without one",
		Long: "Checks the structure of the database and what must hold between its rows, the\n" +
			"SHA-256 of each content, that each reference has its content and each content is\n" +
			"known, and what is stored of each case and schedule entry: forms, due times,\n" +
			"and that an active case is at rest. It prints a line for each finding:\n" +
			"<kind> <id> <path>: <text>, without the path if it is the id. What it cannot judge,\n" +
			"as a case whose expressions cost too much, has \"not judged\" there and is not a fault.\n\n" +
			"--repair-orphans removes files of contents that the database does not know; no\n" +
			"server may be running.\n\n" +
			"With --db the tables of a PostgreSQL database are copied, as they are at one instant,\n" +
			"into a SQLite file in the folder for temporary files (TMPDIR), and checked there: it\n" +
			"needs that much room. Whether PostgreSQL's own files are sound is checked by pg_amcheck.\n\n" +
			"It exits with 0 if nothing was found, 1 if something was, 2 if it could not look.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if db.address != "" {
				if repair {
					return usageError{errors.New("--repair-orphans is for data folders; the active node of --db removes what nothing refers to")}
				}
				return checkPostgres(cmd, &db)
			}
			place, err := placeOfContents(data)
			if err != nil {
				return fmt.Errorf("%w: %w", errNotChecked, err)
			}
			return runCheck(cmd.Context(), check.Config{Data: data, Place: place, Repair: repair, Zones: new(clock.Zones).Zone}, cmd)
		},
	}
	registerDataFolder(cmd.Flags(), &data)
	db.registerRead(cmd.Flags())
	cmd.Flags().BoolVar(&repair, "repair-orphans", false, "remove files of contents that the database does not know")
	return cmd
}

func runCheck(ctx context.Context, c check.Config, cmd *cobra.Command) (err error) {
	if c.Repair {
		unlock, err := lockExisting(c.Data)
		if err != nil {
			return fmt.Errorf("%w: %w", errNotChecked, err)
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	found := 0
	c.Report = func(f check.Finding) error {
		if !f.Unjudged {
			found++
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), f)
		return err
	}
	shown := newProgress(cmd.ErrOrStderr(), "checking contents")
	c.Progress = func(done, all int64) { shown.show(backup.Progress{Done: done, All: all}) }
	err = check.Run(ctx, c)
	shown.end()
	if err != nil {
		return fmt.Errorf("%w: %w", errNotChecked, err)
	}
	if found > 0 {
		return fmt.Errorf("what was found: %d", found)
	}
	return nil
}

// checkPostgres checks a PostgreSQL database and its contents.
func checkPostgres(cmd *cobra.Command, db *databaseSettings) (err error) {
	s, err := openSnapshots(cmd.Context(), db)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotChecked, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return runCheck(cmd.Context(), check.Config{Place: s.place, Snapshot: s.take, Zones: new(clock.Zones).Zone}, cmd)
}
