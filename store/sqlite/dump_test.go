package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// rawDB is a database without the store.
type rawDB struct{ *sql.DB }

func openRaw(t *testing.T, path string) rawDB {
	t.Helper()
	pool, err := openPool("file:"+path, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return rawDB{pool}
}

// restore makes a database of a dump.
func restore(t *testing.T, path, dump string) {
	t.Helper()
	raw := openRaw(t, path)
	if _, err := raw.ExecContext(t.Context(), "PRAGMA foreign_keys = OFF;\n"+dump); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
}

// strings returns the first column of a query.
func (db rawDB) strings(t *testing.T, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// schemaOf is the text of the schema.
func schemaOf(t *testing.T, db rawDB) []string {
	t.Helper()
	return db.strings(t, `
		SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name NOT LIKE 'goose%' AND name NOT LIKE 'sqlite%'
		ORDER BY tbl_name, type = 'trigger', type = 'index', name`)
}

func tablesOf(t *testing.T, db rawDB) []string {
	t.Helper()
	return db.strings(t, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid`)
}

// dumpText is the database as statements that make it again: tables, rows,
// and then indexes and triggers, so that no trigger changes a row.
func dumpText(t *testing.T, path string) string {
	t.Helper()
	db := openRaw(t, path)
	var b strings.Builder
	fmt.Fprintf(&b, "PRAGMA application_id = %s;\n", db.strings(t, `PRAGMA application_id`)[0])
	tables := tablesOf(t, db)
	for _, name := range tables {
		b.WriteString("\n" + db.strings(t, `SELECT sql FROM sqlite_schema WHERE name = ?1`, name)[0] + ";\n")
	}
	for _, name := range tables {
		b.WriteString("\n")
		columns := db.strings(t, `SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0`, name)
		for _, row := range db.strings(t, `SELECT quote(`+strings.Join(columns, `) || ', ' || quote(`)+`) FROM `+name+` ORDER BY 1`) {
			fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES (%s);\n", name, strings.Join(columns, ", "), row)
		}
	}
	b.WriteString("\n")
	for _, text := range db.strings(t, `SELECT sql FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL ORDER BY rowid`) {
		b.WriteString(text + ";\n")
	}
	return b.String()
}

// withoutGoose leaves out which migrations were run, and when.
func withoutGoose(dump string) string {
	var out []string
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, "INSERT INTO goose_db_version ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}
