package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"flowdrive/docs"
)

// topic is a page of the manual that help prints, or a section of one.
type topic struct{ name, file, about string }

// topics are those pages, in the order in which help lists them.
func topics() []topic {
	return []topic{
		{"route", "reference/route.md", "every field of a route"},
		{"steps", "reference/steps.md", "what a route can do by itself"},
		{"expressions", "reference/expressions.md", "variables and functions of conditions"},
		{"labels", "reference/labels.md", "what labels such as that of today stand for"},
		{"schedule", "reference/schedule.md", "every field of a schedule entry"},
		{"crontab", "crontab.md", "how jobs of a crontab are taken over"},
		{"config", "reference/settings.md", "every setting of the server"},
		{"drive", "reference/drive.md", "every path of the drive"},
		{"exit-codes", "commands.md#exit-codes", "what the exit code of a command means"},
	}
}

// linkOfPage matches a link to another page or place.
var linkOfPage = regexp.MustCompile(`\[([^\]]+)\]\(([^()\s]+)\)`)

// text returns the page as a terminal shows it: Markdown whose links are their texts.
func (t topic) text() ([]byte, error) {
	file, section, part := strings.Cut(t.file, "#")
	text, err := fs.ReadFile(docs.Files(), file)
	if err != nil {
		return nil, err
	}
	if part {
		if text = sectionOf(text, section); text == nil {
			return nil, fmt.Errorf("%s has no section %s", file, section)
		}
	}
	return bytes.ReplaceAll(linkOfPage.ReplaceAll(text, []byte("$1")), []byte(`\<`), []byte("<")), nil
}

// sectionOf returns a section of the second level of a page, with its heading, by the name
// that links give it; nil if there is none.
func sectionOf(page []byte, name string) []byte {
	for _, section := range strings.Split("\n"+string(page), "\n## ")[1:] {
		heading, _, _ := strings.Cut(section, "\n")
		if strings.ReplaceAll(strings.ToLower(heading), " ", "-") == name {
			return []byte("## " + strings.TrimRight(section, "\n") + "\n")
		}
	}
	return nil
}

// printTopic prints the page of that name, if there is one.
func printTopic(cmd *cobra.Command, name string) (printed bool, err error) {
	for _, t := range topics() {
		if t.name != name {
			continue
		}
		text, err := t.text()
		if err != nil {
			return false, err
		}
		if _, err := cmd.OutOrStdout().Write(text); err != nil {
			return false, err
		}
		if found, rest, err := cmd.Root().Find([]string{name}); err == nil && len(rest) == 0 && found != cmd.Root() {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "\nThe commands: flowdrive %s --help\n", name)
			return true, err
		}
		return true, nil
	}
	return false, nil
}

// listTopics says which pages help prints.
func listTopics() string {
	var b strings.Builder
	b.WriteString("\nTopics (flowdrive help TOPIC):\n")
	for _, t := range topics() {
		fmt.Fprintf(&b, "  %-12s %s\n", t.name, t.about)
	}
	return b.String()
}

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages for man into a folder",
		Long: "Writes a page for each command (section 1) and for each topic of \"flowdrive help\" (section 7)\n" +
			"into the folder DIR, which is made if it is not there.",
		Example: "  flowdrive man /usr/local/share/man",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeMan(cmd.Root(), args[0])
		},
	}
}

// writeMan writes the pages below a folder: those of a section in man1 and man7.
func writeMan(root *cobra.Command, dir string) error {
	commands, pages := filepath.Join(dir, "man1"), filepath.Join(dir, "man7")
	for _, folder := range []string{commands, pages} {
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // to be read by all
			return err
		}
	}
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Title: "FLOWDRIVE", Section: "1", Source: "Flowdrive " + root.Version, Manual: "Flowdrive"}, commands); err != nil {
		return err
	}
	for _, t := range topics() {
		text, err := t.text()
		if err != nil {
			return err
		}
		title, rest, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		page := fmt.Sprintf("%% \"FLOWDRIVE-%s\" \"7\" \"\" \"Flowdrive\" \"Flowdrive\"\n\n# NAME\n\nflowdrive-%s - %s\n\n# %s\n%s",
			strings.ToUpper(t.name), t.name, t.about, strings.ToUpper(title), rest)
		file := filepath.Join(pages, "flowdrive-"+t.name+".7")
		if err := os.WriteFile(file, md2man.Render([]byte(page)), 0o644); err != nil { //nolint:gosec // to be read by all
			return err
		}
	}
	return nil
}
