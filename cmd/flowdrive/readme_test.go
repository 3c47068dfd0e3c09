package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadme does what the README's walk-through says, in one shell, against
// a server started as it says, and compares what is printed with what it
// shows. What differs from run to run is not compared.
func TestReadme(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("the walk-through needs %s; make deps installs it", tool)
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	start, steps := walkThrough(t, string(text))
	home := t.TempDir()
	cmd := exec.Command("flowdrive", append(start.args, "--addr", "127.0.0.1:0")...)
	cmd.Env, cmd.Dir = append(os.Environ(), start.env...), home
	p, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()

	// One shell does all steps, since each uses what those before it defined.
	const mark = "\x1e"
	var script strings.Builder
	for _, s := range steps {
		script.WriteString("printf '" + mark + "'\n" + s.commands + "\n")
	}
	const documented = "127.0.0.1:8080"
	shell := exec.Command("bash", "-s")
	shell.Env, shell.Dir = append(os.Environ(), "HOME="+home), home
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
		if diff := cmp.Diff(normal(s.output), normal(got[i])); diff != "" {
			t.Errorf("the README does not show what this prints:\n%s\n(-README +printed):\n%s", s.commands, diff)
		}
	}
}

// readmeStart is how the walk-through starts the server.
type readmeStart struct{ env, args []string }

// readmeStep is a block of commands, with what they print.
type readmeStep struct{ commands, output string }

// walkThrough reads the section of the README: the server's start is its
// first indented block, the steps are its blocks of sh, each followed by one
// of text where something is printed.
func walkThrough(t *testing.T, readme string) (start readmeStart, steps []readmeStep) {
	t.Helper()
	_, section, ok := strings.Cut(readme, "\n## Walk-through\n")
	if !ok {
		t.Fatal("the README has no section Walk-through")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	indented := regexp.MustCompile(`(?m)^(?:    .*\n)+`).FindString(section)
	for _, word := range strings.Fields(strings.ReplaceAll(indented, "\\\n", "")) {
		switch {
		case len(start.args) > 0 || word == "serve":
			start.args = append(start.args, word)
		case strings.HasPrefix(word, "FLOWDRIVE_"):
			start.env = append(start.env, word)
		}
	}
	block := regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")
	for _, found := range block.FindAllStringSubmatch(section, -1) {
		if found[1] == "sh" {
			steps = append(steps, readmeStep{commands: found[2]})
		} else if len(steps) > 0 {
			steps[len(steps)-1].output = found[2]
		}
	}
	if len(start.args) == 0 || len(steps) < 2 {
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
