package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
)

// job is a line of a crontab.
type job struct {
	line                               int
	spec, zone, command, input, mailto string
	problem                            string // why it is left out
}

// name names the entry of a job, so that a second import finds it. The number tells equal
// lines apart.
func (j job) name(route string, number int) string {
	text := fmt.Sprintf("%q", []string{route, j.spec, j.zone, j.command, j.input, j.mailto, fmt.Sprint(number)})
	sum := sha256.Sum256([]byte(text))
	return "crontab-" + hex.EncodeToString(sum[:6]) + ".json"
}

// document returns the entry of a job.
func (j job) document(route string) ([]byte, error) {
	xattrs := map[string]any{"command": j.command}
	if j.mailto != "" {
		xattrs["mailto"] = j.mailto
	}
	if j.input != "" {
		xattrs["input"] = j.input
	}
	return json.Marshal(newEntry{Route: route, Type: "crontab", Spec: j.spec, Zone: j.zone, Title: cut(j.command), XAttrs: xattrs})
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

// readCrontab reads a crontab(5) of a user. Zone is that of the lines before any CRON_TZ.
func readCrontab(text, zone string) []job {
	variable := regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$`)
	var jobs []job
	mailto, number := "", 0
	for l := range strings.Lines(text) {
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
		j := readJob(l)
		j.line, j.zone, j.mailto = number, zone, mailto
		jobs = append(jobs, j)
	}
	return jobs
}

func readJob(l string) job {
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
	var dryRun bool
	c := &cobra.Command{
		Use: "crontab [FILE]", Short: "Make a schedule entry of each line of a crontab",
		Long: "Makes a schedule entry of each line of a crontab; without FILE of the standard input. The command\n" +
			"of a line becomes the XATTR \"command\", MAILTO \"mailto\", and what follows % \"input\". CRON_TZ is\n" +
			"the time zone of the lines after it.\n\n" +
			"It prints what was made of each line, and exits with 1 if one was left out. A second import makes\n" +
			"nothing twice.",
		Example: "  crontab -l | flowdrive import crontab --route nightly-job --dry-run", Args: cobra.MaximumNArgs(1),
	}
	c.Flags().StringVar(&route, "route", "", "the route whose cases run the commands")
	c.Flags().StringVar(&zone, "zone", "", "the time zone of the lines (default: that of this machine)")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "check the lines, and store nothing")
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
		return s.importJobs(ctx, route, readCrontab(string(text), zone), dryRun)
	})
}

func (s *session) importJobs(ctx context.Context, route string, jobs []job, dryRun bool) error {
	var items []output.Item
	leftOut := 0
	equal := map[string]int{}
	for _, j := range jobs {
		first := j.name(route, 0)
		became := j.problem
		if became == "" {
			var err error
			if became, err = s.importJob(ctx, j, entryPlace{route, j.name(route, equal[first])}, dryRun); err != nil {
				return err
			}
		}
		equal[first]++
		failed := !strings.HasPrefix(became, "made") && became != "is there"
		if failed {
			leftOut++
			became = "left out: " + became
		}
		items = append(items, output.Item{Cells: []string{fmt.Sprint(j.line), cut(j.command), became}, Alarm: failed})
	}
	if err := s.Table([]string{"line", "command", "became"}, items); err != nil {
		return err
	}
	if leftOut > 0 {
		return fmt.Errorf("%d of %d lines were left out", leftOut, len(jobs))
	}
	return nil
}

// entryPlace is where a job is stored.
type entryPlace struct{ route, name string }

// importJob stores a job, and says what became of it: "made", "is there", or why not.
func (s *session) importJob(ctx context.Context, j job, to entryPlace, dryRun bool) (string, error) {
	document, err := j.document(to.route)
	if err != nil {
		return "", err
	}
	entry, err := s.PutEntry(ctx, to.name, document, client.PutOptions{New: true, DryRun: dryRun})
	err = withoutPlaces(err)
	if client.IsSlug(err, "precondition") {
		return "is there", nil
	}
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == 422 && !p.MissingReference() {
		return p.Error(), nil
	}
	if err != nil {
		return "", err
	}
	if dryRun {
		return "made if it is not a dry run: " + entry.Description, nil
	}
	return "made: " + entry.Description, nil
}
