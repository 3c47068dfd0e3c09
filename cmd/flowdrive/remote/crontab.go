package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

// job is a line of a crontab.
type job struct {
	line                               int
	spec, zone, command, input, mailto string
	user                               string // who runs it, in a crontab of the system
	emptyInput                         bool   // its cases have an input also if it is empty
	problem                            string // why it is left out
}

// name names the entry of a job, so that a second import finds it. The number tells equal
// lines apart.
func (j job) name(route string, number int) string {
	parts := []string{route, j.spec, j.zone, j.command, j.input, j.mailto, fmt.Sprint(number)}
	if j.user != "" {
		parts = append(parts, j.user)
	}
	text := fmt.Sprintf("%q", parts)
	sum := sha256.Sum256([]byte(text))
	return "crontab-" + hex.EncodeToString(sum[:6]) + ".json"
}

// xattrs returns the XATTRs of the cases of a job.
func (j job) xattrs() map[string]any {
	xattrs := map[string]any{"command": j.command}
	if j.emptyInput {
		xattrs["input"] = ""
	}
	for key, value := range map[string]string{"mailto": j.mailto, "input": j.input, "user": j.user} {
		if value != "" {
			xattrs[key] = value
		}
	}
	return xattrs
}

// document returns the entry of a job.
func (j job) document(route string) ([]byte, error) {
	return json.Marshal(newEntry{Route: route, Type: "crontab", Spec: j.spec, Zone: j.zone, Title: cut(j.command), XAttrs: j.xattrs()})
}

// cut makes a title of a command.
func cut(command string) string {
	const longest = 80
	letters := []rune(output.Clean(command))
	if len(letters) <= longest {
		return string(letters)
	}
	return string(letters[:longest-1]) + "…"
}

// crontab is a text that is read as crontab(5) says.
type crontab struct {
	text   string
	zone   string // of the lines before any CRON_TZ
	system bool   // it has the user who runs a line before its command
	asked  bool   // system is what somebody has said, and not a guess
}

// ofSystem reports whether a file is a crontab of the system, by where it lies or by the line
// that explains its columns.
func ofSystem(file, text string) bool {
	return file == "/etc/crontab" || filepath.Dir(file) == "/etc/cron.d" ||
		regexp.MustCompile(`(?m)^#.*\buser(-name)?\s+command\b`).MatchString(text)
}

// jobs returns the lines of a crontab that say something.
func (c crontab) jobs() []job {
	zone := c.zone
	variable := regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$`)
	var jobs []job
	mailto, number := "", 0
	for l := range strings.Lines(c.text) {
		number++
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		if found := variable.FindStringSubmatch(l); found != nil {
			value := strings.Trim(found[2], `"'`)
			switch found[1] {
			case "CRON_TZ":
				zone = value
			case "MAILTO":
				mailto = value
			default:
				jobs = append(jobs, job{line: number, command: l, problem: "a variable: set it in the command that the server runs"})
			}
			continue
		}
		j := c.job(l)
		j.line, j.zone, j.mailto = number, zone, mailto
		jobs = append(jobs, j)
	}
	return jobs
}

func (c crontab) job(l string) job {
	fields := 5
	if strings.HasPrefix(l, "@") {
		fields = 1
	}
	var spec []string
	rest := l
	for range fields {
		i := strings.IndexAny(rest, " \t")
		if i < 0 {
			return job{command: l, problem: "there is no command"}
		}
		spec = append(spec, rest[:i])
		rest = strings.TrimLeft(rest[i:], " \t")
	}
	j := job{spec: strings.Join(spec, " ")}
	first, others, _ := strings.Cut(strings.ReplaceAll(rest, "\t", " "), " ")
	switch {
	case c.system && strings.TrimSpace(others) == "":
		j.problem = "there is no command after the user"
	case c.system:
		j.user, rest = first, strings.TrimLeft(rest[len(first):], " \t")
	case !c.asked && (first == "root" || ofSystem("", c.text)):
		j.problem = fmt.Sprintf("%q looks like the user of a line of /etc/crontab: --system reads it so, --system=false as a command", first)
	}
	j.command, j.input = splitPercent(rest)
	if j.spec == "@reboot" {
		j.problem = "a server has no start of the machine: @reboot is not a time"
	}
	return j
}

// splitPercent splits a command from its input: the first % ends it, the others are ends of
// lines, and \% is the sign itself.
func splitPercent(text string) (command, input string) {
	var parts []string
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == '%':
			b.WriteByte('%')
			i++
		case text[i] == '%':
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
	}
	parts = append(parts, b.String())
	return strings.TrimSpace(parts[0]), strings.Join(parts[1:], "\n")
}

// ImportCommand takes jobs of other programs over.
func (e *Env) ImportCommand() *cobra.Command {
	var route, zone string
	var system bool
	var how importOptions
	c := &cobra.Command{
		Use: "crontab [FILE]", Short: "Make a schedule entry of each line of a crontab",
		Long: "Makes a schedule entry of each line of a crontab; without FILE of the standard input. The command\n" +
			"of a line becomes the XATTR \"command\", MAILTO \"mailto\", and what follows % \"input\". CRON_TZ is\n" +
			"the time zone of the lines after it. --system reads /etc/crontab and the files of /etc/cron.d:\n" +
			"the user before the command becomes \"user\".\n\n" +
			"It prints what was made of each line, and exits with 1 if one was left out. A second import makes\n" +
			"nothing twice: a command that has an entry of yours by this route keeps it, also if its line has\n" +
			"another time or zone now; --update gives the entry these.",
		Example: "  crontab -l | flowdrive import crontab --route nightly-job --dry-run", Args: cobra.MaximumNArgs(1),
	}
	c.Flags().StringVar(&route, "route", "", "the route whose cases run the commands")
	c.Flags().StringVar(&zone, "zone", "", "the time zone of the lines (default: that of this machine)")
	c.Flags().BoolVar(&system, "system", false, "the lines have a user before their command, as in /etc/crontab")
	c.Flags().BoolVar(&how.update, "update", false, "give entries that are there the time, zone and mail address of their lines")
	c.Flags().BoolVar(&how.dryRun, "dry-run", false, "check the lines, and store nothing")
	e.completeFlag(c, "route", (*session).routeNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		if route == "" {
			return s.env.Usage(errors.New("say which route runs the commands: --route ROUTE"))
		}
		if zone == "" {
			zone = s.env.Zone()
		}
		file := "-"
		if len(args) > 0 {
			file = args[0]
		}
		text, err := s.document(file)
		if err != nil {
			return err
		}
		asked := s.cmd.Flags().Changed("system")
		table := crontab{text: string(text), zone: zone, system: system, asked: asked}
		if !asked && ofSystem(file, table.text) {
			table.system = file != "-" && ofSystem(file, "") // where it lies leaves no doubt
		}
		jobs := table.jobs()
		if err := s.fitToRoute(ctx, route, jobs); err != nil {
			return err
		}
		how.route = route
		return s.importJobs(ctx, jobs, how)
	})
}

// importOptions say how the jobs of a crontab are imported.
type importOptions struct {
	route          string
	update, dryRun bool
}

// fitToRoute gives the jobs what the route needs, and warns of what they say and it does not look
// at. A route that the user may not see is not judged.
func (s *session) fitToRoute(ctx context.Context, name string, jobs []job) error {
	route, err := s.Route(ctx, name)
	if client.IsSlug(err, "not-found") {
		return nil // the import says so
	}
	if err != nil {
		return err
	}
	if needsInput(&route) {
		for i := range jobs {
			jobs[i].emptyInput = true
		}
	}
	return s.warnUnused(&route, jobs)
}

// needsInput reports whether a route has the label of the XATTR "input" and no default for it:
// a case without the XATTR would have the label itself as its input.
func needsInput(r *client.Route) bool {
	return r.XAttrs["input"].Default == nil && regexp.MustCompile(`(?i)XATTR_input__`).Match(r.Raw())
}

// warnUnused warns of what the lines say and the route does not look at.
func (s *session) warnUnused(route *client.Route, jobs []job) error {
	said := map[string]bool{}
	for i := range jobs {
		for key := range jobs[i].xattrs() {
			said[key] = jobs[i].problem == "" || said[key]
		}
	}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		_, declared := route.XAttrs[key]
		used := regexp.MustCompile(`(?i)XATTR_` + key + `__|\bxattr(\.|\[[\\"']+)` + key + `\b`)
		if declared || !said[key] || used.Match(route.Raw()) {
			continue
		}
		text := fmt.Sprintf("warning: the route %s does not use the XATTR %q, which lines set", route.Name, key)
		if key == "command" {
			text = fmt.Sprintf("warning: the route %s does not use the XATTR \"command\": every line would do the same. flowdrive help crontab has a route that uses it", route.Name)
		}
		if err := s.say("%s", text); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) importJobs(ctx context.Context, jobs []job, how importOptions) error {
	entries, err := client.Collect(s.Entries(ctx))
	if err != nil {
		return err
	}
	names, err := s.EntryNames(ctx)
	if err != nil {
		return err
	}
	there := imported(entries, s.User(), how.route)
	found := make([]*client.Entry, len(jobs))
	for _, same := range []func(*client.Entry, *job) bool{isJob, isCommand} { // what is equal is found before what is alike
		for i := range jobs {
			if found[i] == nil && jobs[i].problem == "" {
				found[i] = there.take(&jobs[i], same)
			}
		}
	}
	var items []output.Item
	leftOut := 0
	equal := map[string]int{}
	for i, j := range jobs {
		first := j.name(how.route, 0)
		b, entry := became{problem: j.problem}, jobEntry{there: found[i], file: j.name(how.route, equal[first])}
		if j.problem == "" {
			if b, err = s.importJob(ctx, j, entry, how); err != nil {
				return err
			}
			b.name = entry.name(names)
		}
		equal[first]++
		text := b.text
		if b.problem != "" {
			leftOut++
			text = "left out: " + b.problem
			if entry.there == nil {
				b.name = "" // there is no such entry
			}
		}
		for _, warning := range b.warnings {
			if err := s.say("warning: line %d: %s", j.line, output.Clean(warning)); err != nil {
				return err
			}
		}
		items = append(items, output.Item{Cells: []string{fmt.Sprint(j.line), b.name, cut(j.command), text}, Alarm: b.problem != ""})
	}
	if err := s.Table([]string{"line", "name", "command", "became"}, items); err != nil {
		return err
	}
	if leftOut > 0 {
		return fmt.Errorf("%d of %d lines were left out", leftOut, len(jobs))
	}
	return nil
}

// jobEntry is the entry of a job that is there, or nil, and the file that a new one gets.
type jobEntry struct {
	there *client.Entry
	file  string
}

// name returns what the list of entries calls the entry. names are the given names by id.
func (e jobEntry) name(names map[string]string) string {
	if e.there == nil {
		return strings.TrimSuffix(e.file, ".json")
	}
	return cmp.Or(names[e.there.ID()], e.there.ID()[:8])
}

// became is what became of a job.
type became struct {
	name     string // of its entry
	text     string
	problem  string // why it is left out, or empty
	warnings []string
}

// importJob stores a job, and says what became of it.
func (s *session) importJob(ctx context.Context, j job, as jobEntry, how importOptions) (became, error) {
	document, err := j.document(how.route)
	if err != nil {
		return became{}, err
	}
	o, done := client.PutOptions{New: true, DryRun: how.dryRun}, "made"
	switch there := as.there; {
	case there == nil:
	case isJob(there, &j):
		return became{text: "is there"}, nil
	case !how.update:
		return became{problem: fmt.Sprintf("is there with other settings (%s): --update gives it those of the line", there.Description)}, nil
	default:
		as.file, o.New, done = there.ID()+".json", false, "updated"
		if document, err = updated(there, &j); err != nil {
			return became{}, err
		}
	}
	entry, err := s.PutEntry(ctx, as.file, document, o)
	err = ofFlags(err, nil)
	if client.IsSlug(err, "precondition") {
		return became{text: "is there"}, nil
	}
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == 422 && !p.MissingReference() {
		return became{problem: p.Error()}, nil
	}
	if err != nil {
		return became{}, err
	}
	if how.dryRun {
		done += " if it is not a dry run"
	}
	return became{text: done + ": " + entry.Description, warnings: entry.Warnings}, nil
}

// updated returns the document of an entry that is there with the settings of a job: what else
// somebody has set stays.
func updated(there *client.Entry, j *job) ([]byte, error) {
	var form map[string]any
	if err := json.Unmarshal(there.Raw(), &form); err != nil {
		return nil, fmt.Errorf("read the entry %s: %w", there.ID(), err)
	}
	xattrs := maps.Clone(there.XAttrs)
	delete(xattrs, "mailto")
	maps.Copy(xattrs, j.xattrs())
	form["spec"], form["timezone"], form["xattrDict"] = j.spec, cmp.Or(j.zone, "UTC"), xattrs
	return json.Marshal(form)
}

// importedEntries are the entries that earlier imports may have made.
type importedEntries struct{ left []client.Entry }

// imported returns the entries of a user that start cases of a route by crontab lines.
func imported(all []client.Entry, user, route string) importedEntries {
	other := func(e client.Entry) bool {
		return e.Type != "crontab" || !strings.EqualFold(e.Route, route) || !strings.EqualFold(e.Context, user)
	}
	return importedEntries{slices.DeleteFunc(all, other)}
}

// take returns the first entry that is the same as the job, which no other job gets, or nil.
func (e *importedEntries) take(j *job, same func(*client.Entry, *job) bool) *client.Entry {
	at := slices.IndexFunc(e.left, func(entry client.Entry) bool { return same(&entry, j) })
	if at < 0 {
		return nil
	}
	found := e.left[at]
	e.left = slices.Delete(e.left, at, at+1)
	return &found
}

// isCommand reports whether an entry runs the command of a job, at whatever time.
func isCommand(e *client.Entry, j *job) bool {
	for _, key := range []string{"command", "input", "user"} {
		value, _ := e.XAttrs[key].(string)
		want, _ := j.xattrs()[key].(string)
		if value != want {
			return false
		}
	}
	return true
}

// isJob reports whether an entry is that of a job as it stands. One that lacks the empty input
// that its route needs is not.
func isJob(e *client.Entry, j *job) bool {
	spec := strings.Join(strings.Fields(strings.ToLower(j.spec)), " ") // as the complete form has it
	mailto, _ := e.XAttrs["mailto"].(string)
	if _, has := e.XAttrs["input"]; j.emptyInput && !has {
		return false
	}
	return isCommand(e, j) && e.Spec == spec && e.Zone == cmp.Or(j.zone, "UTC") && mailto == j.mailto
}
