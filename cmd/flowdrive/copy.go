package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"flowdrive/attach"
	"flowdrive/internal/plaintext"
	"flowdrive/store/backup"
	"flowdrive/store/contentrows"
	"flowdrive/store/postgres"
	"flowdrive/store/transfer"
)

// copyEnd is one end of a copy: a data folder, or the URL of a database.
type copyEnd struct {
	flag         string // that names it
	at           string
	passwordFile string
	password     string // if no file has it
	contents     string // of the target: where contents are to lie
}

func copyCommand() *cobra.Command {
	from, to := copyEnd{flag: "--from"}, copyEnd{flag: "--to"}
	cmd := &cobra.Command{
		Use:   "copy --from A --to B",
		Short: "Copy everything from a data folder into a PostgreSQL database, or back",
		Long: "Copies all tables and contents from A into B, compares each with its copy, and then\n" +
			"makes B one that a server can use. A and B are data folders, or URLs of PostgreSQL\n" +
			"databases such as postgres://flowdrive@db1/flow. B must be empty. No server may use\n" +
			"either. A stays as it was. If it is interrupted, the same command goes on.\n\n" +
			"Passwords are found in .pgpass, or in the files of --from-password-file and\n" +
			"--to-password-file. Contents are copied into the data folder or the database, or to where\n" +
			"--to-contents says.\n\n" +
			"It exits with 1 if nothing was made that can be used, or if contents are missing because\n" +
			"they are damaged in A.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(from.fault(), to.fault()); err != nil {
				return err
			}
			return runCopy(cmd, &from, &to)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&from.at, "from", "", "data folder or URL of the database that is copied")
	flags.StringVar(&to.at, "to", "", "data folder or URL of the database that is copied into; it must be empty")
	flags.StringVar(&from.passwordFile, "from-password-file", "", "file with the password for --from (default: PGPASSWORD or .pgpass)")
	flags.StringVar(&to.passwordFile, "to-password-file", "", "file with the password for --to (default: PGPASSWORD or .pgpass)")
	flags.StringVar(&to.contents, "to-contents", "", "where contents are to lie, as --contents of serve (default: in the data folder or the database)")
	return cmd
}

// fault says what is wrong with what the flag names.
func (e *copyEnd) fault() error {
	flag := e.flag
	switch {
	case e.at == "":
		return usageError{fmt.Errorf("%s is missing", flag)}
	case !postgres.IsAddress(e.at) && e.passwordFile != "":
		return usageError{fmt.Errorf("%[1]s-password-file has no effect, as %[1]s is a folder", flag)}
	case !postgres.IsAddress(e.at) && strings.Contains(e.at, "://"): // no folder is meant
		return usageError{fmt.Errorf("%s: %w", flag, postgres.CheckAddress(e.at))}
	case !postgres.IsAddress(e.at):
		return nil
	case postgres.HasPassword(e.at):
		return usageError{fmt.Errorf("%s: %s has a password in it, which others could read; give it by %[1]s-password-file or .pgpass", flag, postgres.Redacted(e.at))}
	}
	if err := postgres.CheckAddress(e.at); err != nil {
		return usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	return nil
}

// where returns where the tables are.
func (e *copyEnd) where() (w transfer.Where, err error) {
	if !postgres.IsAddress(e.at) {
		return transfer.Where{Path: filepath.Join(e.at, databaseName)}, nil
	}
	w.Postgres = postgres.Options{Address: e.at, Password: e.password, Flag: e.flag, Node: "copy", Now: time.Now}
	if e.passwordFile != "" {
		if w.Postgres.Password, err = readSecretFile(e.passwordFile); err != nil {
			return w, usageError{fmt.Errorf("read the password: %w", err)}
		}
	}
	return w, nil
}

// home opens the home of the contents, and the folder in which they wait.
func (e *copyEnd) home(ctx context.Context, w transfer.Where) (home attach.Home, local *attach.Folder, closeHome func() error, err error) {
	if w.Path != "" {
		local, err = attach.Open(filepath.Join(e.at, contentsName))
		return local, local, func() error { return nil }, err
	}
	waiting, err := os.MkdirTemp("", "flowdrive-copy-")
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	remove := func() error { return os.RemoveAll(waiting) }
	if local, err = attach.Open(waiting); err != nil {
		return nil, nil, nil, errors.Join(err, remove())
	}
	to, err := w.Postgres.Connection()
	if err != nil {
		return nil, nil, nil, errors.Join(err, remove())
	}
	rows, err := contentrows.Open(ctx, to, "", local, nil)
	if err != nil {
		return nil, nil, nil, errors.Join(err, remove())
	}
	return rows, local, func() error {
		rows.Close()
		return remove()
	}, nil
}

// source opens what is copied.
func (e *copyEnd) source(ctx context.Context) (db *transfer.Database, place attach.Place, closeAll func() error, err error) {
	w, err := e.where()
	if err != nil {
		return nil, nil, nil, err
	}
	unlock := func() error { return nil }
	if w.Path != "" {
		unlock, err = lockExisting(e.at)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is not a data folder of Flowdrive", e.at)
		}
		if err != nil {
			return nil, nil, nil, fmt.Errorf("--from: %w", err)
		}
	}
	if db, err = transfer.OpenSource(ctx, w); err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("--from: %w", err), unlock())
	}
	closeHome := func() error { return nil }
	if w.Path != "" {
		place, err = placeOfContents(e.at)
	} else {
		place, closeHome, err = e.sharedPlace(ctx, w)
	}
	closeAll = func() error { return errors.Join(closeHome(), db.Close(), unlock()) }
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("--from: %w", err), db.Close(), unlock())
	}
	return db, place, closeAll, nil
}

// sharedPlace returns where the contents of a database lie.
func (e *copyEnd) sharedPlace(ctx context.Context, w transfer.Where) (attach.Place, func() error, error) {
	home, local, closeHome, err := e.home(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	l, err := home.Location()
	if err != nil || l.At == "" {
		return home, closeHome, err
	}
	b, err := openBucket(l, local)
	return b, closeHome, err
}

// target opens what is copied into.
func (e *copyEnd) target(ctx context.Context) (db *transfer.Database, place attach.Keeper, closeAll func() error, err error) {
	w, err := e.where()
	if err != nil {
		return nil, nil, nil, err
	}
	unlock := func() error { return nil }
	if w.Path != "" {
		if unlock, err = e.claim(); err != nil {
			return nil, nil, nil, fmt.Errorf("--to: %w", err)
		}
	}
	if db, err = transfer.OpenTarget(ctx, w); err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("--to: %w", err), unlock())
	}
	home, local, closeHome, err := e.home(ctx, w)
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("--to: %w", err), db.Close(), unlock())
	}
	closeAll = func() error { return errors.Join(closeHome(), db.Close(), unlock()) }
	if place, err = (&settings{contents: e.contents}).openContents(home, local, zerolog.Nop()); err != nil {
		return nil, nil, nil, errors.Join(err, closeAll())
	}
	return db, place, closeAll, nil
}

// claim locks a folder that is empty, or into which a copy was cut.
func (e *copyEnd) claim() (unlock func() error, err error) {
	if unlock, err = lockFolder(e.at); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(e.at)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	for _, entry := range entries {
		switch entry.Name() {
		case lockName, contentsName:
		default:
			if !transfer.IsUnfinished(filepath.Join(e.at, databaseName), filepath.Join(e.at, entry.Name())) {
				return nil, errors.Join(fmt.Errorf("the folder %s is not empty (it has %s); give an empty one, so that nothing is overwritten", e.at, entry.Name()), unlock())
			}
		}
	}
	return unlock, nil
}

func runCopy(cmd *cobra.Command, from, to *copyEnd) (err error) {
	ctx := cmd.Context()
	source, fromPlace, closeSource, err := from.source(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSource()) }()
	target, toPlace, closeTarget, err := to.target(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTarget()) }()
	shown := newProgress(cmd.ErrOrStderr(), "copying")
	r, err := transfer.Copy(ctx, transfer.Config{
		From: source, To: target, Source: fromPlace, Target: toPlace,
		Progress: func(what transfer.What, done, all int64) {
			shown.what = "copying " + what.Name
			if what.Bytes {
				shown.show(backup.Progress{Done: done, All: all})
			} else {
				shown.showRows(done, all)
			}
		},
	})
	shown.end()
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; the same command goes on with it")
	case err != nil:
		return err
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Copied and compared: %d rows of %d tables, %s in %d contents. The digest of all rows is %s.\n",
		r.Rows, r.Tables, plaintext.Size(r.Bytes), r.Contents, r.Digest); err != nil {
		return err
	}
	var missing []error
	for _, text := range r.Missing {
		missing = append(missing, fmt.Errorf("the content %s; it was not copied", text))
	}
	return errors.Join(missing...)
}
