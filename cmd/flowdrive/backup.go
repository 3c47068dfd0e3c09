package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"flowdrive/engine"
	"flowdrive/internal/plaintext"
	"flowdrive/store/backup"
	"flowdrive/store/sqlite"
)

func backupCommand() *cobra.Command {
	var data, keep string
	var db databaseSettings
	cmd := &cobra.Command{
		Use:   "backup DEST",
		Short: "Back up the data folder, beside a running server or without one",
		Long: "Writes the database and all contents, as they are at one instant, into a new\n" +
			"folder DEST/<instant>, and then manifest.json with the SHA-256 of each file. A\n" +
			"folder without a manifest is not a backup. Contents that an earlier backup in\n" +
			"DEST has are linked, not copied. With - for DEST the database alone is written to\n" +
			"standard output.\n\n" +
			"--keep 7d,4w,12m keeps the newest backup of each of the last 7 days, 4 weeks and\n" +
			"12 months that have one, and removes the others of this data folder from DEST.\n\n" +
			"It exits with 1 if the backup was not made, or if contents are missing in it\n" +
			"because they are damaged in the data folder.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if db.address != "" {
				return usageError{errors.New("--db: back a PostgreSQL database up by its own means, such as pg_dump --format=custom or pgBackRest, which see all tables and the contents in rows as they are at one instant; a bucket of --contents is copied after that")}
			}
			c := backup.Config{Data: data, To: args[0], Version: version(), Now: time.Now}
			if keep != "" {
				var err error
				if c.Keep, err = backup.ParseKeep(keep); err != nil {
					return usageError{fmt.Errorf("--keep: %w", err)}
				}
			}
			if args[0] == "-" {
				return backupToOutput(cmd.Context(), data, cmd.OutOrStdout())
			}
			var err error
			if c.Place, err = placeOfContents(data); err != nil {
				return err
			}
			return runBackup(cmd.Context(), c, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	registerDataFolder(cmd.Flags(), &data)
	cmd.Flags().StringVar(&db.address, "db", "", "refused, with the tools of PostgreSQL that do it")
	cmd.Flags().StringVar(&keep, "keep", "", "how many backups stay, such as 7d,4w,12m: the newest of each day, week, month (default: all)")
	return cmd
}

// registerDataFolder registers the flag of commands that need a data folder which
// is there.
func registerDataFolder(flags *pflag.FlagSet, data *string) {
	flags.StringVar(data, "data", "./data", "data folder")
}

// runBackup makes a backup and says what was made.
func runBackup(ctx context.Context, c backup.Config, stdout, stderr io.Writer) error {
	begin := time.Now()
	// What people wait for goes first.
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10)
	var err error
	if c.Host, err = os.Hostname(); err != nil {
		return fmt.Errorf("find the name of this machine: %w", err)
	}
	shown := newProgress(stderr, "backing up")
	c.Progress = shown.show
	r, err := backup.Make(ctx, c)
	shown.end()
	if r == nil || r.Manifest == nil {
		return err
	}
	var b strings.Builder
	for _, path := range r.Abandoned {
		fmt.Fprintf(&b, "Removed %s, which was not finished.\n", path)
	}
	fmt.Fprintf(&b, "Backup %s: %s in %s, of which %d were linked; %s.\n", r.Path, plaintext.Size(r.Bytes), english.Plural(len(r.Files), "file", ""), r.Linked, durationText(time.Since(begin)))
	for _, path := range r.Removed {
		fmt.Fprintf(&b, "Removed %s, which --keep does not ask for.\n", path)
	}
	if _, writeErr := io.WriteString(stdout, b.String()); writeErr != nil {
		return errors.Join(err, writeErr)
	}
	return errors.Join(err, missingContents(r.Manifest))
}

// missingContents says which contents are not in a backup.
func missingContents(m *backup.Manifest) error {
	var all []error
	for _, content := range m.Missing {
		all = append(all, fmt.Errorf("the content %s is not in the backup: %s", content.SHA256, content.Reason))
	}
	if len(all) > 0 {
		all = append(all, errors.New("everything else is in the backup; flowdrive check says what the missing contents are of"))
	}
	return errors.Join(all...)
}

// backupToOutput writes the database alone.
func backupToOutput(ctx context.Context, data string, stdout io.Writer) (err error) {
	if f, ok := stdout.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		return usageError{errors.New("backup -: standard output is a terminal; send the database into a file or another program")}
	}
	source, err := sqlite.OpenSource(ctx, filepath.Join(data, databaseName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	folder, err := os.MkdirTemp("", "flowdrive-backup-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, databaseName)
	if err := source.Copy(ctx, path, func(int64, int64) {}); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = io.Copy(stdout, f)
	return err
}

func restoreCommand() *cobra.Command {
	var (
		data, into string
		sandbox    bool
	)
	cmd := &cobra.Command{
		Use:   "restore SRC",
		Short: "Make a new data folder from a backup",
		Long: "Copies the backup in the folder SRC, which has a manifest.json, into the data\n" +
			"folder, and compares each file with its SHA-256. The data folder must not exist or\n" +
			"be empty. If anything is not as it should be, nothing is restored. With --contents the\n" +
			"contents are stored there, and the data folder remembers it.\n\n" +
			"With --sandbox the folder is one for flowdrive serve --sandbox alone, to try out a\n" +
			"backup: nothing leaves it, also not what was to be sent when the backup was made.\n\n" +
			"It exits with 1 if nothing was restored, or if contents are missing in the backup.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRestore(cmd, args[0], data, into, sandbox)
		},
	}
	cmd.Flags().StringVar(&data, "data", "./data", "data folder; it must not exist or be empty")
	cmd.Flags().StringVar(&into, "contents", "", "where contents are to lie, as for serve (default: files in the data folder)")
	cmd.Flags().BoolVar(&sandbox, "sandbox", false, "make a sandbox of it, which nothing leaves: for flowdrive serve --sandbox")
	return cmd
}

// makeSandbox makes a sandbox of a database that was just restored, before a server could open it
// as a real one and send what is due.
func makeSandbox(ctx context.Context, database string) error {
	db, err := sqlite.Open(ctx, database, sqlite.Options{})
	if err != nil {
		return err
	}
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	written := make(chan error, 1)
	go func() { written <- db.Run(writing) }()
	err = engine.MakeSandbox(ctx, db)
	stop()
	return errors.Join(err, <-written, db.Close())
}

func runRestore(cmd *cobra.Command, src, data, contents string, sandbox bool) error {
	if err := notInUse(data); err != nil {
		return err
	}
	into, err := restoreContents(contents)
	if err != nil {
		return err
	}
	shown := newProgress(cmd.ErrOrStderr(), "restoring")
	how := backup.Restoration{Into: into, Progress: shown.show}
	if sandbox {
		how.Prepare = makeSandbox
	}
	m, err := backup.Restore(cmd.Context(), src, data, how)
	shown.end()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Restored %s as of %s: %s in %s (users: %d, routes: %d, schedule entries: %d, cases: %d, documents: %d).\n",
		data, m.Instant.Format(time.RFC3339), plaintext.Size(m.Bytes), english.Plural(len(m.Files), "file", ""), m.Counts.Users, m.Counts.Routes, m.Counts.Entries, m.Counts.Cases, m.Counts.Documents)
	if sandbox && err == nil {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "It is a sandbox: flowdrive serve --sandbox now --data %s\n", data)
	}
	return errors.Join(err, missingContents(m))
}

// notInUse refuses a data folder that a server has open.
func notInUse(data string) error {
	unlock, err := lockExisting(data)
	if errors.Is(err, errLocked) {
		return err
	}
	if err != nil {
		return nil //nolint:nilerr // without the file nobody has it open, and the restoration says what else is wrong
	}
	return unlock()
}
