package route

import (
	"slices"

	"flowdrive/internal/document"
)

// Named returns the names of the routes that a document names, as it writes them, in
// its order and each once: those of the children of its actions, and those that its
// steps start. The document may have faults.
func Named(node *document.Node) []string {
	var names []string
	var walk func(n *document.Node)
	walk = func(n *document.Node) {
		for _, item := range n.Items {
			walk(item)
		}
		for _, m := range n.Members {
			if m.Key == "child" || m.Key == "start" {
				if name := m.Value.Get("route"); name != nil && name.Kind == document.String && !slices.Contains(names, name.Text) {
					names = append(names, name.Text)
				}
			}
			walk(m.Value)
		}
	}
	walk(node)
	return names
}
