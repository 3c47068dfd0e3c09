package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
	"flowdrive/engine/machine"
)

// startOptions are the flags of start.
type startOptions struct {
	client.NewCase

	settings []string
	input    string
	wait     bool
}

func (e *Env) start() *cobra.Command {
	var o startOptions
	c := output.Formats(&cobra.Command{
		Use: "start ROUTE", Short: "Start a case of a route",
		Long: "Starts a case, and prints its number. --set key=text sets an XATTR, --set key:=value one that\n" +
			"is a number, true, false, null or other JSON. The input is a file, or - for the standard input.\n\n" +
			"With --wait it waits until the case has ended, and the commands that it runs. It exits with 0 if it was completed, 3 denied,\n" +
			"4 canceled, 5 failed. A case that fails at its start is told, and 5, without --wait, too.",
		Example: "  flowdrive start purchase -t \"Three chairs\" --set amount=900\n  flowdrive start import --input rates.csv --wait",
		Args:    cobra.ExactArgs(1),
	})
	c.Flags().StringVarP(&o.Title, "title", "t", "", "the title of the case")
	c.Flags().StringArrayVar(&o.settings, "set", nil, "an XATTR, as key=text or key:=JSON; can be repeated")
	c.Flags().StringVar(&o.input, "input", "", "a file that is its input, - for the standard input")
	c.Flags().StringVar(&o.StartAt, "at", "", "when it starts, as 2026-12-01 08:00 (default: now)")
	c.Flags().BoolVar(&o.wait, "wait", false, "wait until it has ended")
	c.ValidArgsFunction = e.completeWith((*session).routeNames)
	e.completeFlag(c, "set", func(s *session, ctx context.Context) ([]string, error) {
		if c.Flags().NArg() == 0 {
			return nil, nil
		}
		return s.settings(ctx, c.Flags().Arg(0))
	})
	return e.command(c, func(ctx context.Context, s *session, args []string) (err error) {
		o.Route = args[0]
		if o.XAttrs, err = s.values(o.settings); err != nil {
			return err
		}
		if err := s.undeclared(ctx, o.Route, o.XAttrs, nil); err != nil {
			return err
		}
		started, err := s.startCase(ctx, o)
		if err != nil {
			return err
		}
		if o.StartAt == "" {
			if err := s.sayWhyNotStarted(ctx, started); err != nil {
				return err
			}
		}
		if started.State == "failed" { // at once
			return errors.Join(s.started(started), failedAtOnce(started.ID))
		}
		if !o.wait {
			return s.started(started)
		}
		if started.State != "queued" {
			if err := s.say("Case %d has started.", started.ID); err != nil {
				return err
			}
		}
		ended, err := s.Wait(ctx, started.ID)
		if err != nil {
			return err
		}
		return errors.Join(s.started(ended), s.outcome(ctx, ended))
	})
}

// failedAtOnce says of a case that its start has failed.
func failedAtOnce(id int64) error {
	return codedError{fmt.Errorf("case %d failed at its start; flowdrive show %d says why", id, id), exitFailed}
}

// sayWhyNotStarted says what a case that was asked for waits for, as a hold.
func (s *session) sayWhyNotStarted(ctx context.Context, c client.Case) error {
	if c.State != "queued" {
		return nil
	}
	why, err := s.WhyQueued(ctx, c.ID)
	if err != nil || why == "" {
		return err
	}
	return s.say("Case %d has not started yet. %s", c.ID, output.Clean(why))
}

// startCase starts a case. Its input is stored as an attachment, which the case takes over.
func (s *session) startCase(ctx context.Context, o startOptions) (started client.Case, err error) {
	if o.input == "" {
		started, err = s.Start(ctx, o.NewCase)
		return started, ofStart(err)
	}
	content, size, done, err := s.source(o.input)
	if err != nil {
		return client.Case{}, err
	}
	name := filepath.Base(o.input)
	if o.input == "-" {
		name = "input"
	}
	uuid, err := s.Attach(ctx, name, content, size)
	if err = errors.Join(err, done()); err != nil {
		return client.Case{}, err
	}
	o.Attachment = uuid
	started, err = s.Start(ctx, o.NewCase)
	return started, errors.Join(ofStart(err), s.Detach(ctx, uuid))
}

// ofStart names the flags of start in what is refused.
func ofStart(err error) error {
	return ofFlags(err, map[string]string{"route": "ROUTE", "title": "--title", "xattrDict": "--set", "startAt": "--at"})
}

func (s *session) started(c client.Case) error {
	if s.Format == "json" || s.Format == "yaml" {
		return s.Show(nil, []output.Item{{JSON: c.Raw()}})
	}
	return s.Line("%d", c.ID)
}

// outcome returns how a case has ended, as an error with an exit code of its own.
func (s *session) outcome(ctx context.Context, c client.Case) error {
	switch c.State {
	case "canceled":
		return codedError{fmt.Errorf("case %d was canceled", c.ID), exitCanceled}
	case "failed":
		return codedError{fmt.Errorf("case %d has failed; flowdrive show %d says why", c.ID, c.ID), exitFailed}
	}
	for d, err := range s.Deliveries(ctx, c.ID) {
		if err != nil {
			return err
		}
		if d.State == "failed" { // the case was complete before
			return codedError{fmt.Errorf("case %d is %s, and yet the %s of %q has failed: %s", c.ID, c.State, d.Step, d.Action, output.Clean(d.Result)), exitFailed}
		}
	}
	kind, err := s.StateType(ctx, c)
	switch {
	case err != nil:
		return err
	case kind == "denied":
		return codedError{fmt.Errorf("case %d was denied: it is %s", c.ID, c.Status), exitDenied}
	case kind == "cancelled":
		return codedError{fmt.Errorf("case %d was canceled: it is %s", c.ID, c.Status), exitCanceled}
	}
	return nil
}

func (e *Env) cases() *cobra.Command {
	var f client.CaseFilter
	var all bool
	var settings []string
	var starter string
	c := output.Formats(&cobra.Command{
		Use: "cases", Short: "List cases",
		Long:    "Lists the open cases that you may see, the newest first. With --all or --state it lists others, too.",
		Example: "  flowdrive cases --route purchase --state completed --from 2026-11-01",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	})
	flags := c.Flags()
	flags.StringVar(&f.Route, "route", "", "only those of a route")
	flags.StringVar(&f.State, "state", "", "only those that are queued, active, suspended, completed, closed, canceled, failed or draft")
	flags.StringVar(&f.Status, "status", "", "only those in a state of their route")
	flags.StringVar(&f.Role, "role", "", "only those in which you play a role")
	flags.StringVar(&f.Context, "context", "", "only those of a user or team; mine: of your own and your teams")
	flags.StringVar(&starter, "starter", "", "only those that a user has started")
	flags.StringVarP(&f.Query, "query", "q", "", "only those with these words in their title")
	flags.StringArrayVar(&settings, "xattr", nil, "only those with this XATTR, as key=value; can be repeated")
	flags.BoolVar(&f.Warnings, "warnings", false, "only those with warnings")
	flags.StringVar(&f.CreatedFrom, "from", "", "only those started on this date or later")
	flags.StringVar(&f.CreatedTo, "to", "", "only those started on this date or earlier")
	flags.BoolVar(&all, "all", false, "also those that have ended")
	e.completeFlag(c, "route", (*session).routeNames)
	e.completeFlag(c, "status", func(s *session, ctx context.Context) ([]string, error) { return s.stateNames(ctx, f.Route) })
	output.Choices(c, "state", "queued", "active", "suspended", "completed", "closed", "canceled", "failed", "draft")
	return e.command(c, func(ctx context.Context, s *session, _ []string) error {
		f.XAttrs = map[string]string{}
		for _, setting := range settings {
			key, value, ok := strings.Cut(setting, "=")
			if !ok {
				return s.env.Usage(fmt.Errorf("--xattr %s: give it as key=value", setting))
			}
			f.XAttrs[key] = value
		}
		found, err := client.Collect(s.Cases(ctx, f))
		if err == nil && all && f.State == "" { // canceled ones are in no list but their own
			canceled := f
			canceled.State = "canceled"
			var more []client.Case
			more, err = client.Collect(s.Cases(ctx, canceled))
			found = append(found, more...)
			slices.SortFunc(found, func(a, b client.Case) int { return cmp.Compare(a.ID, b.ID) })
		}
		if err == nil {
			err = s.knownRoute(ctx, f.Route, len(found))
		}
		if err == nil && len(found) == 0 && f.Status != "" {
			err = s.knownStatus(ctx, f.Route, f.Status)
		}
		if err == nil && len(found) == 0 && len(f.XAttrs) > 0 {
			err = s.knownXAttrs(ctx, f.Route, f.XAttrs)
		}
		if err != nil {
			return err
		}
		if !all && f.State == "" {
			found = slices.DeleteFunc(found, func(c client.Case) bool { return c.Ended() && c.State != "failed" })
		}
		if starter != "" {
			found = slices.DeleteFunc(found, func(c client.Case) bool { return !strings.EqualFold(c.Starter, starter) })
		}
		slices.Reverse(found)
		return s.showCases(ctx, found)
	})
}

func (s *session) showCases(ctx context.Context, found []client.Case) error {
	items := make([]output.Item, len(found))
	for i, c := range found {
		id := strconv.FormatInt(c.ID, 10)
		items[i] = output.Item{
			JSON: c.Raw(), Name: id, Alarm: c.State == "failed",
			Cells: []string{id, c.Route, c.Title, c.State, c.Status, s.when(ctx, &c.Modified)},
		}
	}
	return s.Show([]string{"case", "route", "title", "life", "state", "changed"}, items)
}

func (e *Env) show() *cobra.Command {
	c := output.Formats(&cobra.Command{
		Use: "show CASE", Short: "Say where a case is, whom it waits for, and what comes next", Args: cobra.ExactArgs(1),
	})
	c.ValidArgsFunction = e.completeWith((*session).caseNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		id, err := s.FindCase(ctx, args[0])
		if err != nil {
			return err
		}
		if s.Format == "" {
			text, err := s.CaseStatus(ctx, id)
			if err != nil {
				return err
			}
			return s.Lines(text)
		}
		found, err := s.Case(ctx, id)
		if err != nil {
			return err
		}
		return s.Show(nil, []output.Item{{JSON: found.Raw(), Name: strconv.FormatInt(id, 10)}})
	})
}

func (e *Env) log() *cobra.Command {
	var follow bool
	c := output.Choices(func() *cobra.Command {
		c := &cobra.Command{Use: "log CASE", Short: "Print what has happened to a case", Args: cobra.ExactArgs(1)}
		c.Flags().StringP("output", "o", "", "json or yaml, for programs")
		return c
	}(), "output", "json", "yaml")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the case has ended")
	c.ValidArgsFunction = e.completeWith((*session).caseNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		id, err := s.FindCase(ctx, args[0])
		if err != nil {
			return err
		}
		if follow {
			return s.followLog(ctx, id)
		}
		entries, err := client.Collect(s.Log(ctx, id))
		if err != nil {
			return err
		}
		if s.Format == "" {
			return s.logLines(ctx, entries)
		}
		items := make([]output.Item, len(entries))
		for i, entry := range entries {
			items[i].JSON = entry.Raw()
		}
		return s.Show(nil, items)
	})
}

// logTime is the form of all times of a log.
const logTime = "2006-01-02 15:04:05 MST"

// withInstants returns a text of a log with its instants in the zone and the form of its lines.
func withInstants(text string, zone *time.Location) string {
	return machine.WithInstants(text, func(t time.Time) string { return t.In(zone).Format(logTime) })
}

func (s *session) logLines(ctx context.Context, entries []client.LogEntry) error {
	zone := s.userZone(ctx)
	for _, l := range entries {
		text := output.Clean(withInstants(l.Text, zone))
		if l.Resolution != "" {
			text += " [" + output.Clean(l.Resolution) + "]"
		}
		if l.Actor != "" {
			who := l.Actor
			if l.For != "" {
				who += " for " + l.For
			}
			text = output.Clean(who) + ": " + text
		}
		if l.Comment != "" && !strings.Contains(l.Text, l.Comment) {
			text += " – " + output.Clean(l.Comment)
		}
		if err := s.Line("%s  %s", l.Time.In(zone).Format(logTime), text); err != nil {
			return err
		}
	}
	return nil
}

// followLog writes the entries of the log as they come, until the case has ended.
func (s *session) followLog(ctx context.Context, id int64) error {
	last := int64(0)
	return s.FollowCase(ctx, id, func(now client.Case) (more bool, err error) {
		entries, err := client.Collect(s.Log(ctx, id))
		if err != nil {
			return false, err
		}
		entries = slices.DeleteFunc(entries, func(l client.LogEntry) bool { return l.Seq <= last })
		if len(entries) > 0 {
			last = entries[len(entries)-1].Seq
		}
		for _, l := range entries {
			if s.Format == "" {
				continue
			}
			if err := s.Document(l.Raw()); err != nil {
				return false, err
			}
		}
		if s.Format == "" {
			err = s.logLines(ctx, entries)
		}
		return !now.Ended(), err
	})
}

func (e *Env) message(name string) *cobra.Command {
	c := &cobra.Command{Use: name + " CASE", Short: "Print the " + name + " of a case", Args: cobra.ExactArgs(1)}
	if name == "output" {
		c.Long = "Prints the output of a case: the message that its route names as output. Of a case that has none\nit says which messages there are, such as what a command has written."
	}
	c.ValidArgsFunction = e.completeWith((*session).caseNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		id, err := s.FindCase(ctx, args[0])
		if err != nil {
			return err
		}
		content, size, err := s.CaseFile(ctx, id, name)
		if name == "output" && client.IsSlug(err, "not-found") {
			words, err := noOutput(ctx, s, id) // refused if there is no such case
			return cmp.Or(err, error(codedError{errors.New(words), exitNotFound}))
		}
		if err != nil {
			return err
		}
		if err := s.pour(content); err != nil || size != 0 || name != "output" {
			return err
		}
		words, err := noOutput(ctx, s, id)
		if err != nil {
			return err
		}
		return s.say("%s", words)
	})
}

// noOutput says where else something may be that was written for a case which has no output.
func noOutput(ctx context.Context, s *session, id int64) (string, error) {
	folder := fmt.Sprintf("Workflow/Cases/%d/Labels/", id)
	var labels []string
	for file, err := range s.Files(ctx, folder) {
		if err != nil {
			return "", err
		}
		if file.Name != "InputMessage" && file.Name != "OutputMessage" {
			labels = append(labels, output.Clean(file.Name))
		}
	}
	if len(labels) == 0 {
		return fmt.Sprintf("Case %d has no output.", id), nil
	}
	return fmt.Sprintf("Case %d has no output, and these messages: %s. To print one: flowdrive cat %s%s", id, strings.Join(labels, ", "), folder, labels[len(labels)-1]), nil
}

// caseCommands change the life of cases.
func (e *Env) caseCommands() []*cobra.Command {
	suspend := e.caseCommand("suspend", "Suspend cases: nothing happens in them until they are resumed", "suspended")
	suspend.Flags().String("until", "", "when they are resumed by themselves, as 2026-12-01 08:00")
	return []*cobra.Command{
		suspend,
		e.caseCommand("resume", "Resume suspended cases, and try again what has failed in others", "active"),
		e.caseCommand("cancel", "Cancel cases", "canceled"),
		e.caseCommand("reopen", "Reopen canceled cases", "active"),
	}
}

func (e *Env) caseCommand(name, short, state string) *cobra.Command {
	c := &cobra.Command{Use: name + " CASE...", Short: short, Args: cobra.MinimumNArgs(1)}
	c.ValidArgsFunction = e.completeWith((*session).caseNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		fields := map[string]any{"state": state}
		if until := c.Flags().Lookup("until"); until != nil && until.Changed {
			fields["suspendedUntil"] = until.Value.String()
		}
		return s.each(args, func(arg string) error {
			id, err := s.FindCase(ctx, arg)
			if err != nil {
				return err
			}
			if name == "resume" {
				return s.resume(ctx, id, fields)
			}
			return ofFlags(s.Change(ctx, id, fields), map[string]string{"suspendedUntil": "--until"})
		})
	})
}

// resume resumes a case, or has tried again what has failed in it, and says so if there was
// neither. It refuses a canceled case: the server would reopen it, and it may be another
// administrator who has canceled it because what had failed there is not needed.
func (s *session) resume(ctx context.Context, id int64, fields map[string]any) error {
	c, err := s.Case(ctx, id)
	if err != nil {
		return err
	}
	switch c.State {
	case "canceled":
		return codedError{fmt.Errorf("case %[1]d was canceled, and flowdrive log %[1]d says by whom; flowdrive reopen %[1]d reopens it", id), exitConflict}
	case "active":
	default:
		return s.Change(ctx, id, fields)
	}
	before, err := s.logged(ctx, id)
	if err != nil {
		return err
	}
	if err := s.Change(ctx, id, fields); err != nil {
		return err
	}
	if after, err := s.logged(ctx, id); err != nil || after != before {
		return err
	}
	return s.say("Case %d is active already, and nothing in it has failed.", id)
}

// logged returns the number of the last entry in the log of a case.
func (s *session) logged(ctx context.Context, id int64) (last int64, err error) {
	for l, err := range s.Log(ctx, id) {
		if err != nil {
			return 0, err
		}
		last = l.Seq
	}
	return last, nil
}

func (e *Env) timer() *cobra.Command {
	c := &cobra.Command{
		Use: "timer CASE TIMER LIMIT", Short: "Set the limit of a timer of a case",
		Long: "Sets the limit of a timer: a duration such as PT5M or P2D from now, a date, or none. A timer of\n" +
			"a task is called ACTION.due and the like.",
		Example: "  flowdrive timer 42 approve.due \"2026-12-01 12:00\"", Args: cobra.ExactArgs(3),
	}
	c.ValidArgsFunction = e.completeTimer
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		id, err := s.FindCase(ctx, args[0])
		if err != nil {
			return err
		}
		limit := args[2]
		if limit == "none" {
			limit = ""
		}
		if err := s.SetTimer(ctx, id, args[1], limit); err != nil {
			return err
		}
		t, err := s.Timer(ctx, id, args[1])
		if err != nil {
			return err
		}
		return s.say("%s: %s", t.Name, orNone(s.when(ctx, t.Date)))
	})
}
