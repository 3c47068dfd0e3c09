package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/clock"
	"flowdrive/schedule"
)

// recurrenceFields are the fields of the types of entries: one that becomes an entry of another
// type has none of them.
var recurrenceFields = []string{
	"date", "weeks", "days", "hours", "minutes", "seconds", "interval", "year", "month", "day", "week", "weekday", "dayOfWeek", "hour", "minute", "second", "spec",
}

// entryFlags are the flags of set and add for what an entry is like, beside its route.
type entryFlags struct {
	newEntry

	every, at string
	settings  []string
	unset     []string
}

func (e *Env) scheduleSet() *cobra.Command {
	var given entryFlags
	var dryRun bool
	c := output.Formats(&cobra.Command{
		Use: "set ENTRY", Short: "Change a schedule entry",
		Long: "Changes what the flags name of a schedule entry, and leaves the rest as it is: also what became\n" +
			"of its instants. An entry that has changed meanwhile is not overwritten: the command exits with 8.\n\n" +
			"--cron, --every and --at say when it fires. With --every an entry that fires every so long goes on\n" +
			"counting from where it began, unless --at says another instant. An empty text takes away what was\n" +
			"set: --title \"\", --exclude \"\", --exclude-calendar \"\". All fields of an entry are in flowdrive\n" +
			"help schedule; with flowdrive cat and put its file can be changed as a whole.\n\n" +
			"The file of the entry has the complete form as JSON afterwards, also if it was YAML, and without its\n" +
			"comments. What it had before is in Workflow/Schedule/.history/.\n\n" + EntryNames,
		Example: "  flowdrive schedule set nightly --cron \"30 3 * * *\"\n" +
			"  flowdrive schedule set nightly --overlap skip --exclude 2026-12-24 --exclude 2026-12-31",
		Args: cobra.ExactArgs(1),
	})
	given.add(c, "what the entry has, else yours")
	c.Flags().StringArrayVar(&given.unset, "unset", nil, "an XATTR that its cases do not have any more; can be repeated")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "check it, and store nothing")
	c.ValidArgsFunction = e.completeWith((*session).entryNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		entry, err := s.FindEntry(ctx, args[0])
		if err != nil {
			return err
		}
		form, err := s.EntryForm(ctx, entry.ID())
		if err != nil {
			return err
		}
		document, err := s.changedEntry(ctx, form.Text, &given)
		if err != nil {
			return err
		}
		now, err := s.PutEntry(ctx, entry.ID()+".json", document, client.PutOptions{DryRun: dryRun, Match: form.ETag})
		if client.IsSlug(err, "precondition") {
			return codedError{fmt.Errorf("the entry %s has been changed meanwhile: look at it, and try again", args[0]), exitConflict}
		}
		if err != nil {
			return ofEntryFlags(err)
		}
		return s.tellStored(ctx, &now, args[0])
	})
}

// add gives a command the flags. zone says whose time zone counts without --zone, unless the user
// has none.
func (f *entryFlags) add(c *cobra.Command, zone string) {
	flags := c.Flags()
	flags.StringVar(&f.Spec, "cron", "", "a crontab line")
	flags.StringVar(&f.every, "every", "", "how long it is from one case to the next, as 15m, 1d or PT15M")
	flags.StringVar(&f.at, "at", "", "when it starts the only case, or with --every the first, as 2026-12-01 08:00")
	flags.StringVar(&f.Zone, "zone", "", "the time zone of --cron and --at, as Europe/Berlin (default: "+zone+", as Account/me.json has it, else that of the server)")
	flags.StringVarP(&f.Title, "title", "t", "", "the title of the entry and its cases")
	flags.StringArrayVar(&f.settings, "set", nil, "an XATTR of the cases, as key=text or key:=JSON; can be repeated")
	flags.StringVar(&f.Overlap, "overlap", "", "what happens while an earlier case is open: allow, skip, bufferOne, bufferAll or cancelOther")
	flags.StringVar(&f.Misfire, "misfire", "", "what becomes of instants that passed while the server was down or the entry paused: once, skip or all")
	flags.StringArrayVar(&f.Exclude, "exclude", nil, "a day on which it does not fire, as 2026-12-24; can be repeated")
	flags.StringVar(&f.Calendar, "exclude-calendar", "", "a calendar of days off, as Documents/ann/holidays.ics")
}

// changedEntry returns the complete form of an entry with what the flags change of it.
func (s *session) changedEntry(ctx context.Context, form []byte, given *entryFlags) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(form, &fields); err != nil {
		return nil, fmt.Errorf("read the entry: %w", err)
	}
	changed := s.cmd.Flags().Changed
	set := map[string]any{}
	var drop []string
	for flag, of := range map[string]struct {
		field string
		value any
	}{
		"title": {"title", given.Title}, "overlap": {"overlap", given.Overlap}, "misfire": {"misfire", given.Misfire},
		"exclude": {"exclude", notEmpty(given.Exclude)}, "exclude-calendar": {"excludeCalendar", orNull(given.Calendar)},
	} {
		if changed(flag) {
			set[of.field] = of.value
		}
	}
	if changed("set") || changed("unset") {
		xattrs, err := s.changedXAttrs(fields["xattrDict"], given)
		if err != nil {
			return nil, err
		}
		set["xattrDict"] = xattrs
	}
	if changed("cron") || changed("every") || changed("at") || changed("zone") {
		var err error
		if drop, err = s.changeRecurrence(ctx, fields, set, given); err != nil {
			return nil, s.env.Usage(err)
		}
	}
	if len(set) == 0 {
		return nil, s.env.Usage(errors.New("say what is to change, as --cron \"30 3 * * *\""))
	}
	written := map[string][]byte{}
	for field, value := range set {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("write the field %s: %w", field, err)
		}
		written[field] = text
	}
	document, err := schedule.EditSource(form, drop, written)
	if err != nil {
		return nil, fmt.Errorf("write the entry: %w", err)
	}
	return document, nil
}

// changedXAttrs returns XATTRs with what --set and --unset change of them. A key that is written
// otherwise than the entry has it means the same if it differs in capitals only.
func (s *session) changedXAttrs(stored json.RawMessage, given *entryFlags) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(stored, &all); err != nil {
		return nil, fmt.Errorf("read the XATTRs of the entry: %w", err)
	}
	remove := func(key string) (had bool) {
		n := len(all)
		maps.DeleteFunc(all, func(k string, _ json.RawMessage) bool { return sameKey(k, key) })
		return len(all) < n
	}
	for _, key := range given.unset {
		if !remove(key) {
			return nil, s.env.Usage(fmt.Errorf("--unset: the entry has no XATTR %q", key))
		}
	}
	values, err := s.values(given.settings)
	if err != nil {
		return nil, err
	}
	for key, value := range values {
		remove(key)
		if all[key], err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("write the XATTR %s: %w", key, err)
		}
	}
	return all, nil
}

// sameKey reports whether two keys are the same XATTR (docs/contract/labels-attachments.md#2-xattrs).
func sameKey(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, " ", ""), strings.ReplaceAll(b, " ", ""))
}

// changeRecurrence notes in set when an entry fires, and returns the fields that it does not have
// any more. A flag for another type makes it one of that type.
func (s *session) changeRecurrence(ctx context.Context, fields map[string]json.RawMessage, set map[string]any, given *entryFlags) (drop []string, err error) {
	var was struct{ kind, zone string }
	if err := errors.Join(json.Unmarshal(fields["type"], &was.kind), json.Unmarshal(fields["timezone"], &was.zone)); err != nil {
		return nil, fmt.Errorf("read the entry: %w", err)
	}
	byClock := was.kind == "cron" || was.kind == "crontab"
	if given.Spec == "" && given.every == "" && given.at == "" { // --zone alone
		if !byClock {
			return nil, fmt.Errorf("--zone counts for entries that fire at times of day: this one is of the type %s", was.kind)
		}
		set["timezone"] = given.Zone
		return nil, nil
	}
	n := given.newEntry
	if n.Spec != "" && n.Zone == "" {
		n.Zone = was.zone
		if !byClock {
			typed, err := s.typedZone(ctx)
			if err != nil {
				return nil, err
			}
			n.Zone = typed.String()
		}
	}
	zone, err := s.zoneOf(ctx, n.Zone, given.at)
	if err != nil {
		return nil, err
	}
	if err := n.fires(given.every, given.at, zone); err != nil {
		return nil, err
	}
	if was.kind == "interval" && n.Type == "simple" { // --at alone: it counts from there
		set["date"] = n.Date
		return nil, nil
	}
	set["type"], set["timezone"] = n.Type, orNull(n.Zone)
	for field, value := range map[string]string{"spec": n.Spec, "date": n.Date} {
		if value != "" {
			set[field] = value
		}
	}
	if n.Every != 0 {
		set["seconds"] = n.Every
	}
	if n.Type == "simple" {
		set["repeat"] = nil // it has one instant
	}
	for _, field := range recurrenceFields {
		if from := field == "date" && was.kind == n.Type; !from { // else it goes on counting from there
			drop = append(drop, field)
		}
	}
	return drop, nil
}

// notEmpty returns the texts that are not empty, as a list that JSON has.
func notEmpty(texts []string) []string {
	out := []string{}
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// orNull returns a text, or null for none.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// tellStored tells of an entry that was stored, or would be: what is to be looked at, when it fires.
func (s *session) tellStored(ctx context.Context, entry *client.Entry, name string) error {
	for _, warning := range entry.Warnings {
		if err := s.say("warning: %s", output.Clean(warning)); err != nil {
			return err
		}
	}
	if s.Format != "" {
		return s.Show(nil, []output.Item{{JSON: entry.Raw(), Name: name}})
	}
	return s.say("%s; next %s", output.Clean(words(entry, s.userZone(ctx))), orNone(s.next(ctx, entry)))
}

// backfill is the command that starts the cases of past instants.
func (e *Env) backfill() *cobra.Command {
	var from, to string
	var dryRun bool
	c := output.Formats(&cobra.Command{
		Use: "backfill ENTRY --from TIME --to TIME", Short: "Start the cases of past instants of an entry",
		Long: "Starts a case for each instant of a schedule entry from --from until before --to, and prints what\n" +
			"became of each. An instant that has had a case gets no other, so that the command can be repeated.\n" +
			"Times without an offset are those of the entry's zone if it fires at times of day, else of yours.\n" +
			"Exits with 1 if the case of an instant could not be created. " + EntryNames,
		Example: "  flowdrive schedule backfill nightly --from 2026-11-01 --to 2026-11-08 --dry-run",
		Args:    cobra.ExactArgs(1),
	})
	flags := c.Flags()
	flags.StringVar(&from, "from", "", "the first time, as 2026-11-01 or 2026-11-01 08:00")
	flags.StringVar(&to, "to", "", "the time before which it ends; not in the future")
	flags.BoolVar(&dryRun, "dry-run", false, "say what would become of each instant, and start nothing")
	c.ValidArgsFunction = e.completeWith((*session).entryNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		if from == "" || to == "" {
			return s.env.Usage(errors.New("give --from and --to"))
		}
		entry, err := s.FindEntry(ctx, args[0])
		if err != nil {
			return err
		}
		zone, err := s.zoneOfEntry(ctx, &entry)
		if err != nil {
			return err
		}
		var at [2]time.Time
		for i, of := range [2]struct{ flag, text string }{{"--from", from}, {"--to", to}} {
			var ok bool
			if at[i], ok = clock.ParseMoment(of.text, zone); !ok {
				return s.env.Usage(fmt.Errorf("%s: %q is not a valid time; write it as 2026-11-01 or 2026-11-01 08:00", of.flag, of.text))
			}
		}
		report, err := s.BackfillEntry(ctx, entry.ID(), at[0], at[1], dryRun)
		if err != nil {
			return err
		}
		if err := s.tellBackfill(&report, zone, dryRun); err != nil {
			return err
		}
		if report.Failed > 0 && !dryRun {
			return fmt.Errorf("the cases of %d instants could not be created", report.Failed)
		}
		return nil
	})
}

// zoneOfEntry returns the zone of times that are typed of an entry.
func (s *session) zoneOfEntry(ctx context.Context, entry *client.Entry) (*time.Location, error) {
	if zone := entryZone(entry); zone != nil {
		return zone, nil
	}
	return s.typedZone(ctx)
}

// entryZone returns the zone in which an entry fires at times of day, nil if it does not.
func entryZone(entry *client.Entry) *time.Location {
	if entry.Type != "cron" && entry.Type != "crontab" {
		return nil
	}
	return new(clock.Zones).Zone(entry.Zone)
}

// tellBackfill prints what became of the instants of a backfill, or would become of them.
func (s *session) tellBackfill(report *client.Backfill, zone *time.Location, dryRun bool) error {
	would := ""
	if dryRun {
		would = "would be "
	}
	items := make([]output.Item, len(report.List))
	for i, of := range report.List {
		number := ""
		if of.Case != nil {
			number = fmt.Sprint(*of.Case)
		}
		text, err := json.Marshal(of)
		if err != nil {
			return fmt.Errorf("write an instant: %w", err)
		}
		outcome := of.Outcome
		switch {
		case !dryRun:
		case outcome == "failed":
			outcome = "would fail"
		case outcome == "backfilled" || outcome == "skipped" || outcome == "left":
			outcome = would + outcome
		}
		items[i] = output.Item{
			JSON: text, Name: of.Instant.Format(time.RFC3339), Alarm: of.Outcome == "failed",
			Cells: []string{of.Instant.In(zone).Format(time.RFC3339), outcome, number, of.Reason},
		}
	}
	if s.Format == "" && report.Instants == 0 {
		return s.say("The entry has no instant in that time.")
	}
	if err := s.Show([]string{"instant", "outcome", "case", "reason"}, items); err != nil || s.Format != "" {
		return err
	}
	if more := report.Instants - int64(len(report.List)); more > 0 {
		if err := s.say("… and %d more", more); err != nil {
			return err
		}
	}
	instants, fail := fmt.Sprintf("%d instants", report.Instants), "failed"
	if report.Instants == 1 {
		instants = "1 instant"
	}
	if dryRun {
		fail = "would fail"
	}
	return s.say("%s: %d %sbackfilled, %d had a case before, %d %sskipped, %d %s, %d %sleft over by repeat.",
		instants, report.Backfilled, would, report.Done, report.Skipped, would, report.Failed, fail, report.Left, would)
}
