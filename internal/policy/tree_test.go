package policy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// module is the path of the module in go.mod.
const module = "flowdrive"

// tree is the repository as the rules see it. The files are read in this
// process, not by "go list", so that they count as inputs of the test and a
// cached result cannot be stale; and files behind build tags are seen too.
type tree struct {
	fsys  fs.FS
	fset  *token.FileSet
	files []file
}

// file is one Go file.
type file struct {
	path string // from the root, with slashes
	dir  string // its package, as the rows name it
	test bool
	src  []byte
	ast  *ast.File
}

// readTree parses every Go file of the module below the root of fsys.
func readTree(fsys fs.FS) (tree, error) {
	t := tree{fsys: fsys, fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(fsys, name)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(t.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		t.files = append(t.files, file{
			path: name,
			dir:  path.Dir(name),
			test: strings.HasSuffix(name, "_test.go"),
			src:  src,
			ast:  parsed,
		})
		return nil
	})
	return t, err
}

// enter skips the folders that hold no package of this module: those the go
// command ignores, and modules of their own.
func enter(fsys fs.FS, name string) error {
	if name == "." {
		return nil
	}
	base := path.Base(name)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := fs.Stat(fsys, name+"/go.mod"); err == nil {
		return fs.SkipDir
	}
	return nil
}

// packages returns the folders that hold Go files, each once, in order.
func (t tree) packages() []string {
	var dirs []string
	for _, f := range t.files {
		if len(dirs) == 0 || dirs[len(dirs)-1] != f.dir {
			dirs = append(dirs, f.dir)
		}
	}
	return unique(dirs)
}

// unique drops repetitions and keeps the order.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	var out []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// at returns the place of a node as file:line.
func (t tree) at(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// importPath returns the path of an import without its quotes.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// importNames maps the names under which the file knows its imports to their
// paths.
func (f file) importNames() map[string]string {
	names := make(map[string]string, len(f.ast.Imports))
	for _, spec := range f.ast.Imports {
		p := importPath(spec)
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

// uses calls yield for every selector on an imported package ("time.Now").
func (f file) uses(yield func(n ast.Node, importPath, name string)) {
	names := f.importNames()
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && names[x.Name] != "" {
			yield(sel, names[x.Name], sel.Sel.Name)
		}
		return true
	})
}
