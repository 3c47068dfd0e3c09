package machine

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tableFolder holds the tables of acceptance scenarios; testdata/README.md says
// how they are written.
const tableFolder = "../../testdata/tables"

var updateTables = flag.Bool("update", false, "rewrite what the blocks of testdata/tables expect")

// table is a file of rows.
type table struct {
	path   string
	lines  []string
	routes map[string]string
	rows   []tableRow
}

// tableRow is a scenario: blocks that are played here, or a sentence that says
// which test plays it, or why none does.
type tableRow struct {
	id       string
	blocks   []tableBlock
	sentence string
}

// tableBlock is a case and what happens to it, a line each.
type tableBlock struct {
	line    int      // of its first line, from 0
	words   []string // what is played, and with which routes
	with    []string // pairs for a strings.Replacer: parts of the routes
	teams   map[string][]string
	steps   []string
	want    []string
	results int // the line at which want begins
}

// player carries out the steps of a block, and says what came of each.
type player interface {
	step(text string) (string, error)
	show() string
}

// TestConformance plays the tables. A step that is refused leaves the case as it
// was.
func TestConformance(t *testing.T) {
	for _, tab := range readTables(t) {
		changed := false
		for _, row := range tab.rows {
			for i := range row.blocks {
				b := &row.blocks[i]
				t.Run(row.id, func(t *testing.T) {
					got := tab.play(t, b)
					if slices.Equal(got, b.want) {
						return
					}
					if *updateTables {
						b.want, changed = got, true
						return
					}
					for i, step := range b.steps {
						if i >= len(b.want) || got[i] != b.want[i] {
							t.Fatalf("%s:%d, %q:\n got %s\nwant %s", tab.path, b.line+1, step, got[i], slices.Concat(b.want, make([]string, i+1))[i])
						}
					}
					t.Fatalf("%s:%d has more results than steps", tab.path, b.line+1)
				})
			}
		}
		if changed {
			tab.write(t)
		}
	}
}

// play plays a block and returns a line for each step.
func (tab *table) play(t *testing.T, b *tableBlock) (got []string) {
	t.Helper()
	p := tab.player(t, b)
	for _, step := range b.steps {
		before := p.show()
		line, err := p.step(step)
		if err != nil {
			if after := p.show(); after != before {
				t.Fatalf("%q was refused, and changed %s into %s", step, before, after)
			}
			line = "!" + refusal(err)
		}
		got = append(got, line)
	}
	return got
}

func (tab *table) player(t *testing.T, b *tableBlock) player {
	t.Helper()
	parts := strings.NewReplacer(b.with...)
	text := func(name string) string {
		text, ok := tab.routes[name]
		if !ok {
			t.Fatalf("%s:%d: there is no route %q", tab.path, b.line+1, name)
		}
		return regexp.MustCompile(`\$[A-Z][A-Z0-9]*`).ReplaceAllString(parts.Replace(text), "")
	}
	switch kind, args := b.words[0], b.words[1:]; kind {
	case "play":
		return tablePlay{newPlay(t, parsed(t, text(args[0])))}
	case "timer":
		return tableTimer{newTimerPlay(t, text(args[0])), args[1]}
	default:
		w := newWorld(t)
		for i, name := range args {
			w.routes[name] = &Definition{ID: int64(i + 1), Version: 1, Route: named(t, name, text(name))}
		}
		for name, members := range b.teams {
			w.teams[name] = members
		}
		w.start(args[0], nil)
		return tableTree{w}
	}
}

// tablePlay plays one case.
type tablePlay struct{ *play }

func (p tablePlay) show() string { return p.state() }

func (p tablePlay) step(text string) (string, error) {
	switch text {
	case "show":
	case "log":
		return strings.Join(p.texts(), "; "), nil
	case "next":
		return instant(p.c.NextDue()), nil
	case "stakeholders":
		return strings.Join(p.c.Stakeholders, " "), nil
	default:
		if err := p.do(text); err != nil {
			return "", err
		}
	}
	return p.show(), nil
}

// tableTimer plays one case and looks at one of its timers.
type tableTimer struct {
	*timerPlay
	timer string
}

func (p tableTimer) show() string { return p.shows(p.timer) }

func (p tableTimer) step(text string) (string, error) {
	switch text {
	case "state", "log":
		return tablePlay{p.play}.step(strings.Replace(text, "state", "show", 1))
	case "warnings":
		return warnings(p.c), nil
	}
	if err := p.at(text); err != nil {
		return "", err
	}
	return p.show(), nil
}

// tableTree plays a case whose id is 17, with its children.
type tableTree struct{ *world }

func (w tableTree) show() string { return w.world.show(17) }

func (w tableTree) step(text string) (string, error) {
	words := strings.Fields(text)
	id := int64(17)
	if len(words) == 2 {
		if n, err := strconv.ParseInt(words[1], 10, 64); err == nil {
			id = n
		}
	}
	switch words[0] {
	case "show":
		return w.world.show(id), nil
	case "log":
		p := play{log: w.logs[id]}
		return strings.Join(p.texts(), "; "), nil
	case "due":
		return instant(w.cases[id].NextDue()), nil
	case "warnings":
		return warnings(w.cases[id]), nil
	case "tasks":
		if tasks := w.tasks(words[1]); tasks != nil {
			return strings.Join(tasks, ", "), nil
		}
		return "none", nil
	}
	if err := w.do(text); err != nil {
		return "", err
	}
	return w.show(), nil
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.RFC3339)
}

func warnings(c *Case) string {
	if len(c.Warnings) == 0 {
		return "none"
	}
	var texts []string
	for _, w := range c.Warnings {
		texts = append(texts, w.Timer+": "+w.Text)
	}
	return strings.Join(texts, "; ")
}

// TestTables checks that each row of the tables is played, or says why not: a
// test that it names must exist, and must name the row unless it is of another
// package. And each id that the tests of this package name is a row.
func TestTables(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, tab := range readTables(t) {
		for _, row := range tab.rows {
			if ids[row.id] {
				t.Errorf("%s: there are two rows %s", tab.path, row.id)
			}
			ids[row.id] = true
			switch played := regexp.MustCompile(`^Played by (Test\w+) in ([\w/]+)\.$`).FindStringSubmatch(row.sentence); {
			case row.blocks != nil && row.sentence == "":
			case row.blocks != nil:
				t.Errorf("%s: the row %s is played here, and says %q", tab.path, row.id, row.sentence)
			case strings.HasPrefix(row.sentence, "Not played: "):
			case played == nil:
				t.Errorf("%s: nothing plays the row %s", tab.path, row.id)
			default:
				checkPlayed(t, row.id, played[1], played[2])
			}
		}
	}
	// What looks like the id of a row, and is quoted or stands in a comment.
	id := regexp.MustCompile(`\b(?:TM-?[0-9]+|RQ-[0-9]+|CS[0-9]|SIM-\w+)\b`)
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		for _, found := range id.FindAllString(readText(t, path), -1) {
			if !ids[found] {
				t.Errorf("%s names %s, and no table has that row", path, found)
			}
		}
	}
}

// checkPlayed looks for a test in the files of a package.
func checkPlayed(t *testing.T, id, test, pkg string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text := readText(t, path)
		if !strings.Contains(text, "\nfunc "+test+"(") {
			continue
		}
		if pkg == "engine/machine" && !strings.Contains(text, id) {
			t.Errorf("%s does not name the row %s", path, id)
		}
		return
	}
	t.Errorf("the row %s is to be played by %s in %s, which does not exist", id, test, pkg)
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readTables(t *testing.T) (all []*table) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(tableFolder, "*.txt"))
	if err != nil || paths == nil {
		t.Fatalf("no tables in %s: %v", tableFolder, err)
	}
	for _, path := range paths {
		tab := &table{path: path, lines: strings.Split(readText(t, path), "\n"), routes: map[string]string{}}
		tab.read(t)
		all = append(all, tab)
	}
	return all
}

// read finds the rows, routes and blocks of the table.
func (tab *table) read(t *testing.T) {
	t.Helper()
	for i := 0; i < len(tab.lines); i++ {
		line := tab.lines[i]
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "##":
			tab.rows = append(tab.rows, tableRow{id: rest})
		case word == "route":
			end := i + slices.Index(tab.lines[i:], "----")
			tab.routes[rest] = strings.Join(tab.lines[i+1:end], "\n") + "\n"
			i = end
		case word == "play", word == "timer", word == "tree":
			b := tableBlock{line: i, words: strings.Fields(line), teams: map[string][]string{}}
			i = b.read(tab.lines)
			row := &tab.rows[len(tab.rows)-1]
			row.blocks = append(row.blocks, b)
		case strings.HasPrefix(line, "Played by "), strings.HasPrefix(line, "Not played: "):
			tab.rows[len(tab.rows)-1].sentence = line
		case word == "with", word == "team", word == "----":
			t.Fatalf("%s:%d: %q outside of a block", tab.path, i+1, line)
		}
	}
}

// read reads the lines of a block, and returns the number of the one after it.
func (b *tableBlock) read(lines []string) int {
	parts := map[string]string{}
	i := b.line + 1
	for ; lines[i] != "----"; i++ {
		switch word, rest, _ := strings.Cut(lines[i], " "); word {
		case "with":
			name, text, _ := strings.Cut(rest, " ")
			if had, more := parts[name]; more {
				text = had + "\n" + text
			}
			parts[name] = text
		case "team":
			name, members, _ := strings.Cut(rest, " ")
			b.teams[name] = strings.Fields(members)
		default:
			b.steps = append(b.steps, lines[i])
		}
	}
	for name, text := range parts {
		b.with = append(b.with, "$"+name, text)
	}
	i++
	for b.results = i; i < len(lines) && lines[i] != ""; i++ {
		b.want = append(b.want, lines[i])
	}
	return i
}

// write writes the table with what its blocks expect now.
func (tab *table) write(t *testing.T) {
	t.Helper()
	var out []string
	next := 0
	for _, row := range tab.rows {
		for _, b := range row.blocks {
			out = append(append(out, tab.lines[next:b.results]...), b.want...)
			for next = b.results; next < len(tab.lines) && tab.lines[next] != ""; next++ {
				continue
			}
		}
	}
	out = append(out, tab.lines[next:]...)
	if err := os.WriteFile(tab.path, []byte(strings.Join(out, "\n")), 0o644); err != nil {
		t.Fatal(fmt.Errorf("update: %w", err))
	}
}
