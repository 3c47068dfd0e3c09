package policy

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// mostArchitecture is how long ARCHITECTURE.md may be and still be read.
const mostArchitecture = 250

// checkArchitecture wants ARCHITECTURE.md to name every package and the
// reason for every direct dependency, and to stay short.
func checkArchitecture(t tree) []string {
	doc, err := fs.ReadFile(t.fsys, "ARCHITECTURE.md")
	if err != nil {
		return []string{err.Error()}
	}
	text := string(doc)
	var faults []string
	for _, p := range t.packages() {
		if !names(text, p) {
			faults = append(faults, fmt.Sprintf("ARCHITECTURE.md does not mention package %s", p))
		}
	}
	mods, err := directDependencies(t.fsys)
	if err != nil {
		return append(faults, err.Error())
	}
	for _, m := range mods {
		if !names(text, shortModule(m)) {
			faults = append(faults, fmt.Sprintf("ARCHITECTURE.md does not say why there is %s", m))
		}
	}
	if n := strings.Count(text, "\n"); n > mostArchitecture {
		faults = append(faults, fmt.Sprintf("ARCHITECTURE.md has %d lines, more than %d", n, mostArchitecture))
	}
	return faults
}

// names reports whether text mentions the path, not merely a longer one that
// contains it.
func names(text, path string) bool {
	re := regexp.MustCompile(`(?:^|[^\w./-])(?:github\.com/)?` + regexp.QuoteMeta(path) + `/?(?:/v\d+)?(?:[^\w/-]|$)`)
	return re.MatchString(text)
}

// shortModule is a module's path as people write it: without the host that
// most share and without the major version.
func shortModule(m string) string {
	m = strings.TrimPrefix(m, "github.com/")
	return regexp.MustCompile(`/v\d+$`).ReplaceAllString(m, "")
}

// directDependencies returns the modules that go.mod requires and does not
// mark as indirect.
func directDependencies(fsys fs.FS) ([]string, error) {
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, err
	}
	var direct []string
	block := false
	for line := range strings.Lines(string(mod)) {
		code, comment, _ := strings.Cut(line, "//")
		words := strings.Fields(code)
		switch {
		case len(words) == 2 && words[0] == "require" && words[1] == "(":
			block = true
		case len(words) == 1 && words[0] == ")":
			block = false
		case strings.TrimSpace(comment) == "indirect":
		case block && len(words) == 2:
			direct = append(direct, words[0])
		case len(words) == 3 && words[0] == "require":
			direct = append(direct, words[1])
		}
	}
	return direct, nil
}
