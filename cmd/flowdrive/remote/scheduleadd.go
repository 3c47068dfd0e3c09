package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/clock"
	"flowdrive/internal/document"
)

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

	Overlap  string   `json:"overlap,omitempty"`
	Misfire  string   `json:"misfire,omitempty"`
	Exclude  []string `json:"exclude,omitempty"`
	Calendar string   `json:"excludeCalendar,omitempty"`
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
	n.Date, n.Zone = instant.In(zone).Format(time.RFC3339), "" // the offset says the zone in which it was meant
	return nil
}

// secondsOf returns a length of time of a second at least, in seconds.
func secondsOf(text string) (int64, error) {
	d, err := clock.ParseLength(text)
	if err != nil || d < time.Second {
		return 0, fmt.Errorf("%q is not a valid length of time; write it as 15m, 2h30m, 1d or PT15M", text)
	}
	return int64(d / time.Second), nil
}

// zoneOf returns the time zone of --at: that of --zone, else that of times that the user types.
func (s *session) zoneOf(ctx context.Context, name, at string) (*time.Location, error) {
	if at == "" {
		return time.UTC, nil
	}
	if name == "" {
		return s.typedZone(ctx)
	}
	if zone := new(clock.Zones).Zone(name); zone != nil {
		s.zone, s.zoneAsked = zone, true // it is said in the zone in which it was typed
		return zone, nil
	}
	return nil, fmt.Errorf("--zone: %q is not a time zone of the IANA database, such as Europe/Berlin", name)
}

func (e *Env) scheduleAdd() *cobra.Command {
	var n entryFlags
	var file, name string
	var dryRun, replace bool
	c := output.Formats(&cobra.Command{
		Use: "add ROUTE", Short: "Add a schedule entry",
		Long: "Adds a schedule entry that starts cases of a route. --cron takes a crontab line of five fields,\n" +
			"with names of days and months, or @daily and the like. --every takes a length of time, as 15m,\n" +
			"2h30m, 1d or PT15M; with --at it is counted from that instant, else from now. --at alone starts\n" +
			"one case, then. --file takes a whole entry in YAML or JSON instead, - is the standard input.\n\n" +
			"An entry of that --name that is there already stays as it is, and the command exits with 8; with\n" +
			"--replace it takes the new settings, and keeps what became of its instants. All fields of an entry\n" +
			"are in flowdrive help schedule.",
		Example: "  flowdrive schedule add --cron \"0 23 * * thu,sun\" --zone Europe/Berlin rates -t Nightly\n" +
			"  flowdrive schedule add --every 15m collector\n" +
			"  flowdrive schedule add --at \"2026-12-01 08:00\" --zone Europe/Berlin bug -t \"Renew the certificate\"\n" +
			"  flowdrive schedule add --file nightly.yaml",
		Args: cobra.MaximumNArgs(1),
	})
	flags := c.Flags()
	n.add(c, "yours")
	flags.StringVar(&file, "file", "", "a file with the entry")
	flags.StringVar(&name, "name", "", "a name for its file in Schedule/, as nightly")
	flags.BoolVar(&replace, "replace", false, "replace the entry that has the name of --name")
	flags.BoolVar(&dryRun, "dry-run", false, "check it, and store nothing")
	c.ValidArgsFunction = e.completeWith((*session).routeNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) (err error) {
		var document []byte
		if replace && name == "" {
			return s.env.Usage(errors.New("--replace needs the --name of the entry that is replaced"))
		}
		switch described := n.described(); {
		case file != "" && len(args) == 0 && !described:
			if document, err = s.document(file); err == nil && name == "" {
				if document, err = s.unnamed(ctx, document); err != nil {
					err = named(file, err)
				}
			}
		case file == "" && len(args) == 1:
			n.Route = args[0]
			document, err = s.newEntry(ctx, &n)
		default:
			err = s.env.Usage(errors.New("give a ROUTE and --cron, --every or --at, or --file alone"))
		}
		if err != nil {
			return err
		}
		entry, err := s.PutEntry(ctx, entryFile(cmp.Or(name, "new"), document), document, client.PutOptions{DryRun: dryRun, New: name != "" && !replace})
		switch {
		case err == nil:
		case client.IsSlug(err, "precondition"):
			return codedError{fmt.Errorf("there is an entry named %s already: --replace replaces it, or choose another --name", name), exitConflict}
		case file != "":
			return named(file, err)
		default:
			return ofEntryFlags(err)
		}
		made := cmp.Or(name, entry.ID())
		if err := s.tellStored(ctx, &entry, made); err != nil || dryRun || s.Format != "" {
			return err
		}
		return s.Line("%s", made)
	})
}

// unnamed returns the document of an entry that is given no name, as JSON: a name that ends
// with .yaml is kept, so that the next such entry would replace it. Faults are those of the
// text as it is, with its lines.
func (s *session) unnamed(ctx context.Context, text []byte) ([]byte, error) {
	as := entryFile("new", text)
	if path.Ext(as) == ".json" {
		return text, nil
	}
	if _, err := s.PutEntry(ctx, as, text, client.PutOptions{DryRun: true}); err != nil {
		return nil, err
	}
	node, err := document.ParseYAML(text)
	if err != nil {
		return nil, err
	}
	return node.AppendJSON(nil), nil
}

// newEntry returns the document of an entry that flags describe.
func (s *session) newEntry(ctx context.Context, n *entryFlags) ([]byte, error) {
	if n.Spec != "" && n.Zone == "" {
		zone, err := s.typedZone(ctx)
		if err != nil {
			return nil, err
		}
		n.Zone = zone.String()
	}
	zone, err := s.zoneOf(ctx, n.Zone, n.at)
	if err == nil {
		err = n.fires(n.every, n.at, zone)
	}
	if err != nil {
		return nil, s.env.Usage(err)
	}
	if n.XAttrs, err = s.values(n.settings); err != nil {
		return nil, err
	}
	return json.Marshal(n.newEntry)
}

// described reports whether flags say something of the entry that would stand in its file.
func (n *entryFlags) described() bool {
	return n.every != "" || n.at != "" || len(n.settings) > 0 ||
		n.Spec != "" || n.Zone != "" || n.Title != "" || n.Overlap != "" || n.Misfire != "" || n.Calendar != "" || len(n.Exclude) > 0
}

// ofEntryFlags names the flags of schedule add and set in what is refused.
func ofEntryFlags(err error) error {
	return ofFlags(err, map[string]string{
		"route": "ROUTE", "spec": "--cron", "seconds": "--every", "date": "--at", "timezone": "--zone", "title": "--title", "xattrDict": "--set",
		"overlap": "--overlap", "misfire": "--misfire", "exclude": "--exclude", "excludeCalendar": "--exclude-calendar",
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
