package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/schema"
	"flowdrive/store/relational"
)

// TestMigrationsMakeTheSchema compares the result of all migrations with the schema as text.
func TestMigrationsMakeTheSchema(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	var all []string
	err := db.ViewConn(t.Context(), func(c *relational.Conn) error {
		const query = `
			SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name NOT LIKE 'goose%' AND name NOT LIKE 'sqlite%'
			ORDER BY tbl_name, type = 'trigger', type = 'index', name`
		return c.Each(query, func(scan relational.Scan) error {
			var text string
			err := scan(&text)
			all = append(all, text+";\n")
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "schema.sql")
	got := strings.Join(all, "\n")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the migrations and %s differ (-want +got); -update rewrites it:\n%s", golden, diff)
	}
}

// unreadable lists the migrations but refuses to open them.
type unreadable struct{ fs.FS }

func (u unreadable) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".sql") {
		return nil, errors.New("a migration was opened")
	}
	return u.FS.Open(name)
}

func TestMigrationsAreReadOnlyWhenNeeded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	opts := Options{migrations: unreadable{schema.Migrations()}}
	if _, err := Open(t.Context(), path, opts); err == nil {
		t.Fatal("an empty database was opened without migrations")
	}
	open(t, path, Options{})
	open(t, path, opts)
}

// with returns the migrations and one more after the last.
func with(t *testing.T, more string) fs.FS {
	t.Helper()
	all := fstest.MapFS{"9001_more.sql": {Data: []byte("-- +goose Up\n" + more)}}
	names, err := fs.Glob(schema.Migrations(), "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(schema.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = &fstest.MapFile{Data: data}
	}
	return all
}

func TestMigrationsGoForward(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	migrations := with(t, "CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;\nINSERT INTO settings VALUES ('more', 'yes');\n")
	broken := with(t, "INSERT INTO settings VALUES ('more', 'half');\nCREATE TABLE;\n")
	if db, err := Open(t.Context(), path, Options{migrations: broken}); err == nil {
		db.Close()
		t.Fatal("a broken migration was accepted")
	}
	func() {
		old, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer old.Close()
		if got := get(t, old, "more"); got != "" {
			t.Errorf("the broken migration left %q behind", got)
		}
	}()
	db := open(t, path, Options{migrations: migrations})
	if got := get(t, db, "more"); got != "yes" {
		t.Errorf("the migration after the last wrote %q, not yes", got)
	}
	_, err := Open(t.Context(), path, Options{})
	if !errs.Is(err, errs.Unavailable) || !strings.Contains(err.Error(), "schema version 9001, this program knows") {
		t.Errorf("opening a newer database: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	pool, err := openPool("file:"+foreign, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(`CREATE TABLE theirs (id INTEGER)`); err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, foreign, dir, filepath.Join(dir, "none", "x.db")} {
		db, err := Open(t.Context(), path, Options{})
		if err == nil {
			db.Close()
		}
		if !errs.Is(err, errs.Unavailable) {
			t.Errorf("open %s: %v, want an error of kind %s", path, err, errs.Unavailable)
		}
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a folder? 100%", "data#1.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db := open(t, path, Options{})
	start(t, db)
	mustUpdate(t, db, put("a", "1"))
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, got)
		}
	}
	if c, err := db.connect(t.Context(), db.checkPool, "", []pragma{{"synchronous", "1"}}); err == nil {
		t.Error("a setting that is not as it must be was accepted")
		_ = c.close()
	}
}
