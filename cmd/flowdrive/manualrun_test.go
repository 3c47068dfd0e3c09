package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"flowdrive/internal/pgtest"
)

// shellLine matches a line that is done by a shell.
var shellLine = regexp.MustCompile(`(?m)^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\./)?(?:flowdrive|curl|crontab|sudo|mount|make|apt|docker|skopeo|systemctl|install|litestream|openssl|export|echo) `)

// notRun are the commands of pages that no test can do, by a piece of the first line of their
// block, each with the reason.
var notRun = map[string]string{
	"README.md: make build":                              "it needs the whole repository, and minutes",
	"README.md: make test":                               "it runs this test",
	"docs/backup.md: litestream restore":                 "Litestream is not among what the tests install",
	"docs/operate/copy.md: flowdrive copy --from ./data": "a PostgreSQL server; TestManualCopies has one of its own",
	"docs/operate/install.md: apt install":               "a machine with systemd; e2e/packages.sh has the package",
	"docs/operate/install.md: skopeo copy":               "Docker; e2e/packages.sh unpacks the image",
	"docs/operate/install.md: install -m 755":            "a machine with systemd, and root",
	"docs/operate/install.md: systemctl edit":            "a machine with systemd",
	"docs/start.md: printf '%s":                          "mounts are for root; e2e/with-clients.sh mounts with davfs2",
}

// shownRun is how the commands of a page are run.
type shownRun struct {
	before []string          // done before the block of that number
	files  map[string]string // that the page supposes
}

// atDataFolder has commands find the data folder, and make backups in the folder of the page.
const atDataFolder = `flowdrive() { set -- "${@//\/var\/lib\/flowdrive/$HOME/data}"; command flowdrive "${@//\/srv\/backups/backups}"; }; curl() { command curl -sS --fail-with-body "$@"; }; `

// supposed is what pages suppose that is there.
var supposed = map[string]shownRun{
	"docs/commands.md": {before: []string{"flowdrive start bug -t 'The printer is on fire'"}},
	"docs/crontab.md": {before: []string{
		`crontab() { printf '%s\n' '30 2 * * 1-5 /usr/local/bin/backup' '@daily /usr/local/bin/tidy'; }; flowdrive route new legacy --from nightly-job`,
	}},
	"docs/examples/README.md":            {before: []string{"flowdrive route new --from purchase"}},
	"docs/examples/contract/README.md":   {files: map[string]string{"lease.pdf": "%PDF-1.4\n"}},
	"docs/examples/csv-import/README.md": {files: map[string]string{"march.csv": "name,amount\nlamp,3\n"}},
	"docs/examples/invoice/README.md": {
		files:  map[string]string{"invoice.pdf": "%PDF-1.4\n"},
		before: []string{"flowdrive route new --from invoice; flowdrive route put invoice.yaml; rm invoice*.yaml"},
	},
	"docs/howto/react-to-mail.md": {before: []string{"flowdrive route new --from invoice; flowdrive route put invoice.yaml"}},
	"docs/hooks.md": {before: []string{
		"ANSWER=$(", `) && URL=$(printf %s "$ANSWER" | sed -n 's/.*"url": *"\([^"]*\)".*/\1/p') SECRET=$FLOWDRIVE_SECRET_GITHUB; URL=https://flow.example.org/hook/${URL##*/}`,
		`URL=$(curl -u sam -X PUT -d '{"verify": {"scheme": "stripe", "secret": "github"}}' https://flow.example.org/dav/Workflow/Routes/bug/Hooks/payments.json | sed -n 's/.*"url": *"\([^"]*\)".*/\1/p'); URL=https://flow.example.org/hook/${URL##*/}`,
	}},
	"docs/operate/erasing.md": {before: []string{
		atDataFolder + `for NAME in eve ann; do curl -u admin -X PUT -d '{"password": "a password of theirs"}' https://flow.example.org/dav/Admin/Users/$NAME.json; done`,
	}},
	"docs/operate/first-hour.md": {before: []string{atDataFolder + "PASSWORD='a password of theirs'"}},
	"docs/operate/monitoring.md": {before: []string{atDataFolder}},
	"docs/operate/cluster.md":    {files: map[string]string{"db-password": "secret\n"}},
	"docs/operate/sso.md":        {before: []string{`curl -u admin -X PUT -d '{"password": "a password of ann"}' https://flow.example.org/dav/Admin/Users/ann.json`}},
}

// TestManualRuns does what the pages of the manual show in blocks: the commands of each page in
// a shell of its own, at one server. TestReadme does those of the pages that show what is
// printed. Each whole route of a page is stored on the server.
func TestManualRuns(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	secret := "it is only known here"
	backup := filepath.Join(home, "backup")
	if err := os.WriteFile(backup, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	config := filepath.Join(home, "settings.yaml")
	settings := "allow-host: [api.example.org]\ncommands:\n  backup: {path: " + backup + "}\n  legacy: {path: " + backup + "}\n"
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(home, "data"), "--log-level", "warn", "--config", config)
	serve.Env = []string{secretVariable + "GITHUB=" + secret}
	p := startServe(t, serve)
	as := environment("HOME="+home, "XDG_CONFIG_HOME="+home, environmentPrefix+"URL="+p.base, environmentPrefix+"USER=admin",
		environmentPrefix+"PASSWORD="+adminPassword, secretVariable+"GITHUB="+secret)
	root := filepath.Join("..", "..")
	excused := map[string]bool{}
	done, stored := 0, 0
	for _, file := range manualFiles(t) {
		if filepath.Base(filepath.Dir(file)) == "reference" && filepath.Base(file) == "commands.md" {
			continue // forms, made of the commands
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := slices.DeleteFunc(shellBlocks(string(text)), func(block string) bool {
			first, _, _ := strings.Cut(block, "\n")
			for at := range notRun {
				if strings.HasPrefix(page+": "+first, at) {
					excused[at] = true
					return true
				}
			}
			return walkedThrough(page, string(text), block)
		})
		work := t.TempDir()
		script := runnable(t, work, page, blocks)
		for i, block := range codeBlocks(string(text)) {
			if block.language == "yaml" && has(block.text, "actions") && has(block.text, "states") && !strings.Contains(page, "examples/") {
				name := strings.TrimSuffix(filepath.Base(page), ".md") + "-" + string(rune('a'+i)) + ".yaml"
				if err := os.WriteFile(filepath.Join(work, name), []byte(block.text), 0o600); err != nil {
					t.Fatal(err)
				}
				script += "flowdrive route put " + name + "\n"
				stored++
			}
		}
		if script == "" {
			continue
		}
		done += len(blocks)
		shell := exec.CommandContext(t.Context(), "bash", "-eu", "-o", "pipefail", "-s")
		shell.Env, shell.Dir = as, work
		shell.Stdin = strings.NewReader(strings.NewReplacer(
			"https://flow.example.org", p.base, "curl -u sam", "curl -sS --fail-with-body -u admin:"+adminPassword,
			"/etc/flowdrive/db-password", "db-password", "curl -u admin", "curl -sS --fail-with-body -u admin:"+adminPassword, "curl -d", "curl -sS --fail-with-body -d",
		).Replace(script))
		if out, err := shell.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\nof\n%s", page, err, out, script)
		}
	}
	for at := range notRun {
		if !excused[at] {
			t.Errorf("no page has the command %q, which is not run", at)
		}
	}
	if done < 15 || stored < 8 {
		t.Errorf("only %d blocks were run, and %d routes stored", done, stored)
	}
}

// TestManualCopies does what the page about copies shows, into a database and back.
func TestManualCopies(t *testing.T) {
	t.Parallel()
	address := pgtest.New(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operate", "copy.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlocks(string(text))
	if len(blocks) != 1 {
		t.Fatalf("the page has %d blocks of commands", len(blocks))
	}
	shell := exec.CommandContext(t.Context(), "bash", "-eu", "-s")
	shell.Dir = t.TempDir()
	shell.Env = environment("HOME="+shell.Dir, environmentPrefix+"ADMIN_PASSWORD="+adminPassword)
	shell.Stdin = strings.NewReader("flowdrive init --data ./data\n" + strings.ReplaceAll(blocks[0], "postgres://flowdrive@db1/flow", address) + "flowdrive check --data ./data-again\n")
	if out, err := shell.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nof\n%s", err, out, blocks[0])
	}
}

// shellBlocks returns the blocks of a page that are done by a shell.
func shellBlocks(page string) (blocks []string) {
	for _, block := range codeBlocks(page) {
		text := block.text
		if block.language == "" {
			text = regexp.MustCompile(`(?m)^    `).ReplaceAllString(text, "")
		}
		if slices.Contains([]string{"", "sh", "console", "text"}, block.language) && shellLine.MatchString(text) {
			blocks = append(blocks, text)
		}
	}
	return blocks
}

// walkedThrough reports whether TestReadme does the block: it does all of a page that has one of
// sh, and starts the server of the page.
func walkedThrough(page, text, block string) bool {
	if filepath.Dir(page) != "docs" && page != "README.md" || !strings.Contains(text, "\n```sh\n") {
		return false
	}
	return strings.Contains(text, "\n```sh\n"+block) || strings.Contains(block, "flowdrive serve")
}

// serves matches a command that does not end. What it is given is checked instead.
var serves = regexp.MustCompile(`(?m)^(\$ )?flowdrive serve `)

// runnable makes a script of the blocks of a page.
func runnable(t *testing.T, work, page string, blocks []string) string {
	t.Helper()
	run := supposed[page]
	for name, text := range run.files {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(run.before) > len(blocks) {
		t.Fatalf("%s has %d blocks of commands", page, len(blocks))
	}
	var script strings.Builder
	for i, block := range blocks {
		if i < len(run.before) {
			script.WriteString(run.before[i] + "\n")
		}
		block = serves.ReplaceAllString(block, "flowdrive config check ")
		script.WriteString(regexp.MustCompile(`(?m)^\$ `).ReplaceAllString(block, "") + "\n")
	}
	return script.String()
}
