package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/clock"
)

// ScheduleCommands are the commands about the schedule entries of a server.
func (e *Env) ScheduleCommands() []*cobra.Command {
	return []*cobra.Command{
		e.scheduleList(), e.scheduleShow(), e.scheduleAdd(),
		e.entryCommand("pause", "Pause schedule entries: nothing fires until they are resumed"),
		e.entryCommand("resume", "Resume paused schedule entries"),
		e.entryCommand("trigger", "Start a case of schedule entries now, beside their instants"),
		e.backfill(), e.scheduleRm(),
	}
}

// EntryNames says how commands take a schedule entry.
const EntryNames = "An entry is named by its UUID, its given name, or its title if no other has it."

func (e *Env) scheduleList() *cobra.Command {
	c := output.Formats(&cobra.Command{
		Use: "list", Short: "List the schedule entries that you may see", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	})
	return e.command(c, func(ctx context.Context, s *session, _ []string) error {
		entries, err := client.Collect(s.Entries(ctx))
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
			last, failed, err := s.lastOutcomes(ctx, entry)
			if err != nil {
				return err
			}
			items[i].Alarm = failed
			items[i].Cells = []string{entry.ID()[:8], entry.Title, entry.Route, words(&entry, s.userZone(ctx)), next, last}
		}
		return s.Show([]string{"entry", "title", "route", "when", "next", "last outcomes"}, items)
	})
}

// lastOutcomes says what became of the newest instants of an entry, and whether the newest
// has failed.
func (s *session) lastOutcomes(ctx context.Context, entry client.Entry) (text string, failed bool, err error) {
	const newest = 3
	var words []string
	for o, err := range s.Occurrences(ctx, entry.UUID) {
		if err != nil {
			return "", false, err
		}
		if len(words) == 0 {
			failed = o.Outcome == "failed" || o.State == "failed"
		}
		word := o.Outcome
		if o.State == "failed" {
			word = o.State
		}
		if words = append(words, word); len(words) == newest {
			break
		}
	}
	return strings.Join(words, ", "), failed, nil
}

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
		lines := []string{
			orNone(entry.Title), "route    " + entry.Route, "when     " + words(&entry, s.userZone(ctx)),
			"next     " + orNone(s.next(ctx, &entry)), "entry    " + entry.ID(),
		}
		if entry.Paused {
			lines = append(lines, "paused   "+orNone(entry.Note))
		}
		if entry.LastError != nil {
			lines = append(lines, "error    "+*entry.LastError)
		}
		for _, l := range append(lines, entry.Warnings...) {
			if err := s.Line("%s", output.Clean(l)); err != nil {
				return err
			}
		}
		return s.showOccurrences(ctx, entry)
	})
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
	for o, err := range s.Occurrences(ctx, entry.UUID) {
		if err != nil {
			return err
		}
		number := ""
		if o.Case != nil {
			number = fmt.Sprint(*o.Case)
		}
		items = append(items, output.Item{Cells: []string{s.when(ctx, &o.Instant), o.Outcome, number, o.State, o.Reason}, Alarm: o.Outcome == "failed"})
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

// newEntry is the document of an entry as the flags of add describe it.
type newEntry struct {
	Route  string         `json:"route"`
	Type   string         `json:"type"`
	Spec   string         `json:"spec,omitempty"`
	Date   string         `json:"date,omitempty"`
	Every  int64          `json:"seconds,omitempty"`
	Title  string         `json:"title,omitempty"`
	Zone   string         `json:"timezone,omitempty"`
	XAttrs map[string]any `json:"xattrDict,omitempty"`
}

// fires sets when the entry fires: by its crontab line, by a length of time, at an instant of
// that zone unless it has an offset.
func (n *newEntry) fires(every, at string, zone *time.Location) error {
	switch {
	case n.Spec != "" && (every != "" || at != ""):
		return errors.New("give one of --cron, --every and --at; --every and --at go together, too")
	case n.Spec != "":
		n.Type = "crontab"
	case every != "":
		n.Type = "interval"
		var err error
		if n.Every, err = secondsOf(every); err != nil {
			return fmt.Errorf("--every: %w", err)
		}
	case at != "":
		n.Type = "simple"
	default:
		return errors.New("give --cron, --every or --at, or --file alone")
	}
	if at == "" {
		if n.Zone != "" && n.Type != "crontab" {
			return errors.New("--zone counts for --cron and --at only")
		}
		return nil
	}
	instant, ok := clock.ParseMoment(at, zone)
	if !ok {
		return fmt.Errorf("--at: %q is not a valid time; write it as 2026-12-01 08:00", at)
	}
	n.Date, n.Zone = instant.UTC().Format(time.RFC3339), "" // the instant is the same in all zones
	return nil
}

// shortLength matches a length of time as people type it.
var shortLength = regexp.MustCompile(`^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$`)

// secondsOf returns a length of time in seconds: 1d12h, 15m, or as ISO 8601 has it.
func secondsOf(text string) (int64, error) {
	wrong := fmt.Errorf("%q is not a valid length of time; write it as 15m, 2h30m, 1d or PT15M", text)
	short := strings.ToLower(strings.ReplaceAll(text, " ", ""))
	if found := shortLength.FindStringSubmatch(short); found != nil && short != "" {
		text = "P" + unit(found[1], "W") + unit(found[2], "D")
		if times := unit(found[3], "H") + unit(found[4], "M") + unit(found[5], "S"); times != "" {
			text += "T" + times
		}
	}
	d, err := clock.ParseDuration(text)
	if err != nil || d.Months != 0 || d.Exact < time.Second {
		return 0, wrong
	}
	return int64(d.Exact / time.Second), nil
}

func unit(number, name string) string {
	if number == "" {
		return ""
	}
	return number + name
}

// zoneOf returns the time zone of --at: that of --zone, else the one that the user has chosen,
// else UTC.
func (s *session) zoneOf(ctx context.Context, name, at string) (*time.Location, error) {
	if at == "" {
		return time.UTC, nil
	}
	if name == "" {
		return cmp.Or(s.ownZone(ctx), time.UTC), nil
	}
	if zone := new(clock.Zones).Zone(name); zone != nil {
		s.zone, s.zoneAsked = zone, true // it is said in the zone in which it was typed
		return zone, nil
	}
	return nil, fmt.Errorf("--zone: %q is not a time zone of the IANA database, such as Europe/Berlin", name)
}

func (e *Env) scheduleAdd() *cobra.Command {
	var n newEntry
	var settings []string
	var file, name, every, at string
	var dryRun bool
	c := output.Formats(&cobra.Command{
		Use: "add ROUTE", Short: "Add a schedule entry",
		Long: "Adds a schedule entry that starts cases of a route. --cron takes a crontab line of five fields,\n" +
			"with names of days and months, or @daily and the like. --every takes a length of time, as 15m,\n" +
			"2h30m, 1d or PT15M; with --at it is counted from that instant, else from now. --at alone starts\n" +
			"one case, then. --file takes a whole entry in YAML or JSON instead, - is the standard input.",
		Example: "  flowdrive schedule add --cron \"0 23 * * thu,sun\" --zone Europe/Berlin rates -t Nightly\n" +
			"  flowdrive schedule add --every 15m collector\n" +
			"  flowdrive schedule add --at \"2026-12-01 08:00\" --zone Europe/Berlin bug -t \"Renew the certificate\"\n" +
			"  flowdrive schedule add --file nightly.yaml",
		Args: cobra.MaximumNArgs(1),
	})
	flags := c.Flags()
	flags.StringVar(&n.Spec, "cron", "", "a crontab line")
	flags.StringVar(&every, "every", "", "how long it is from one case to the next, as 15m, 1d or PT15M")
	flags.StringVar(&at, "at", "", "when it starts the only case, or with --every the first, as 2026-12-01 08:00")
	flags.StringVar(&n.Zone, "zone", "", "the time zone, as Europe/Berlin (default: UTC, and of --at the one of your me.json)")
	flags.StringVarP(&n.Title, "title", "t", "", "the title of the entry and its cases")
	flags.StringArrayVar(&settings, "set", nil, "an XATTR of the cases, as key=text or key:=JSON; can be repeated")
	flags.StringVar(&file, "file", "", "a file with the entry")
	flags.StringVar(&name, "name", "", "a name for its file in Schedule/, as nightly")
	flags.BoolVar(&dryRun, "dry-run", false, "check it, and store nothing")
	c.ValidArgsFunction = e.completeWith((*session).routeNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) (err error) {
		var document []byte
		var zone *time.Location
		switch {
		case file != "" && len(args) == 0 && n.Spec == "" && every == "" && at == "":
			document, err = s.document(file)
		case file == "" && len(args) == 1:
			n.Route = args[0]
			if zone, err = s.zoneOf(ctx, n.Zone, at); err == nil {
				err = n.fires(every, at, zone)
			}
			if err != nil {
				err = s.env.Usage(err)
			} else if n.XAttrs, err = s.values(settings); err == nil {
				document, err = json.Marshal(n)
			}
		default:
			err = s.env.Usage(errors.New("give a ROUTE and --cron, --every or --at, or --file alone"))
		}
		if err != nil {
			return err
		}
		name = entryFile(cmp.Or(name, "new"), document)
		entry, err := s.PutEntry(ctx, name, document, client.PutOptions{DryRun: dryRun})
		if err != nil && file != "" {
			return named(file, err)
		}
		if err != nil {
			return withoutPlaces(err)
		}
		for _, warning := range entry.Warnings {
			if err := s.say("warning: %s", output.Clean(warning)); err != nil {
				return err
			}
		}
		if s.Format != "" {
			return s.Show(nil, []output.Item{{JSON: entry.Raw(), Name: entry.ID()}})
		}
		if err := s.say("%s; next %s", output.Clean(words(&entry, s.userZone(ctx))), orNone(s.next(ctx, &entry))); err != nil || dryRun {
			return err
		}
		return s.Line("%s", entry.ID())
	})
}

// entryFile returns the name of the file of an entry, with the ending of its form if it has
// none: without an ending it is not a name.
func entryFile(name string, document []byte) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
		return name
	}
	if strings.HasPrefix(strings.TrimSpace(string(document)), "{") {
		return name + ".json"
	}
	return name + ".yaml"
}

func (e *Env) entryCommand(name, short string) *cobra.Command {
	var note string
	c := &cobra.Command{Use: name + " ENTRY...", Short: short, Long: short + ". " + EntryNames, Args: cobra.MinimumNArgs(1)}
	if name == "pause" {
		c.Flags().StringVarP(&note, "message", "m", "", "why, for who looks at it")
	}
	c.ValidArgsFunction = e.completeWith((*session).entryNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		fields := map[string]string{}
		if note != "" {
			fields["note"] = note
		}
		return s.eachEntry(ctx, args, func(entry client.Entry) error {
			if err := s.CommandEntry(ctx, entry.UUID, name, fields); err != nil {
				return err
			}
			return s.tellEntry(ctx, entry, name)
		})
	})
}

// tellEntry tells people what a command has done to an entry.
func (s *session) tellEntry(ctx context.Context, entry client.Entry, command string) error {
	title := output.Clean(cmp.Or(entry.Title, entry.ID()))
	switch command {
	case "pause":
		return s.say("%s is paused.", title)
	case "resume":
		now, err := s.FindEntry(ctx, entry.ID())
		if err != nil {
			return err
		}
		return s.say("%s goes on; next %s", title, orNone(s.next(ctx, &now)))
	}
	for o, err := range s.Occurrences(ctx, entry.UUID) {
		switch {
		case err != nil:
			return err
		case o.Case != nil:
			return s.say("%s: case %d has started.", title, *o.Case)
		default:
			return s.say("%s: no case has started: %s", title, output.Clean(o.Reason))
		}
	}
	return nil
}

func (s *session) eachEntry(ctx context.Context, args []string, f func(client.Entry) error) error {
	return s.each(args, func(arg string) error {
		entry, err := s.FindEntry(ctx, arg)
		if err != nil {
			return err
		}
		return f(entry)
	})
}

func (e *Env) backfill() *cobra.Command {
	c := &cobra.Command{
		Use: "backfill ENTRY FROM TO", Short: "Start the cases of past instants of an entry",
		Long: "Starts the cases of the instants from FROM until before TO. An instant that has had a case gets\n" +
			"no other. " + EntryNames,
		Example: "  flowdrive schedule backfill Nightly 2026-11-01 2026-11-08", Args: cobra.ExactArgs(3),
	}
	c.ValidArgsFunction = e.completeWith((*session).entryNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		entry, err := s.FindEntry(ctx, args[0])
		if err != nil {
			return err
		}
		return s.CommandEntry(ctx, entry.UUID, "backfill", map[string]string{"from": args[1], "to": args[2]})
	})
}

func (e *Env) scheduleRm() *cobra.Command {
	c := &cobra.Command{
		Use: "rm ENTRY...", Short: "Delete schedule entries", Long: "Deletes schedule entries. " + EntryNames, Args: cobra.MinimumNArgs(1),
	}
	c.ValidArgsFunction = e.completeWith((*session).entryNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		return s.eachEntry(ctx, args, func(entry client.Entry) error { return s.DeleteEntry(ctx, entry.UUID) })
	})
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
