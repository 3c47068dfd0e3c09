package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/engine/audit"
	"flowdrive/store/sqlite"
)

// errNotVerified says that the audit log could not be read. It makes the exit code 2.
var errNotVerified = errors.New("the audit log could not be read")

func auditCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "Look whether the audit log is as it was written", Args: cobra.NoArgs}
	cmd.AddCommand(auditVerifyCommand())
	return cmd
}

func auditVerifyCommand() *cobra.Command {
	var data string
	var known []string
	var db databaseSettings
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify the chain of the audit log, beside a running server or without one",
		Long: "Each line of the audit log has the SHA-256 of the line before. This reads all lines,\n" +
			"over all days, and names the first one that was changed, put in or taken out. That\n" +
			"lines are gone from the end is found by what the database remembers.\n\n" +
			"Who can write to the database can make a new chain. So write down what this prints\n" +
			"somewhere else, and give it back later: --known NUMBER:SHA256 says that the line\n" +
			"of that number must be there and be that one.\n\n" +
			"With --db the log in a PostgreSQL database is read, as it is at one instant.\n\n" +
			"Lines of releases without a chain have no numbers. They are counted; that one of\n" +
			"them was changed is not found.\n\n" +
			"It exits with 0 if all is as it was written, 1 if a line is not, 2 if it could not\n" +
			"look.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sums, err := parseKnown(known)
			if err != nil {
				return usageError{err}
			}
			if db.address == "" {
				return verifyAudit(cmd.Context(), filepath.Join(data, databaseName), sums, cmd.OutOrStdout())
			}
			s, err := openSnapshots(cmd.Context(), &db)
			if err != nil {
				return fmt.Errorf("%w: %w", errNotVerified, err)
			}
			path, err := s.take(cmd.Context())
			if err != nil {
				return errors.Join(fmt.Errorf("%w: %w", errNotVerified, err), s.close())
			}
			return errors.Join(verifyAudit(cmd.Context(), path, sums, cmd.OutOrStdout()), s.close())
		},
	}
	registerDataFolder(cmd.Flags(), &data)
	db.registerRead(cmd.Flags())
	cmd.Flags().StringArrayVar(&known, "known", nil, "a line that was there, as NUMBER:SHA256 (repeat it)")
	return cmd
}

// parseKnown reads lines given as NUMBER:SHA256.
func parseKnown(all []string) (map[int64][32]byte, error) {
	sums := map[int64][32]byte{}
	for _, one := range all {
		number, text, _ := strings.Cut(one, ":")
		n, err := strconv.ParseInt(number, 10, 64)
		sum, hexErr := hex.DecodeString(text)
		if err != nil || hexErr != nil || n < 1 || len(sum) != 32 {
			return nil, fmt.Errorf("--known: %q is not a valid NUMBER:SHA256", one)
		}
		sums[n] = [32]byte(sum)
	}
	return sums, nil
}

func verifyAudit(ctx context.Context, path string, known map[int64][32]byte, out io.Writer) (err error) {
	source, err := sqlite.OpenSource(ctx, path)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotVerified, explainDatabase(filepath.Dir(path), err))
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	newest, err := sqlite.NewestSchema()
	if err != nil {
		return fmt.Errorf("%w: %w", errNotVerified, err)
	}
	if source.Schema() != newest {
		return fmt.Errorf("%w: the database has schema version %d, this program reads version %d: use the program that used it last, or start this one's server once", errNotVerified, source.Schema(), newest)
	}
	report, err := audit.Verify(source.Reader().Audit(), known)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotVerified, explainDatabase(filepath.Dir(path), err))
	}
	if report.Broken != "" {
		return fmt.Errorf("the audit log is not as it was written: %s", report.Broken)
	}
	text := fmt.Sprintf("%d lines are as they were written; the last is %d:%x", report.Lines, report.Head.Number, report.Head.SHA256)
	if report.Unnumbered > 0 {
		text += fmt.Sprintf("\n%d older lines have no numbers and cannot be verified", report.Unnumbered)
	}
	_, err = fmt.Fprintln(out, text)
	return err
}
