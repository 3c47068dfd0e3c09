// Package schema holds the migrations of both databases and the JSON
// Schemas of the drive's documents. It only hands them out. Package
// store/sqlite and store/postgres apply the migrations; the readers of documents use the
// schemas.
package schema

import (
	"embed"
	"io/fs"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

//go:embed postgres/*.sql
var postgresFiles embed.FS

// Migrations returns the migrations, numbered files that only go forward,
// each to be run in one transaction (docs/contract/storage.md#1-sqlite).
func Migrations() fs.FS {
	sub, err := fs.Sub(sqlFiles, "sql")
	if err != nil {
		panic("schema: the embedded files have no folder sql: " + err.Error())
	}
	return sub
}

// PostgreSQLMigrations returns the same for PostgreSQL. The first has the number of the
// migration of SQLite after which both have the same columns; from then on each has
// one of each number.
func PostgreSQLMigrations() fs.FS {
	sub, err := fs.Sub(postgresFiles, "postgres")
	if err != nil {
		panic("schema: the embedded files have no folder postgres: " + err.Error())
	}
	return sub
}
