package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"
)

// formats adds the flag --output to a command; others are formats of its own.
func formats(c *cobra.Command) *cobra.Command {
	c.Flags().StringP("output", "o", "", "json, yaml or name, for programs (default: a table for people)")
	return choices(c, "output", "json", "yaml", "name")
}

// choices makes a flag one of some words: they are checked and completed.
func choices(c *cobra.Command, name string, words ...string) *cobra.Command {
	if name == "output" {
		c.Flags().Lookup(name).Annotations = map[string][]string{"formats": words}
	}
	if err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is there, and this is its only completion
	}
	return c
}

func checkFormat(format string, known []string) error {
	if format == "" || slices.Contains(known, format) {
		return nil
	}
	return fmt.Errorf("-o %s: there is only %s", format, strings.Join(known, ", "))
}

// item is a document that is shown: as it is, by its name, or as a line of a table.
type item struct {
	raw   json.RawMessage
	name  string // what commands take
	cells []string
	alarm bool // something is wrong with it
}

// show writes the items as the user wants them.
func (s *session) show(header []string, items []item) error {
	switch s.format {
	case "json", "yaml":
		all := make([]json.RawMessage, len(items))
		for i, it := range items {
			all[i] = it.raw
		}
		data, err := json.Marshal(all)
		if err != nil {
			return err
		}
		return s.data(data)
	case "name":
		for _, it := range items {
			if err := s.line("%s", it.name); err != nil {
				return err
			}
		}
		return nil
	}
	return s.table(header, items)
}

// data writes a document as JSON or YAML.
func (s *session) data(raw json.RawMessage) error {
	if s.format == "yaml" {
		return writeYAML(s.out, raw)
	}
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(raw)
}

// writeYAML writes JSON as YAML, with the members in their order.
func writeYAML(out io.Writer, raw json.RawMessage) error {
	var node yaml.Node
	if err := yaml.Unmarshal(raw, &node); err != nil {
		return err
	}
	plain(&node)
	enc := yaml.NewEncoder(out)
	enc.SetIndent(2)
	return errors.Join(enc.Encode(&node), enc.Close())
}

// plain takes the braces and quotes of JSON from a node.
func plain(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		plain(child)
	}
}

func (s *session) table(header []string, items []item) error {
	if len(items) == 0 {
		return s.say("nothing found")
	}
	w := table.NewWriter()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatUpper
	if width := s.width(); width > 0 {
		style.Size.WidthMax = width
	}
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	w.AppendHeader(row(header, s.paint(text.Bold)))
	for _, it := range items {
		paint := func(t string) string { return t }
		if it.alarm {
			paint = s.paint(text.FgRed)
		}
		w.AppendRow(row(it.cells, paint))
	}
	_, err := fmt.Fprintln(s.out, w.Render())
	return err
}

func row(cells []string, paint func(string) string) table.Row {
	r := make(table.Row, len(cells))
	for i, cell := range cells {
		r[i] = paint(clean(cell))
	}
	return r
}

// paint returns a function that colors a text, if the terminal shows colors.
func (s *session) paint(color text.Color) func(string) string {
	if !s.terminal || s.env.Getenv("NO_COLOR") != "" || s.env.Getenv("TERM") == "dumb" {
		return func(t string) string { return t }
	}
	return func(t string) string { return color.EscapeSeq() + t + text.Reset.EscapeSeq() }
}

// clean takes from a text what a terminal would obey.
func clean(t string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return '\uFFFD'
		}
		return r
	}, t)
}

// serverTime returns the time of the server, which is asked once.
func (s *session) serverTime(ctx context.Context) time.Time {
	if !s.now.IsZero() {
		return s.now
	}
	now, err := s.Now(ctx)
	if err != nil {
		now = s.env.Now() // the times stand for themselves
	}
	s.now = now
	return now
}

// when returns a time: on a terminal as people say it, else in RFC 3339.
func (s *session) when(ctx context.Context, t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	if !s.terminal {
		return t.Format(time.RFC3339)
	}
	return relative(t.Sub(s.serverTime(ctx)))
}

// relative returns how far a time is, as "in 3 days" or "2 hours ago".
func relative(d time.Duration) string {
	far := d.Abs()
	said := ""
	for _, unit := range []struct {
		name string
		long time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		n := int((far + unit.long/2) / unit.long)
		if far >= unit.long || unit.name == "minute" && n > 0 {
			said = fmt.Sprintf("%d %ss", n, unit.name)
			if n == 1 {
				said = "1 " + unit.name
			}
			break
		}
	}
	switch {
	case said == "":
		return "now"
	case d > 0:
		return "in " + said
	}
	return said + " ago"
}
