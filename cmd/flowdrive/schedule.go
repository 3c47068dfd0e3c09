package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/cmd/flowdrive/remote"
	"flowdrive/engine/calendar"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
	"flowdrive/internal/ical"
	"flowdrive/schedule"
)

func scheduleCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "schedule", Short: "Look at schedule entries, and change those of a server"}
	cmd.AddCommand(scheduleNextCommand())
	cmd.AddCommand(remoteCommands().ScheduleCommands()...)
	return cmd
}

func scheduleNextCommand() *cobra.Command {
	var n int
	var from string
	next := output.Formats(&cobra.Command{
		Use:   "next ENTRY|FILE",
		Short: "Print the coming instants of an entry, with its meaning in words",
		Long: "Prints what an entry means and when it happens, in UTC and in its own time zone. A FILE has the entry\n" +
			"as it would be PUT below /dav/Workflow/Schedule/; - is the standard input. If there is no such file, it is\n" +
			"an ENTRY of the server, whose days off are left out. " + remote.EntryNames,
		Example: "  flowdrive schedule next Nightly\n  flowdrive schedule next nightly.yaml -n 3 --from 2026-12-24",
		Args:    cobra.ExactArgs(1),
	})
	next.Flags().IntVarP(&n, "number", "n", 10, "how many instants")
	next.Flags().StringVar(&from, "from", "", "the instant to start from (default: now)")
	return remoteCommands().AboutEntry(next, func(cmd *cobra.Command, args []string, printer output.Printer, onServer remote.EntrySource) error {
		if n < 1 || n > 100_000 {
			return usageError{fmt.Errorf("-n must be from 1 to 100000")}
		}
		var start time.Time
		if from != "" {
			var err error
			if start, err = schedule.ParseTimeText(from); err != nil {
				return usageError{fmt.Errorf("--from: %w", err)}
			}
		}
		var entry *schedule.Entry
		var note string
		data, err := readFile(cmd.InOrStdin(), args[0])
		switch {
		case err == nil:
			start = orTime(start, clock.Real{}.Now())
			entry, err = entryOf(args[0], data, start)
			if err == nil && entry.ExcludeCalendar != "" {
				note = fmt.Sprintf("the days that %s excludes are on the drive; they are not left out here", entry.ExcludeCalendar)
			}
		case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR)) && (onServer.LoggedIn() || filepath.Ext(args[0]) == ""):
			entry, note, err = entryOnServer(cmd.Context(), onServer, args[0])
			start = orTime(start, onServer.Now(cmd.Context()))
		}
		if err != nil {
			return err
		}
		return showNext(printer, entry, note, schedule.Preview(entry, start, n))
	})
}

func orTime(t, otherwise time.Time) time.Time {
	if t.IsZero() {
		return otherwise
	}
	return t
}

// entryOf reads an entry from a file.
func entryOf(path string, data []byte, now time.Time) (*schedule.Entry, error) {
	parse := document.ParseJSON
	if isYAML(path, data) {
		parse = document.ParseYAML
	}
	node, err := parse(data)
	if err != nil {
		return nil, errors.New(strings.Join(output.FaultLines(path, err), "\n"))
	}
	var faults document.Faults
	entry := schedule.Read(document.Root(node, &faults), now, nil, new(clock.Zones).Zone)
	if err := faults.Err(); err != nil {
		return nil, errors.New(strings.Join(output.FaultLines(path, err), "\n"))
	}
	return entry, nil
}

// entryOnServer reads an entry of the server, which passes over the days off of its calendar. A
// note says so if it does not.
func entryOnServer(ctx context.Context, server remote.EntrySource, name string) (entry *schedule.Entry, note string, err error) {
	found, err := server.Find(ctx, name)
	if err != nil {
		return nil, "", err
	}
	zones := new(clock.Zones).Zone
	if entry, err = schedule.ReadForm(found.Raw(), zones); err != nil {
		return nil, "", fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	at := entry.ExcludeCalendar
	if at == "" {
		return entry, "", nil
	}
	now := server.Now(ctx)
	var off []schedule.Span
	data, err := server.ReadFile(ctx, at, ical.MaxSize+1)
	if err == nil {
		off, err = calendar.DaysOff(data, entry.Timezone, zones, now)
	}
	if err != nil {
		return entry, fmt.Sprintf("the days that %s excludes are not left out here: %s", at, calendar.DetailOf(err)), nil
	}
	entry.Observe(off, now)
	return entry, "", nil
}

// showNext prints what an entry means, and its instants.
func showNext(p output.Printer, entry *schedule.Entry, note string, instants []time.Time) error {
	zone := new(clock.Zones).Zone(entry.Timezone)
	items := make([]output.Item, len(instants))
	for i, t := range instants {
		const plain = time.RFC3339
		local := t.UTC()
		if zone != nil {
			local = t.In(zone)
		}
		raw, err := json.Marshal(map[string]string{"instant": t.UTC().Format(plain), "local": local.Format(plain)})
		if err != nil {
			return err
		}
		items[i] = output.Item{JSON: raw, Name: t.UTC().Format(plain)}
	}
	if p.Format != "" {
		return p.Show(nil, items)
	}
	var b strings.Builder
	fmt.Fprintln(&b, entry.Describe())
	if note != "" {
		fmt.Fprintln(&b, output.Clean(note))
	}
	switch {
	case entry.Paused:
		fmt.Fprintln(&b, "Nothing is to come: the entry is paused.")
	case len(instants) == 0:
		fmt.Fprintln(&b, "Nothing is to come.")
	}
	for _, t := range instants {
		fmt.Fprint(&b, t.UTC().Format("2006-01-02T15:04:05Z Mon"))
		if zone != nil && zone != time.UTC {
			fmt.Fprint(&b, t.In(zone).Format("  Mon 2006-01-02 15:04:05 MST"))
		}
		fmt.Fprintln(&b)
	}
	_, err := io.WriteString(p.To, b.String())
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
