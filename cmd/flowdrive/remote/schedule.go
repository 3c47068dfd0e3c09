package remote

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

// ScheduleCommands are the commands about the schedule entries of a server.
func (e *Env) ScheduleCommands() []*cobra.Command {
	return []*cobra.Command{
		e.scheduleList(), e.scheduleShow(), e.scheduleAdd(), e.scheduleSet(),
		e.entryCommand("pause", "Pause schedule entries: nothing fires until they are resumed",
			"Instants that pass meanwhile are missed: resume makes them due at once, unless it has --skip-missed. "),
		e.scheduleResume(),
		e.entryCommand("trigger", "Start a case of schedule entries now, beside their instants",
			"Prints the numbers of the cases. A case starts although an earlier one is open, also with overlap: skip;\n"+
				"the command says so. Exits with 5 if a case fails at its start. "),
		e.backfill(), e.scheduleRm(),
	}
}

// EntryNames says how commands take a schedule entry.
const EntryNames = "An entry is named by its UUID, its given name, or its title if no other has it."

func (e *Env) scheduleShow() *cobra.Command {
	c := output.Formats(&cobra.Command{
		Use: "show ENTRY", Short: "Show a schedule entry and what became of its instants",
		Long: "Shows a schedule entry and what became of its newest instants. " + EntryNames, Args: cobra.ExactArgs(1),
	})
	c.ValidArgsFunction = e.completeWith((*session).entryNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		entry, err := s.FindEntry(ctx, args[0])
		if client.IsSlug(err, "not-found") && s.Format == "" {
			return s.showEnded(ctx, args[0], err)
		}
		if err != nil {
			return err
		}
		if s.Format != "" {
			return s.Show(nil, []output.Item{{JSON: entry.Raw(), Name: entry.ID()}})
		}
		status, err := s.EntryStatus(ctx, entry.ID())
		if err != nil {
			return err
		}
		next := orNone(s.next(ctx, &entry))
		if status.State == ownerDisabled {
			next = fmt.Sprintf("none: its owner, %s, is disabled", entry.Context)
		}
		lines := []string{
			orNone(entry.Title), "route    " + entry.Route, "when     " + words(&entry, s.userZone(ctx)),
			"next     " + next, "entry    " + entry.ID(),
		}
		if entry.Paused {
			lines = append(lines, "paused   "+orNone(entry.Note))
		}
		if entry.LastError != nil {
			lines = append(lines, "error    "+*entry.LastError)
		}
		left, err := s.leftOut(ctx, &entry)
		if err != nil {
			return err
		}
		for _, l := range slices.Concat(lines, left, entry.Warnings) {
			if err := s.Line("%s", output.Clean(l)); err != nil {
				return err
			}
		}
		return s.showOccurrences(ctx, entry)
	})
}

// leftOut says, a line each, which of the next instants of an entry its days off leave out. The
// file in Status/ has more.
func (s *session) leftOut(ctx context.Context, entry *client.Entry) (lines []string, err error) {
	const most = 5
	zone := entryZone(entry)
	if zone == nil {
		zone = s.userZone(ctx)
	}
	all, err := s.LeftOut(ctx, entry.ID())
	if err != nil {
		return nil, err
	}
	today := s.serverTime(ctx).In(zone).Format(time.DateOnly)
	for i, of := range all {
		if i == 0 && of.Instant.In(zone).Format(time.DateOnly) == today {
			lines = append(lines, "today    is left out: "+of.Reason)
		}
		if i < most {
			lines = append(lines, "left out "+of.Instant.In(zone).Format(time.RFC3339)+" "+of.Reason)
		}
	}
	if more := len(all) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("left out … and %d more", more))
	}
	return lines, nil
}

// showEnded shows an entry that has had its last instant or was deleted, by its UUID or given
// name: what became of it is kept for a while. absent is the error if there is none.
func (s *session) showEnded(ctx context.Context, name string, absent error) error {
	text, err := s.Text(ctx, "schedule/"+client.EntryFile(name))
	if client.IsSlug(err, "not-found") {
		return absent
	}
	if err != nil {
		return err
	}
	return s.Lines(text)
}

func (s *session) showOccurrences(ctx context.Context, entry client.Entry) error {
	const newest = 20
	var items []output.Item
	last, err := s.LastOccurrences(ctx, entry.ID())
	if err != nil {
		return err
	}
	for _, o := range last {
		number := ""
		if o.Case != nil {
			number = fmt.Sprint(*o.Case)
		}
		if o.Failed != "" {
			o.Reason = "something in it has failed: " + o.Failed
		}
		items = append(items, output.Item{Cells: []string{s.when(ctx, &o.Instant), o.Outcome, number, o.State, output.Clean(o.Reason)}, Alarm: o.Outcome == "failed" || o.State == "failed" || o.Failed != ""})
		if len(items) == newest {
			break
		}
	}
	if len(items) == 0 {
		return nil
	}
	if err := s.Line(""); err != nil {
		return err
	}
	return s.Table([]string{"instant", "outcome", "case", "life", "reason"}, items)
}

func (e *Env) entryCommand(name, short, more string) *cobra.Command {
	var note string
	c := &cobra.Command{Use: name + " ENTRY...", Short: short, Long: short + ". " + more + EntryNames, Args: cobra.MinimumNArgs(1)}
	if name == "pause" {
		c.Flags().StringVarP(&note, "message", "m", "", "why, for who looks at it")
	}
	c.ValidArgsFunction = e.completeWith((*session).entryNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		fields := map[string]string{}
		if note != "" {
			fields["note"] = note
		}
		return s.eachEntry(ctx, args, func(entry namedEntry) error {
			if err := s.CommandEntry(ctx, entry.entry.UUID, name, fields); err != nil {
				return err
			}
			return s.tellEntry(ctx, entry, name)
		})
	})
}

// namedEntry is an entry, and the name by which the user has named it.
type namedEntry struct {
	entry client.Entry
	typed string
}

// title says which entry it is: by its title, else as the user has named it.
func (n *namedEntry) title() string { return output.Clean(cmp.Or(n.entry.Title, n.typed)) }

// tellEntry tells people what a command has done to an entry.
func (s *session) tellEntry(ctx context.Context, of namedEntry, command string) error {
	title := of.title()
	if command == "pause" {
		return s.say("%s is paused.", title)
	}
	var last []client.Occurrence
	for o, err := range s.Occurrences(ctx, of.entry.UUID) {
		if err != nil {
			return err
		}
		if last = append(last, o); len(last) == lookedBack {
			break
		}
	}
	switch {
	case len(last) == 0:
		return nil
	case last[0].Case == nil:
		return s.say("%s: no case has started: %s", title, output.Clean(last[0].Reason))
	}
	if overlap := of.entry.Overlap; overlap != "" && overlap != "allow" {
		for _, o := range last[1:] {
			if o.Case != nil && isOpen(o.State) {
				if err := s.say("%s: case %d is open, too: a trigger does not ask overlap (%s).", title, *o.Case, overlap); err != nil {
					return err
				}
				break
			}
		}
	}
	return s.tellTriggered(ctx, title, *last[0].Case)
}

// lookedBack is among how many of the newest instants of an entry a case that is open is looked for.
const lookedBack = 30

// isOpen reports whether a case in that life has not ended.
func isOpen(life string) bool { return life == "queued" || life == "active" || life == "suspended" }

// tellTriggered prints the number of a case, and says that it has started, or what holds it back.
func (s *session) tellTriggered(ctx context.Context, title string, id int64) error {
	started, err := s.Case(ctx, id)
	if err != nil {
		return err
	}
	if err := s.Line("%d", id); err != nil {
		return err
	}
	if started.State == "failed" {
		return failedAtOnce(id)
	}
	if started.State == "queued" {
		why, err := s.WhyQueued(ctx, id)
		if err != nil {
			return err
		}
		if why != "" {
			return s.say("%s: case %d has not started yet. %s", title, id, output.Clean(why))
		}
	}
	return s.say("%s: case %d has started.", title, id)
}

func (s *session) eachEntry(ctx context.Context, args []string, f func(namedEntry) error) error {
	return s.each(args, func(arg string) error {
		entry, err := s.FindEntry(ctx, arg)
		if err != nil {
			return err
		}
		return f(namedEntry{entry, arg})
	})
}

func (e *Env) scheduleRm() *cobra.Command {
	c := &cobra.Command{
		Use: "rm ENTRY...", Short: "Delete schedule entries",
		Long: "Deletes schedule entries, and prints the command that brings each back: its document is kept for\n" +
			"30 days in Workflow/Schedule/.history/. " + EntryNames, Args: cobra.MinimumNArgs(1),
	}
	c.ValidArgsFunction = e.completeWith((*session).entryNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		names, err := s.EntryNames(ctx)
		if err != nil {
			return err
		}
		return s.eachEntry(ctx, args, func(of namedEntry) error {
			if err := s.DeleteEntry(ctx, of.entry.UUID); err != nil {
				return err
			}
			return s.tellDeleted(ctx, of, names[of.entry.ID()])
		})
	})
}

// tellDeleted tells that an entry is deleted, and how it is brought back. name is its given name,
// or empty.
func (s *session) tellDeleted(ctx context.Context, of namedEntry, name string) error {
	kept, err := s.DeletedEntry(ctx, cmp.Or(name, of.entry.ID()))
	if client.IsSlug(err, "not-found") {
		return s.say("%s is deleted.", of.title()) // its history is its author's, or it had no document of its own
	}
	if err != nil {
		return err
	}
	kept = strings.TrimPrefix(kept, "/dav/")
	who, file := "this", "new.json" // a UUID is not a name that can be given
	if given, author, others := strings.Cut(name, "@"); others {
		who, file = author, given+path.Ext(kept)
		kept = strings.ReplaceAll(kept, "@"+author, "") // as the author sees it
	} else if name != "" {
		file = name + path.Ext(kept)
	}
	does := "brings it back"
	if who != "this" {
		does = "can bring it back"
	}
	return s.say("%s is deleted. Within 30 days %s %s:\n  flowdrive cp %q Workflow/Schedule/%s", of.title(), who, does, kept, file)
}

func (s *session) entryNames(ctx context.Context) ([]string, error) {
	var found []string
	for entry, err := range s.Entries(ctx) {
		if err != nil {
			return nil, err
		}
		found = append(found, entry.ID()+"\t"+output.Clean(entry.Title+" "+entry.Description))
	}
	return found, nil
}
