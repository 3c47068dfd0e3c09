package manual

import (
	"fmt"
	"io/fs"
	"strings"
)

// problemsFile has a heading of the second level for each type of problem: its slug.
const problemsFile = "reference/problems.md"

// addProblems makes a page of each section of the list of problems: problems/<slug>.
func (m *Manual) addProblems() error {
	for slug, text := range Problems(m.files) {
		page, err := render("problems/"+slug, "problems", []byte("# "+slug+"\n"+strings.ReplaceAll(text, "](#", "](/docs/problems/")))
		if err != nil {
			return fmt.Errorf("manual: the problem %s: %w", slug, err)
		}
		page.passages = nil // they are found where they stand
		m.pages[page.Path] = page
	}
	return nil
}

// Problems returns what the manual says of each type of problem, by slug. It returns
// nothing if the manual has no list of them.
func Problems(files fs.FS) map[string]string {
	all := map[string]string{}
	text, err := fs.ReadFile(files, problemsFile)
	if err != nil {
		return all
	}
	_, list, _ := strings.Cut(string(text), "\n## ")
	for section := range strings.SplitSeq(list, "\n## ") {
		slug, rest, _ := strings.Cut(section, "\n")
		all[strings.TrimSpace(slug)] = rest
	}
	return all
}
