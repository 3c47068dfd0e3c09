package policy

import (
	"fmt"
	"go/ast"
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
