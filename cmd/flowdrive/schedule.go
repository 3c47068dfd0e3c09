package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/schedule"
)

func scheduleCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "schedule", Short: "Look at schedule entries, and change those of a server"}
	var n int
	var from string
	next := &cobra.Command{
		Use:   "next FILE",
		Short: "Print the coming instants of an entry, with its meaning in words",
		Long:  "Reads a schedule entry as it would be PUT below /dav/Workflow/Schedule/ (- for\nstandard input) and prints what it means and when it happens, in UTC.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			start := clock.Real{}.Now()
			if from != "" {
				t, err := schedule.ParseTimeText(from)
				if err != nil {
					return usageError{fmt.Errorf("--from: %w", err)}
				}
				start = t
			}
			return scheduleNext(cmd.InOrStdin(), cmd.OutOrStdout(), args[0], start, n)
		},
	}
	next.Flags().IntVarP(&n, "number", "n", 10, "how many instants")
	next.Flags().StringVar(&from, "from", "", "the instant to start from (default: now)")
	cmd.AddCommand(next)
	cmd.AddCommand(remoteCommands().ScheduleCommands()...)
	return cmd
}

func scheduleNext(stdin io.Reader, stdout io.Writer, path string, from time.Time, n int) error {
	if n < 1 || n > 100_000 {
		return usageError{fmt.Errorf("-n must be from 1 to 100000")}
	}
	data, err := readFile(stdin, path)
	if err != nil {
		return err
	}
	parse := document.ParseJSON
	if isYAML(path, data) {
		parse = document.ParseYAML
	}
	node, err := parse(data)
	if err != nil {
		return errors.New(strings.Join(faultLines(path, err), "\n"))
	}
	var faults document.Faults
	entry := schedule.Read(document.Root(node, &faults), from, nil, new(clock.Zones).Zone)
	if err := faults.Err(); err != nil {
		return errors.New(strings.Join(faultLines(path, err), "\n"))
	}
	var b strings.Builder
	fmt.Fprintln(&b, entry.Describe())
	if entry.ExcludeCalendar != "" {
		fmt.Fprintf(&b, "the days that %s excludes are on the drive; they are not left out here\n", entry.ExcludeCalendar)
	}
	for _, t := range schedule.Preview(entry, from, n) {
		fmt.Fprintln(&b, t.UTC().Format("2006-01-02T15:04:05Z Mon"))
	}
	_, err = io.WriteString(stdout, b.String())
	return err
}

// isYAML reports whether a document is read as YAML: by the name of its file, and if that
// does not say by how it begins.
func isYAML(path string, data []byte) bool {
	switch filepath.Ext(path) {
	case ".json":
		return false
	case ".yaml", ".yml":
		return true
	}
	return !strings.HasPrefix(strings.TrimSpace(string(data)), "{")
}

// readFile reads a file, or standard input if the path is "-".
func readFile(stdin io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(stdin, 16<<20))
	}
	return os.ReadFile(path)
}
