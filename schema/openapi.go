package schema

import (
	_ "embed"
	"slices"
	"strings"

	"flowdrive/internal/document"
)

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the description of the drive over HTTP, an OpenAPI 3.1
// document that refers to nothing outside: the JSON Schemas are among its
// components, by their names. What a schema defines for itself is a component of
// its own, such as case.form, because generators of clients follow no references
// into a component.
func OpenAPI() []byte {
	doc := ours("openapi.json", openAPI)
	asComponents(doc, "")
	schemas := doc.At("components", "schemas")
	for _, name := range Names() {
		schema := ours(name, JSON(name))
		choice := onlyChooses(schema)
		asComponents(schema, name)
		definitions := schema.Get("$defs")
		schema.Members = slices.DeleteFunc(schema.Members, func(m document.Member) bool { return m.Key == "$defs" })
		if !choice {
			schemas.Members = append(schemas.Members, document.Member{Key: name, Value: schema})
		}
		if definitions == nil {
			continue
		}
		for _, d := range definitions.Members {
			d.Key = componentName(name, d.Key)
			schemas.Members = append(schemas.Members, d)
		}
	}
	return append(doc.AppendJSON(nil), '\n')
}

// onlyChooses reports whether a schema says nothing but that one of its definitions
// holds. Operations refer to these, and it would be a component that nothing uses.
func onlyChooses(schema *document.Node) bool {
	choices := schema.Get("anyOf")
	return choices != nil && schema.Get("type") == nil && !slices.ContainsFunc(choices.Items, func(n *document.Node) bool {
		ref := n.Get("$ref")
		return ref == nil || !strings.HasPrefix(ref.Text, "#/$defs/")
	})
}

// componentName returns the name of the component that a definition of a schema
// becomes.
func componentName(schema, definition string) string { return schema + "." + definition }

// ours parses a file of this package.
func ours(name string, data []byte) *document.Node {
	node, err := document.ParseJSON(data)
	if err != nil {
		panic("schema: the embedded file " + name + " is not JSON: " + err.Error())
	}
	return node
}

// asComponents rewrites a schema, or the document itself if the name is "", as a
// part of the document: schemas have no identity of their own there, and
// references lead to components.
func asComponents(n *document.Node, name string) {
	n.Members = slices.DeleteFunc(n.Members, func(m document.Member) bool {
		return m.Value.Kind == document.String && (m.Key == "$id" || m.Key == "$schema" || m.Key == "$anchor")
	})
	oneTypeEach(n)
	for _, m := range n.Members {
		if m.Key == "$ref" {
			m.Value.Text = componentReference(m.Value.Text, name)
		}
		asComponents(m.Value, name)
	}
	for _, item := range n.Items {
		asComponents(item, name)
	}
}

// oneTypeEach makes a choice between several types one between schemas of a type
// each, which says the same. Generators of clients take null beside a type, but not two
// types.
func oneTypeEach(schema *document.Node) {
	at := slices.IndexFunc(schema.Members, func(m document.Member) bool { return m.Key == "type" && m.Value.Kind == document.List })
	if at < 0 || schema.Get("anyOf") != nil {
		return
	}
	types := schema.Members[at].Value.Items
	if values := slices.DeleteFunc(slices.Clone(types), func(t *document.Node) bool { return t.Text == "null" }); len(values) < 2 {
		return
	}
	items := schema.Get("items")
	choices := &document.Node{Kind: document.List}
	for _, t := range types {
		choice := &document.Node{Kind: document.Object, Members: []document.Member{{Key: "type", Value: t}}}
		if t.Text == "array" && items != nil {
			choice.Members = append(choice.Members, document.Member{Key: "items", Value: items})
		}
		choices.Items = append(choices.Items, choice)
	}
	schema.Members[at].Key, schema.Members[at].Value = "anyOf", choices
	schema.Members = slices.DeleteFunc(schema.Members, func(m document.Member) bool { return m.Key == "items" })
}

// componentReference returns where a reference of the named schema leads in the
// document.
func componentReference(reference, name string) string {
	const schemas = "#/components/schemas/"
	if definition, local := strings.CutPrefix(reference, "#/$defs/"); local && name != "" {
		return schemas + componentName(name, definition)
	}
	if from, definition, nested := strings.Cut(reference, "/$defs/"); nested && strings.HasPrefix(from, schemas) {
		return schemas + componentName(strings.TrimPrefix(from, schemas), definition)
	}
	return reference
}
