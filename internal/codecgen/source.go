package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// declaration is a type with what is needed to resolve the names in it.
type declaration struct {
	name string
	expr ast.Expr
	file *ast.File
	home *folder
}

// folder is a package of this module, as far as its types go.
type folder struct {
	dir   string
	name  string
	types map[string]declaration
}

// source holds the packages that have been read.
type source struct {
	root    string // the folder of go.mod
	module  string
	folders map[string]*folder // by their path on disk
}

// openSource finds the module that the folder belongs to.
func openSource(dir string) (*source, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			first, _, _ := strings.Cut(string(mod), "\n")
			return &source{root: root, module: strings.TrimPrefix(first, "module "), folders: map[string]*folder{}}, nil
		}
		if root == filepath.Dir(root) {
			return nil, fmt.Errorf("no go.mod above %s", dir)
		}
		root = filepath.Dir(root)
	}
}

// read returns the types of the package in a folder. The file that is to be
// written is skipped, so that a broken one can be replaced.
func (s *source) read(dir, skip string) (*folder, error) {
	if f := s.folders[dir]; f != nil {
		return f, nil
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, types: map[string]declaration{}}
	s.folders[dir] = f
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") || filepath.Base(p) == skip {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		f.add(parsed)
	}
	return f, nil
}

// add takes in the types that a file declares.
func (f *folder) add(parsed *ast.File) {
	f.name = parsed.Name.Name
	for _, decl := range parsed.Decls {
		list, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range list.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok {
				f.types[t.Name.Name] = declaration{name: t.Name.Name, expr: t.Type, file: parsed, home: f}
			}
		}
	}
}

// lookup returns the declaration that a type expression inside d names. The
// result has no home if the type is predeclared or of another module; its name
// then is the import path and the name, or the name alone.
func (s *source) lookup(d declaration, expr ast.Expr) (declaration, error) {
	switch e := expr.(type) {
	case *ast.Ident:
		if found, ok := d.home.types[e.Name]; ok {
			return found, nil
		}
		return declaration{name: e.Name}, nil
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if !ok {
			break
		}
		imported := importOf(d.file, pkg.Name)
		below, ours := strings.CutPrefix(imported, s.module+"/")
		if !ours {
			return declaration{name: imported + "." + e.Sel.Name}, nil
		}
		home, err := s.read(filepath.Join(s.root, below), "")
		if err != nil {
			return declaration{}, err
		}
		if found, ok := home.types[e.Sel.Name]; ok {
			return found, nil
		}
		return declaration{}, fmt.Errorf("package %s has no type %s", imported, e.Sel.Name)
	}
	return declaration{}, fmt.Errorf("%s: the type %T is not supported", d.name, expr)
}

// importOf returns the path of the import that the file knows by that name.
func importOf(f *ast.File, name string) string {
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil && (spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(p) == name) {
			return p
		}
	}
	return name
}
