package policy

import (
	"bytes"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// mostLines is the length that no Go file passes. The aim is 500; what grows
// beyond holds two things.
const mostLines = 600

type node = ast.Node

// goStatements returns the statements that start a goroutine.
func (f file) goStatements() []node {
	var out []node
	ast.Inspect(f.ast, func(n node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			out = append(out, g)
		}
		return true
	})
	return out
}

// checkPackageDocs wants one doc comment per package, in one file, that
// begins with its name.
func checkPackageDocs(t tree) []string {
	docs := map[string][]file{}
	for _, f := range t.files {
		if !f.test && f.ast.Doc != nil {
			docs[f.dir] = append(docs[f.dir], f)
		}
	}
	var faults []string
	for _, p := range t.packages() {
		if n := len(docs[p]); n != 1 {
			faults = append(faults, fmt.Sprintf("package %s has %d package comments, not one", p, n))
			continue
		}
		f := docs[p][0]
		want := "Package " + f.ast.Name.Name + " "
		if f.ast.Name.Name == "main" {
			want = "Command " + path.Base(p) + " "
		}
		if text := f.ast.Doc.Text(); !strings.HasPrefix(text, want) {
			faults = append(faults, fmt.Sprintf("%s: the package comment does not begin with %q", f.path, want))
		}
	}
	return faults
}

// checkNames wants packages named for what they are about.
func checkNames(t tree) []string {
	var faults []string
	for _, p := range t.packages() {
		for part := range strings.SplitSeq(p, "/") {
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "models", "misc", "shared"}, part) {
				faults = append(faults, fmt.Sprintf("package %s: %q says nothing about what is in it", p, part))
			}
		}
	}
	return faults
}

// checkLength keeps files short.
func checkLength(t tree) []string {
	var faults []string
	for _, f := range t.files {
		if n := bytes.Count(f.src, []byte("\n")); n > mostLines && !ast.IsGenerated(f.ast) {
			faults = append(faults, fmt.Sprintf("%s has %d lines, more than %d: which two things does it hold?", f.path, n, mostLines))
		}
	}
	return faults
}

// checkWords wants no notes about unfinished work in the code: what is not
// built says so to whoever calls it.
func checkWords(t tree) []string {
	var faults []string
	for _, f := range t.files {
		for i, line := range strings.Split(string(f.src), "\n") {
			for _, word := range []string{"TO" + "DO", "FIX" + "ME", "XX" + "X:", "HA" + "CK:"} {
				if strings.Contains(line, word) {
					faults = append(faults, fmt.Sprintf("%s:%d: %s", f.path, i+1, word))
				}
			}
		}
	}
	return faults
}

// checkSleep wants tests to wait for what they wait for: with the time as an
// argument, in a synctest bubble, or for a signal.
func checkSleep(t tree) []string {
	var faults []string
	for _, f := range t.files {
		if !f.test {
			continue
		}
		f.uses(func(n node, p, name string) {
			if p == "time" && name == "Sleep" {
				faults = append(faults, t.at(n)+": a test sleeps")
			}
		})
	}
	return faults
}

// checkCorpora wants every fuzz target to have a committed corpus, so that
// what was found once is tried on every run.
func checkCorpora(t tree) []string {
	var faults []string
	for _, f := range t.files {
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !f.test || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Fuzz") {
				continue
			}
			corpus := path.Join(f.dir, "testdata/fuzz", fn.Name.Name)
			if entries, err := fs.ReadDir(t.fsys, corpus); err != nil || len(entries) == 0 {
				faults = append(faults, fmt.Sprintf("%s: %s has no corpus in %s", t.at(fn), fn.Name.Name, corpus))
			}
		}
	}
	return faults
}
