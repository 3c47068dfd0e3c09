// Package output writes what a command tells: to people as a table, to programs as JSON, YAML or
// names (docs/commands.md, "For programs").
package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"
	"golang.org/x/term"
)

// Formats adds the flag --output to a command, and returns the command.
func Formats(c *cobra.Command) *cobra.Command {
	c.Flags().StringP("output", "o", "", "json, yaml or name, for programs (default: a table for people)")
	return Choices(c, "output", "json", "yaml", "name")
}

// Choices makes a flag of a command one of some words: a shell completes them, and of --output
// they are checked. It returns the command, and panics if the command has no such flag.
func Choices(c *cobra.Command, name string, words ...string) *cobra.Command {
	if name == "output" {
		c.Flags().Lookup(name).Annotations = map[string][]string{"formats": words}
	}
	if err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is there, and this is its only completion
	}
	return c
}

// formatOf returns the format that a command was called with.
func formatOf(c *cobra.Command) (string, error) {
	f := c.Flags().Lookup("output")
	if f == nil {
		return "", nil
	}
	format, known := f.Value.String(), f.Annotations["formats"]
	if format == "" || slices.Contains(known, format) {
		return format, nil
	}
	return "", fmt.Errorf("-o %s: there is only %s", format, strings.Join(known, ", "))
}

// Printer writes what a command tells.
type Printer struct {
	To       io.Writer
	Notes    io.Writer // what is no document: that there is nothing
	Format   string    // json, yaml or name; empty for people
	Terminal bool      // To is one
	NoColor  bool      // as NO_COLOR and TERM say
}

// NewPrinter returns the Printer of a command that was called.
// It returns an error if the command has no such format.
func NewPrinter(c *cobra.Command, getenv func(string) string) (Printer, error) {
	to := c.OutOrStdout()
	format, err := formatOf(c)
	return Printer{
		To: to, Notes: c.ErrOrStderr(), Format: format, Terminal: IsTerminal(to),
		NoColor: getenv("NO_COLOR") != "" || getenv("TERM") == "dumb",
	}, err
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// width returns how many columns the terminal has, or 0.
func (p Printer) width() int {
	f, ok := p.To.(*os.File)
	if !ok || !p.Terminal {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Line writes a line.
func (p Printer) Line(format string, args ...any) error {
	_, err := fmt.Fprintf(p.To, format+"\n", args...)
	return err
}

// Lines writes a text of a server, line by line.
func (p Printer) Lines(text string) error {
	for l := range strings.Lines(text) {
		if err := p.Line("%s", Clean(strings.TrimRight(l, "\r\n"))); err != nil {
			return err
		}
	}
	return nil
}

// Item is a document that is shown: as it is, by its name, or as a line of a table.
type Item struct {
	JSON  json.RawMessage
	Name  string // what commands take
	Cells []string
	Alarm bool // something is wrong with it
}

// Show writes the items in the format of the command: for people as a table with that header.
func (p Printer) Show(header []string, items []Item) error {
	switch p.Format {
	case "json", "yaml":
		all := make([]json.RawMessage, len(items))
		for i, it := range items {
			all[i] = it.JSON
		}
		data, err := json.Marshal(all)
		if err != nil {
			return err
		}
		return p.Document(data)
	case "name":
		for _, it := range items {
			if err := p.Line("%s", it.Name); err != nil {
				return err
			}
		}
		return nil
	}
	return p.Table(header, items)
}

// Document writes a document as YAML, if that is the format, else as JSON.
func (p Printer) Document(raw json.RawMessage) error {
	if p.Format == "yaml" {
		return writeYAML(p.To, raw)
	}
	enc := json.NewEncoder(p.To)
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

// Table writes a table with a header. If there is no item, a note says so instead.
func (p Printer) Table(header []string, items []Item) error {
	if len(items) == 0 {
		_, err := fmt.Fprintln(p.Notes, "nothing found")
		return err
	}
	w := table.NewWriter()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatUpper
	if width := p.width(); width > 0 {
		style.Size.WidthMax = width
	}
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	w.AppendHeader(row(header, p.paint(text.Bold)))
	for _, it := range items {
		paint := func(t string) string { return t }
		if it.Alarm {
			paint = p.paint(text.FgRed)
		}
		w.AppendRow(row(it.Cells, paint))
	}
	_, err := fmt.Fprintln(p.To, w.Render())
	return err
}

func row(cells []string, paint func(string) string) table.Row {
	r := make(table.Row, len(cells))
	for i, cell := range cells {
		r[i] = paint(Clean(cell))
	}
	return r
}

// paint returns a function that colors a text, if the terminal shows colors.
func (p Printer) paint(color text.Color) func(string) string {
	if !p.Terminal || p.NoColor {
		return func(t string) string { return t }
	}
	return func(t string) string { return color.EscapeSeq() + t + text.Reset.EscapeSeq() }
}

// Clean takes from a text what a terminal would obey.
func Clean(t string) string {
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
