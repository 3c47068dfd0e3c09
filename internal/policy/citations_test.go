package policy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// document is a text of the repository that may cite another one.
type document struct {
	path string // from the root, with slashes
	text string
}

// documents reads the texts that people write: Go, SQL, shell, Markdown, and the
// transcripts and scripts of tests.
func documents(fsys fs.FS) ([]document, error) {
	var docs []document
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			base := path.Base(name)
			if name != "." && (strings.HasPrefix(base, ".") || base == "node_modules") {
				return fs.SkipDir
			}
		case slices.Contains([]string{".go", ".sql", ".sh", ".md", ".txt"}, path.Ext(name)):
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			docs = append(docs, document{path: name, text: string(text)})
		}
		return nil
	})
	return docs, err
}

var (
	// citation matches the path of a page, with the anchor of a heading.
	citation = regexp.MustCompile(`\bdocs/[\w/-]+\.md(?:#[\w-]+)?`)
	// link matches the end of a link in Markdown.
	link = regexp.MustCompile(`\]\(([^()\s]+)\)`)
)

// checkCitations wants every page that a text cites by its path to be there,
// and every link between the documents to lead somewhere. If an anchor is
// given, the page must have its heading.
func checkCitations(t tree) []string {
	docs, err := documents(t.fsys)
	if err != nil {
		return []string{err.Error()}
	}
	pages := map[string]map[string]bool{}
	for _, d := range docs {
		if path.Ext(d.path) == ".md" {
			pages[d.path] = anchors(d.text)
		}
	}
	var faults []string
	for _, d := range docs {
		if path.Ext(d.path) != ".md" && !strings.Contains(d.text, "docs/") {
			continue // most of them
		}
		for i, line := range strings.Split(d.text, "\n") {
			for _, target := range d.targets(line) {
				if why := unresolved(t.fsys, pages, target); why != "" {
					faults = append(faults, fmt.Sprintf("%s:%d: %s: %s", d.path, i+1, target, why))
				}
			}
		}
	}
	return faults
}

// targets returns what a line cites: paths from the root, each with its anchor
// if it has one.
func (d document) targets(line string) []string {
	targets := citation.FindAllString(line, -1)
	if path.Ext(d.path) != ".md" {
		return targets
	}
	for _, found := range link.FindAllStringSubmatch(line, -1) {
		to, anchor, anchored := strings.Cut(found[1], "#")
		if strings.Contains(to, ":") { // another site's
			continue
		}
		if to == "" {
			to = d.path
		} else {
			to = path.Join(path.Dir(d.path), to)
		}
		if anchored {
			to += "#" + anchor
		}
		targets = append(targets, to)
	}
	return unique(targets)
}

// unresolved says why a target leads nowhere, "" if it does not.
func unresolved(fsys fs.FS, pages map[string]map[string]bool, target string) string {
	to, anchor, anchored := strings.Cut(target, "#")
	if _, err := fs.Stat(fsys, to); err != nil {
		return "there is no such file"
	}
	if anchored && !pages[to][anchor] {
		return "the page has no such heading"
	}
	return ""
}

// anchors returns the anchors that GitHub gives to the headings of a page.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		heading := strings.TrimLeft(line, "#")
		if fenced || heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		base := anchor(strings.TrimSpace(heading))
		name := base
		for n := 1; found[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		found[name] = true
	}
	return found
}

// anchor returns a heading in lower case, with hyphens for blanks and without
// other punctuation.
func anchor(heading string) string {
	heading = link.ReplaceAllString(heading, "]") // a link's text stays
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// oldCitation matches a citation of a page by its title and section.
var oldCitation = regexp.MustCompile(`[(;]\s*design:`)

// checkCitationForm wants texts to cite pages of the repository by their paths.
func checkCitationForm(t tree) []string {
	docs, err := documents(t.fsys)
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	for _, d := range docs {
		if !oldCitation.MatchString(d.text) {
			continue
		}
		for i, line := range strings.Split(d.text, "\n") {
			if oldCitation.MatchString(line) {
				faults = append(faults, fmt.Sprintf("%s:%d: cite the page by its path, as the README of the contract says", d.path, i+1))
			}
		}
	}
	return faults
}
