package main

import (
	"bufio"
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestReadme does what the README and the pages of docs/ say, each page in one
// shell, against a server started as the page says. It compares what is printed
// with what the page shows, except for what differs from run to run.
func TestReadme(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("the walk-through needs %s; make deps installs it", tool)
		}
	}
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]bool{}
	for _, path := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("\n```sh\n")) {
			continue
		}
		name := filepath.Base(path)
		done[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start, steps := walkThrough(t, string(text))
			doWalkThrough(t, start, steps)
		})
	}
	for _, name := range []string{"README.md", "start.md", "tasks.md", "vote.md"} {
		if !done[name] {
			t.Errorf("%s has no commands to try", name)
		}
	}
}

// doWalkThrough starts a server and does the steps of one page.
func doWalkThrough(t *testing.T, start readmeStart, steps []readmeStep) {
	t.Helper()
	home := t.TempDir()
	cmd := childProcess(t, "flowdrive", append(start.args, "--addr", "127.0.0.1:0")...)
	cmd.Env, cmd.Dir = environment(start.env...), home
	own := environment("HOME=" + home)
	if !start.sandbox() { // one logs in, with what it has printed
		cmd.Env = append(cmd.Env, environmentPrefix+"ADMIN_PASSWORD="+adminPassword)
		own = append(own, environmentPrefix+"USER=admin", environmentPrefix+"PASSWORD="+adminPassword)
		program, err := exec.LookPath("flowdrive")
		if err == nil {
			err = os.Symlink(program, filepath.Join(home, "flowdrive"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()

	// One shell does all steps, since each uses what those before it defined.
	const mark = "\x1e"
	var script strings.Builder
	if !start.sandbox() {
		script.WriteString("set -e\n")
	}
	for _, s := range steps {
		script.WriteString("printf '" + mark + "'\n" + s.commands + "\n")
	}
	const documented = "127.0.0.1:8080"
	shell := exec.Command("bash", "-s")
	shell.Env, shell.Dir = own, home
	shell.Stdin = strings.NewReader(strings.ReplaceAll(script.String(), documented, strings.TrimPrefix(p.base, "http://")))
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("the last command of the walk-through failed: %v", err)
	}
	got := strings.Split(string(out), mark)[1:]
	if len(got) != len(steps) {
		t.Fatalf("%d of %d steps were done:\n%s", len(got), len(steps), out)
	}
	for i, s := range steps {
		if !start.sandbox() {
			compareReal(t, s, got[i])
			continue
		}
		if diff := cmp.Diff(normal(s.output), normal(got[i])); diff != "" {
			t.Errorf("the page does not show what this prints:\n%s\n(-page +printed):\n%s", s.commands, diff)
		}
	}
}

// readmeStart is how a walk-through starts the server.
type readmeStart struct{ env, args []string }

// sandbox reports whether it is a sandbox, whose time stands still.
func (s readmeStart) sandbox() bool { return slices.Contains(s.args, "--sandbox") }

// compareReal wants the lines that a page shows of a real server among those that were
// printed, but for ids and times.
func compareReal(t *testing.T, s readmeStep, printed string) {
	t.Helper()
	changing := regexp.MustCompile(`\b[0-9a-f]{8}\b|\d{4}-\d\d-\d\dT[\d:]{8}[-+][\d:]{5}`)
	lines := map[string]bool{}
	for line := range strings.Lines(changing.ReplaceAllString(printed, "…")) {
		lines[strings.TrimRight(line, " \r\n")] = true
	}
	for line := range strings.Lines(changing.ReplaceAllString(s.output, "…")) {
		if line = strings.TrimRight(line, " \r\n"); !lines[line] {
			t.Errorf("the page shows %q, but this prints\n%s\n%s", line, s.commands, printed)
		}
	}
}

// readmeStep is a block of commands, with what they print.
type readmeStep struct{ commands, output string }

// walkThrough reads a page. The indented block that starts a sandbox starts the
// server, and if there is none the one that starts a server. The steps are the blocks of sh, each followed by a block of text if
// it prints something.
func walkThrough(t *testing.T, page string) (start readmeStart, steps []readmeStep) {
	t.Helper()
	starts := "--sandbox"
	if !strings.Contains(page, starts) {
		starts = "flowdrive serve"
	}
	for _, indented := range regexp.MustCompile(`(?m)^(?:    .*\n)+`).FindAllString(page, -1) {
		if !strings.Contains(indented, starts) {
			continue
		}
		for _, word := range strings.Fields(strings.ReplaceAll(indented, "\\\n", "")) {
			switch {
			case len(start.args) > 0 || word == "serve":
				start.args = append(start.args, word)
			case strings.HasPrefix(word, "FLOWDRIVE_"):
				start.env = append(start.env, word)
			}
		}
		break
	}
	block := regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")
	for _, found := range block.FindAllStringSubmatch(page, -1) {
		if found[1] == "sh" {
			steps = append(steps, readmeStep{commands: found[2]})
		} else if len(steps) > 0 {
			steps[len(steps)-1].output = found[2]
		}
	}
	if len(start.args) == 0 || len(steps) == 0 {
		t.Fatalf("the walk-through starts %q and has %d steps", start.args, len(steps))
	}
	return start, steps
}

// normal replaces what differs from run to run: what is made up, and the
// machine's time. The time of the sandbox does not differ.
func normal(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r", ""))
	text = regexp.MustCompile(`\b(?:[0-9a-f]{32}|[0-9a-f]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b`).ReplaceAllString(text, "<hex>")
	text = regexp.MustCompile(`\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`).ReplaceAllString(text, "<date>")
	text = regexp.MustCompile(`\bCase \d+`).ReplaceAllString(text, "Case <id>")
	return regexp.MustCompile(`"case":\d+`).ReplaceAllString(text, `"case":<id>`)
}

// TestSettingsOfDocs starts a server with the settings that the page about
// routes shows, once the files that they name are there.
func TestSettingsOfDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "routes-outside.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/routes-outside.md shows no settings")
	}
	home := t.TempDir()
	for name, text := range map[string]string{
		"smtp-password": "secret\n", "webhook-secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "render": "#!/bin/sh\n",
		"slack-url": "https://hooks.example.com/services/T000\n",
	} {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		// A server of another test may have the mask that its socket needs.
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	settings := strings.NewReplacer("/etc/flowdrive/", home+"/", "/usr/local/bin/", home+"/").Replace(string(found[1]))
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", "data", "--config", "config.yaml")
	cmd.Dir = home
	p, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
}

// TestCommandsOfDocs compares the table of docs/commands.md with the commands
// that there are.
func TestCommandsOfDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	scanner := bufio.NewScanner(bytes.NewReader(page))
	for scanner.Scan() {
		if found := regexp.MustCompile("^\\| `flowdrive ([^`]+)` \\|").FindStringSubmatch(scanner.Text()); found != nil {
			got = append(got, found[1])
		}
	}
	want := map[string]bool{}
	var walk func(*cobra.Command, string)
	walk = func(c *cobra.Command, path string) {
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
				continue
			}
			name := strings.TrimSpace(path + " " + sub.Name())
			if !sub.HasSubCommands() {
				want[name] = true
			}
			walk(sub, name)
		}
	}
	walk(rootCommand(), "")
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("docs/commands.md (-commands +page):\n%s", diff)
	}
}
