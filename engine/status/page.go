// Package status writes the files of Workflow/Status/, as text for people and as JSON
// (docs/contract/drive.md#status). It is given what they say; the engine finds it.
package status

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize/english"

	"flowdrive/engine/machine"
	"flowdrive/internal/clock"
)

// Zone is the time zone of who looks.
type Zone struct{ *time.Location }

// UTC is the zone of who has not chosen another.
func UTC() Zone { return Zone{time.UTC} }

const (
	minuteForm = "2006-01-02 15:04"
	dayForm    = "2006-01-02"
)

// Minute returns an instant as "2012-11-09 13:34 Europe/Berlin".
func (z Zone) Minute(t time.Time) string { return clock.Minute(t, z.Location) }

// local returns an instant without the name of the zone.

// Day returns the midnight with which the day of an instant begins.
func (z Zone) Day(t time.Time) time.Time {
	year, month, day := t.In(z.Location).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, z.Location)
}

// instant is a time in JSON: RFC 3339 with the offset of the zone, null for none.
func (z Zone) instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.In(z.Location).Format(time.RFC3339))
}

func (z Zone) instants(list []time.Time) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = *z.instant(t)
	}
	return out
}

// words returns a text of the log for people, on one line: instants are in the zone.
func (z Zone) words(text string) string { return machine.WithInstants(machine.OneLine(text), z.Minute) }

// pointer matches the place in a document with which the reason of a failure begins.
var pointer = regexp.MustCompile(`^/(?:[^/: ]+/)*([^/: ]+): `)

// reason returns why something failed, for people: of a fault in a document the name of
// the field instead of its place.
func reason(text string) string { return pointer.ReplaceAllString(machine.OneLine(text), "$1 ") }

// page is a text file under construction.
type page struct{ strings.Builder }

// line appends a line.
func (p *page) line(format string, args ...any) { _, _ = fmt.Fprintf(p, format+"\n", args...) }

// heading appends a heading, with an empty line before it.
func (p *page) heading(text string) { p.line("\n%s", text) }

// table appends rows, indented, with aligned columns. If there are none it says so.
func (p *page) table(rows [][]string, none string) {
	if len(rows) == 0 {
		p.line("  %s", none)
		return
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(w, "  "+strings.Join(row, "\t")) // a buffer takes everything
	}
	_ = w.Flush()
	for line := range strings.Lines(b.String()) {
		p.line("%s", strings.TrimRight(line, " \n"))
	}
}

func (p *page) bytes() []byte { return []byte(p.String()) }

// orNull returns nil for an empty text.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// list writes names as people do: "ann, bob and core".
func list(names []string) string {
	for i, name := range names {
		if name == machine.PartyAdmins {
			names = append([]string(nil), names...)
			names[i] = "the administrators of the route"
		}
	}
	return english.WordSeries(names, "and")
}
