package policy

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
)

// mostParameters is how many parameters a function of the program has at most,
// a context among them. A call with more is read by counting commas.
const mostParameters = 5

// checkSignatures wants short lists of parameters, and no two booleans in one:
// a call like f(x, true, false) does not say what it asks for.
func checkSignatures(t tree) []string {
	var faults []string
	for _, f := range t.files {
		if f.test || ast.IsGenerated(f.ast) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if _, function := spec.Type.(*ast.FuncType); function {
					return false // it may be the type of a function of another module
				}
			}
			signature, ok := n.(*ast.FuncType)
			if !ok {
				return true
			}
			all, booleans := countParameters(signature)
			if all > mostParameters {
				faults = append(faults, fmt.Sprintf("%s: %d parameters, more than %d: which of them are one thing?", t.at(n), all, mostParameters))
			}
			if booleans > 1 {
				faults = append(faults, fmt.Sprintf("%s: %d booleans in one list of parameters", t.at(n), booleans))
			}
			return true
		})
	}
	return faults
}

// mostMethods is how many methods a type has at most. One that has more does
// several things: a part of it that has a name becomes a type.
const mostMethods = 80

// checkMethods wants types that a reader can hold in mind.
func checkMethods(t tree) []string {
	methods := map[string]int{}
	for _, f := range t.files {
		if f.test || ast.IsGenerated(f.ast) {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[f.dir+"."+receiver(fn.Recv.List[0].Type)]++
			}
		}
	}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		if n := methods[name]; n > mostMethods {
			faults = append(faults, fmt.Sprintf("%s has %d methods, more than %d: which of them are one thing?", name, n, mostMethods))
		}
	}
	return faults
}

// widest is how many methods an interface has at most, with those of the interfaces in
// it. Who takes one must be able to say what it does with it.
const widest = 20

// face is what an interface declares.
type face struct {
	methods int
	within  []string // the names of interfaces in it, with their package
}

// checkWidths wants interfaces that a reader can hold in mind.
func checkWidths(t tree) []string {
	faces := map[string]face{}
	for _, f := range t.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if declared, ok := spec.Type.(*ast.InterfaceType); ok {
				faces[path.Base(f.dir)+"."+spec.Name.Name] = faceOf(path.Base(f.dir), declared)
			}
			return true
		})
	}
	var width func(name string) int
	width = func(name string) int {
		n := faces[name].methods
		for _, inner := range faces[name].within {
			n += width(inner)
		}
		return n
	}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(faces)) {
		if n := width(name); n > widest {
			faults = append(faults, fmt.Sprintf("%s has %d methods, more than %d: which of them are one noun's?", name, n, widest))
		}
	}
	return faults
}

func faceOf(pkg string, declared *ast.InterfaceType) face {
	var f face
	for _, field := range declared.Methods.List {
		f.methods += len(field.Names)
		switch inner := field.Type.(type) {
		case *ast.Ident:
			f.within = append(f.within, pkg+"."+inner.Name)
		case *ast.SelectorExpr:
			f.within = append(f.within, fmt.Sprint(inner.X, ".", inner.Sel.Name))
		}
	}
	return f
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func countParameters(signature *ast.FuncType) (all, booleans int) {
	for _, field := range signature.Params.List {
		n := max(len(field.Names), 1)
		all += n
		if name, ok := field.Type.(*ast.Ident); ok && name.Name == "bool" {
			booleans += n
		}
	}
	return all, booleans
}
