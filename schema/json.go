package schema

import "embed"

//go:embed json/*.json
var jsonFiles embed.FS

// JSON returns the JSON Schema of a kind of document, "route" for instance,
// or nil where there is none of that name. The bytes are the caller's.
func JSON(name string) []byte {
	data, err := jsonFiles.ReadFile("json/" + name + ".schema.json")
	if err != nil {
		return nil
	}
	return data
}
