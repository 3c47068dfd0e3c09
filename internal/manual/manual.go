// Package manual renders the pages of the manual from Markdown, lists them in the order
// in which README.md of the folder does, and searches them. A page is addressed by its
// path without ".md"; the folder itself is "".
//
//	manual.go     the pages and their order
//	render.go     a page as HTML
//	find.go       the search
//	problems.go   a page for each type of problem
package manual

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Manual is a manual that has been read. It does not change.
type Manual struct {
	files    fs.FS
	pages    map[string]*Page
	sections []Section
}

// Page is a page of the manual.
type Page struct {
	Path     string // without ".md"
	Title    string
	HTML     string // all below the title; trusted, since raw HTML is left out
	Headings []Heading
	passages []passage
}

// Heading is a heading of the second level.
type Heading struct{ ID, Text string }

// Section is a part of the manual, with its pages in their order.
type Section struct {
	Title string
	Pages []Entry
}

// Entry is a page as contents list it.
type Entry struct{ Path, Title string }

// ErrIncomplete is the error of a folder that is not a manual.
var ErrIncomplete = errors.New("manual: README.md is missing")

// New reads the Markdown files of a folder and those below it. Errors are those of reading,
// and ErrIncomplete.
func New(files fs.FS) (*Manual, error) {
	m := &Manual{files: files, pages: map[string]*Page{}}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		page, err := render(address(name), path.Dir(name), text)
		if err != nil {
			return fmt.Errorf("manual: %s: %w", name, err)
		}
		m.pages[page.Path] = page
		return nil
	})
	if err != nil {
		return nil, err
	}
	contents, err := fs.ReadFile(files, "README.md")
	if err != nil {
		return nil, ErrIncomplete
	}
	if err := m.addProblems(); err != nil {
		return nil, err
	}
	m.sections = m.order(string(contents))
	return m, nil
}

// address returns the address of a file: "tasks" of tasks.md, "contract" of
// contract/README.md.
func address(file string) string {
	file = strings.TrimSuffix(file, ".md")
	if dir, base := path.Split(file); base == "README" {
		return strings.TrimSuffix(dir, "/")
	}
	return file
}

// Page returns the page of the path, nil if there is none.
func (m *Manual) Page(path string) *Page { return m.pages[path] }

// Paths returns the paths of all pages, sorted.
func (m *Manual) Paths() []string {
	paths := make([]string, 0, len(m.pages))
	for p := range m.pages {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// Sections returns the contents. The caller does not change them.
func (m *Manual) Sections() []Section { return m.sections }

// Around returns the pages before and after a page in the order of the contents; an Entry
// without a title stands for none.
func (m *Manual) Around(path string) (before, after Entry) {
	var all []Entry
	for _, s := range m.sections {
		all = append(all, s.Pages...)
	}
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Path == path })
	if i < 0 {
		return Entry{}, Entry{}
	}
	if i > 0 {
		before = all[i-1]
	}
	if i+1 < len(all) {
		after = all[i+1]
	}
	return before, after
}

// order reads the contents from a page: a section is a heading of the second level, its
// pages are the links below it. A page that no section lists comes last in the section
// that has a page of the same folder, if there is one.
func (m *Manual) order(contents string) (sections []Section) {
	listed := map[string]bool{"": true}
	for line := range strings.Lines(contents) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, Section{Title: strings.TrimSpace(title)})
			continue
		}
		if len(sections) == 0 {
			continue
		}
		last := &sections[len(sections)-1]
		for _, link := range linkTo.FindAllStringSubmatch(line, -1) {
			p := address(path.Clean(link[1]))
			if page := m.pages[p]; page != nil && !listed[p] {
				listed[p] = true
				last.Pages = append(last.Pages, Entry{Path: p, Title: page.Title})
			}
		}
	}
	for _, p := range m.Paths() {
		folder := path.Dir(p)
		if listed[p] || folder == "." || folder == "problems" || folder == "decisions" {
			continue
		}
		for i, s := range sections {
			if slices.ContainsFunc(s.Pages, func(e Entry) bool { return path.Dir(e.Path) == folder }) {
				sections[i].Pages = append(sections[i].Pages, Entry{Path: p, Title: m.pages[p].Title})
				break
			}
		}
	}
	return slices.DeleteFunc(sections, func(s Section) bool { return len(s.Pages) == 0 })
}
