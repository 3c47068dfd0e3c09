package schema

import (
	_ "embed"
	"strings"

	"flowdrive/internal/document"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the description of the drive over HTTP, an OpenAPI 3.1
// document that refers to nothing outside: the JSON Schemas are among its
// components, by their names.
func OpenAPI() []byte {
	doc := ours("openapi.json", openAPI)
	schemas := doc.At("components", "schemas")
	for _, name := range Names() {
		schema := ours(name, JSON(name))
		asPart(schema, name)
		schemas.Members = append(schemas.Members, document.Member{Key: name, Value: schema})
	}
	return append(doc.AppendJSON(nil), '\n')
}

// ours parses a file of this package.
func ours(name string, data []byte) *document.Node {
	node, err := document.ParseJSON(data)
	if err != nil {
		panic("schema: the embedded file " + name + " is not JSON: " + err.Error())
	}
	return node
}

// asPart makes a schema a part of a larger document: it has no identity of its
// own there, and its references begin elsewhere.
func asPart(n *document.Node, name string) {
	kept := n.Members[:0]
	for _, m := range n.Members {
		switch m.Key {
		case "$id", "$schema", "$anchor":
			continue
		case "$ref":
			if at, local := strings.CutPrefix(m.Value.Text, "#/"); local {
				m.Value.Text = "#/components/schemas/" + name + "/" + at
			}
		}
		asPart(m.Value, name)
		kept = append(kept, m)
	}
	n.Members = kept
	for _, item := range n.Items {
		asPart(item, name)
	}
}
