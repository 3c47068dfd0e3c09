package sqlite

import sqlite3 "github.com/mattn/go-sqlite3"

// Version returns the version of SQLite itself.
func Version() string {
	version, _, _ := sqlite3.Version()
	return version
}
