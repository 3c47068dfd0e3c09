package route

import (
	"fmt"
	"strings"

	"flowdrive/document"
	"flowdrive/errs"
)

// unbuilt is the part of the language that is checked and not carried out
// yet: a path, in which * stands for every key or index, and the value that
// asks for nothing, as JSON; absent, null and empty objects and lists never
// do. A feature that gets built loses its line here.
func unbuilt() [][2]string {
	return [][2]string{
		{"retention", `"P15D"`},
		{"then", `"archive"`},
	}
}

// notBuilt returns the error of a document that asks for what is not built
// yet, with every place where it does.
func notBuilt(root *document.Node) error {
	var asked document.Faults
	for _, row := range unbuilt() {
		collect(root, "", strings.Split(row[0], "/"), row[1], &asked)
	}
	faults := merge(nil, asked.List())
	if len(faults) == 0 {
		return nil
	}
	detail := fmt.Sprintf("The route is right, but asks for what this version does not do yet: %s.", faults[0])
	if more := len(faults) - 1; more > 0 {
		detail += fmt.Sprintf(" (And %d more, see errors.)", more)
	}
	return &errs.Error{Kind: errs.NotBuilt, Detail: detail, Faults: faults}
}

// collect notes every value at the path that asks for something.
func collect(n *document.Node, pointer string, path []string, nothing string, asked *document.Faults) {
	if n == nil {
		return
	}
	if len(path) == 0 {
		if asks(n, nothing) {
			asked.Add(n, pointer, errs.CodeRange, "is not built yet")
		}
		return
	}
	if path[0] != "*" {
		collect(n.Get(path[0]), document.Pointer(pointer, path[0]), path[1:], nothing, asked)
		return
	}
	for i := range n.Members {
		m := &n.Members[i]
		collect(m.Value, document.Pointer(pointer, m.Key), path[1:], nothing, asked)
	}
}

func asks(n *document.Node, nothing string) bool {
	switch n.Kind {
	case document.Null:
		return false
	case document.List:
		return len(n.Items) > 0
	case document.Object:
		return len(n.Members) > 0
	case document.Bool, document.Number, document.String:
	}
	return nothing == "" || string(n.AppendJSON(nil)) != nothing
}
