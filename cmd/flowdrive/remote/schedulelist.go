package remote

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

func (e *Env) scheduleList() *cobra.Command {
	c := output.Formats(&cobra.Command{
		Use: "list", Short: "List the schedule entries that you may see",
		Long: "Lists the schedule entries that you may see: by their given names, or the beginning of their\n" +
			"UUIDs, with the user or team that owns them. The columns of -o json are the fields of an entry.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	})
	return e.command(c, func(ctx context.Context, s *session, _ []string) error {
		entries, err := client.Collect(s.Entries(ctx))
		if err != nil {
			return err
		}
		names, err := s.EntryNames(ctx)
		if err != nil {
			return err
		}
		items := make([]output.Item, len(entries))
		for i, entry := range entries {
			items[i] = output.Item{JSON: entry.Raw(), Name: entry.ID()}
			if s.Format != "" {
				continue
			}
			next := s.next(ctx, &entry)
			if entry.Paused {
				next = "paused"
			}
			status, err := s.EntryStatus(ctx, entry.ID())
			if err != nil {
				return err
			}
			if status.State == ownerDisabled {
				next = ownerDisabled
			}
			last, failed := lastOutcomes(status.Occurrences)
			items[i].Alarm = failed
			name := cmp.Or(names[entry.ID()], entry.ID()[:8])
			items[i].Cells = []string{name, entry.Context, entry.Title, entry.Route, words(&entry, s.userZone(ctx)), next, last}
		}
		return s.Show([]string{"name", "owner", "title", "route", "when", "next", "last outcomes"}, items)
	})
}

// ownerDisabled is the state of an entry whose owner is disabled.
const ownerDisabled = "owner disabled"

// lastOutcomes says what became of the newest instants of an entry, and whether the newest
// that was not skipped has failed.
func lastOutcomes(last []client.Occurrence) (text string, failed bool) {
	const newest = 3
	var words []string
	known := false
	for _, o := range last {
		word := o.Outcome
		if o.State == "failed" || o.Failed != "" {
			word = "failed"
		}
		if !known && word != "skipped" {
			known, failed = true, word == "failed"
		}
		if len(words) < newest {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", "), failed
}
