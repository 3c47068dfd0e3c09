package policy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// mostArchitecture is how many lines of text ARCHITECTURE.md may have and still be
// read. Rows of its tables, one for each package and module, are looked up and do not count.
const mostArchitecture = 170

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
	if n := strings.Count(text, "\n") - strings.Count(text, "\n|"); n > mostArchitecture {
		faults = append(faults, fmt.Sprintf("ARCHITECTURE.md has %d lines beside its tables, more than %d", n, mostArchitecture))
	}
	return faults
}

var (
	// quotedPath matches what may be the path of a file or folder, with names that
	// are declared in it.
	quotedPath = regexp.MustCompile("`([a-z.][\\w./-]*)`(?: \\(((?:`\\w+`(?:, )?)+)\\))?")
	quotedName = regexp.MustCompile("`(\\w+)`")
	// fileName matches a file's name without a folder.
	fileName = regexp.MustCompile(`^[\w-]+\.(?:go|sql|json|md|txt|sh|yaml)$`)
)

// checkPaths wants every path in backticks in ARCHITECTURE.md to be there, from
// the root, and the names in parentheses behind it to be in that file.
func checkPaths(t tree) []string {
	doc, err := fs.ReadFile(t.fsys, "ARCHITECTURE.md")
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	for i, line := range strings.Split(string(doc), "\n") {
		for _, found := range quotedPath.FindAllStringSubmatch(line, -1) {
			name := strings.TrimSuffix(found[1], "/")
			if !strings.Contains(name, "/") && !fileName.MatchString(name) {
				continue
			}
			info, err := fs.Stat(t.fsys, name)
			if err != nil {
				faults = append(faults, fmt.Sprintf("ARCHITECTURE.md:%d: there is no %s", i+1, name))
				continue
			}
			faults = append(faults, t.absentNames(i+1, name, info, quotedName.FindAllStringSubmatch(found[2], -1))...)
		}
	}
	return faults
}

// absentNames says which of the names are not words of the file.
func (t tree) absentNames(line int, name string, info fs.FileInfo, quoted [][]string) (faults []string) {
	if len(quoted) == 0 || info.IsDir() {
		return nil
	}
	text, err := fs.ReadFile(t.fsys, name)
	if err != nil {
		return []string{err.Error()}
	}
	for _, q := range quoted {
		if !regexp.MustCompile(`\b` + q[1] + `\b`).Match(text) {
			faults = append(faults, fmt.Sprintf("ARCHITECTURE.md:%d: %s has no %s", line, name, q[1]))
		}
	}
	return faults
}

// goFile matches the name or path of a Go file.
var goFile = regexp.MustCompile(`[\w/-]*\w\.go\b`)

// checkDocFiles wants the Go files that a package comment names to be there, in
// the package's folder or from the root, and every file of a node to be in the
// picture of its package.
func checkDocFiles(t tree) []string {
	var faults []string
	named := map[string]bool{}
	for _, f := range t.files {
		if f.test || f.ast.Doc == nil {
			continue
		}
		for _, name := range goFile.FindAllString(f.ast.Doc.Text(), -1) {
			beside := path.Join(f.dir, name)
			named[beside] = true
			if !t.has(beside) && !t.has(name) {
				faults = append(faults, fmt.Sprintf("%s: the package comment names %s, which is not there", f.path, name))
			}
		}
	}
	for _, f := range t.files {
		if !f.test && strings.HasPrefix(path.Base(f.path), "node_") && !named[f.path] {
			faults = append(faults, fmt.Sprintf("%s is not in the package comment", f.path))
		}
	}
	return faults
}

// has reports whether there is a file of that path from the root.
func (t tree) has(name string) bool {
	_, err := fs.Stat(t.fsys, name)
	return err == nil
}

// How long the README may be and still be read, in lines and in characters a
// line.
const (
	mostReadme     = 230
	mostReadmeLine = 200
)

// By which line the README shows a picture, and says what there is not yet.
const (
	readmePicture = 45
	readmeNotYet  = 60
)

// checkReadme wants the README to be short; what is longer has a page in docs/. Its
// first screen has a picture and says what there is not yet.
func checkReadme(t tree) []string {
	text, err := fs.ReadFile(t.fsys, "README.md")
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) > mostReadme {
		faults = append(faults, fmt.Sprintf("README.md has %d lines, more than %d", len(lines), mostReadme))
	}
	for _, want := range []struct {
		what string
		by   int
	}{{"![", readmePicture}, {"not yet", readmeNotYet}} {
		what, by := want.what, want.by
		if top := strings.ToLower(strings.Join(lines[:min(by, len(lines))], "\n")); len(lines) > by && !strings.Contains(top, what) {
			faults = append(faults, fmt.Sprintf("README.md: %q is not within the first %d lines", what, by))
		}
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > mostReadmeLine {
			faults = append(faults, fmt.Sprintf("README.md:%d: %d characters, more than %d", i+1, n, mostReadmeLine))
		}
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
