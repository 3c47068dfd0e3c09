package davfs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"flowdrive/schema"
)

// schemasFolder is Workflow/Schemas/: a JSON Schema for every document of the
// drive, for editors and for those who write programs.
func schemasFolder(s *scope) node {
	return fixedFolder{s, "Schemas", func(*scope) []place {
		names := schema.Names()
		places := make([]place, len(names))
		for i, name := range names {
			file := name + ".schema.json"
			places[i] = place{file, func(s *scope) node { return schemaFile{s, name, file} }, true}
		}
		return places
	}}
}

// schemaFile is Schemas/<name>.schema.json.
type schemaFile struct {
	*scope
	schema string
	name   string
}

const typeSchema = "application/schema+json"

func (n schemaFile) stat(context.Context) (*info, error) {
	data := schema.JSON(n.schema)
	sum := sha256.Sum256(data)
	return &info{
		name: n.name, size: int64(len(data)), etag: fmt.Sprintf("\"%x\"", sum[:16]),
		mediaType: typeSchema, created: n.since, modified: n.since,
	}, nil
}

func (n schemaFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	about, err := n.stat(ctx)
	return about, contentOf(schema.JSON(n.schema)), err
}
