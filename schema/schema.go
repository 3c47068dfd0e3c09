// Package schema holds the migrations of the SQLite database and the JSON
// Schemas of the drive's documents. It only hands them out. Package
// store/sqlite applies the migrations; the readers of documents use the
// schemas.
package schema

import (
	"embed"
	"io/fs"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// Migrations returns the migrations, numbered files that only go forward,
// each to be run in one transaction (docs/contract/storage.md#1-sqlite).
func Migrations() fs.FS {
	sub, err := fs.Sub(sqlFiles, "sql")
	if err != nil {
		panic("schema: the embedded files have no folder sql: " + err.Error())
	}
	return sub
}
