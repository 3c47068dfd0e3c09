package schema

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed json/*.json
var jsonFiles embed.FS

// Names returns the names of the JSON Schemas, sorted.
func Names() []string {
	files, err := jsonFiles.ReadDir("json")
	if err != nil {
		panic("schema: the embedded files have no folder json: " + err.Error())
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".schema.json")
	}
	return names
}

// Files returns the JSON Schemas as files, <kind>.schema.json.
func Files() fs.FS {
	sub, err := fs.Sub(jsonFiles, "json")
	if err != nil {
		panic("schema: the embedded files have no folder json: " + err.Error())
	}
	return sub
}

// JSON returns the JSON Schema of a kind of document, such as "route", or nil
// if there is no such kind. The caller owns the bytes.
func JSON(name string) []byte {
	data, err := jsonFiles.ReadFile("json/" + name + ".schema.json")
	if err != nil {
		return nil
	}
	return data
}
