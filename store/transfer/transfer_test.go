package transfer_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flowdrive/attach"
	"flowdrive/internal/pgtest"
	"flowdrive/store/postgres"
	"flowdrive/store/sqlite"
	"flowdrive/store/transfer"
)

const content = "a content that is a file"

// filled makes a data folder with rows in every table of the newest schema, and a content.
// Other contents to which there are rows are not there.
func filled(t *testing.T) (file transfer.Where, place *attach.Folder) {
	t.Helper()
	newest, err := sqlite.NewestSchema()
	if err != nil {
		t.Fatal(err)
	}
	dump, err := os.ReadFile(filepath.Join("..", "sqlite", "testdata", "versions", fmt.Sprintf("%d.sql", newest)))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "flowdrive.db")
	execute(t, path, "PRAGMA foreign_keys = OFF;\n"+string(dump))
	sum := sha256.Sum256([]byte(content))
	execute(t, path, fmt.Sprintf("INSERT INTO blobs (sha256, refs) VALUES (x'%x', 0)", sum))
	sound(t, path) // which makes its settings those of a server's
	place, err = attach.Open(filepath.Join(folder, "contents"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := place.Spool(strings.NewReader(content), 100)
	if err == nil {
		err = s.Keep()
	}
	if err != nil {
		t.Fatal(err)
	}
	return transfer.Where{Path: path}, place
}

func execute(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), statements)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func empty(t *testing.T) (transfer.Where, *attach.Folder) {
	t.Helper()
	folder := t.TempDir()
	place, err := attach.Open(filepath.Join(folder, "contents"))
	if err != nil {
		t.Fatal(err)
	}
	return transfer.Where{Path: filepath.Join(folder, "flowdrive.db")}, place
}

func database(t *testing.T) transfer.Where {
	t.Helper()
	return transfer.Where{Postgres: postgres.Options{Address: pgtest.New(t), Now: time.Now}}
}

type end struct {
	transfer.Where
	place *attach.Folder
}

// run copies.
func run(ctx context.Context, from, to end, progress func(what string)) (*transfer.Result, error) {
	source, err := transfer.OpenSource(ctx, from.Where)
	if err != nil {
		return nil, err
	}
	target, err := transfer.OpenTarget(ctx, to.Where)
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	r, err := transfer.Copy(ctx, transfer.Config{
		From: source, To: target, Source: from.place, Target: to.place,
		Progress: func(what transfer.What, _, _ int64) { progress(what.Name) },
	})
	return r, errors.Join(err, source.Close(), target.Close())
}

func copied(t *testing.T, from, to end) *transfer.Result {
	t.Helper()
	r, err := run(t.Context(), from, to, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestThereAndBack: what is copied there and back is the same, and every table of the schema is
// copied. The source is as it was.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for name, middle := range map[string]func(*testing.T) end{
		"sqlite":   func(t *testing.T) end { t.Helper(); w, p := empty(t); return end{w, p} },
		"postgres": func(t *testing.T) end { t.Helper(); _, p := empty(t); return end{database(t), p} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, place := filled(t)
			from, there := end{file, place}, middle(t)
			was, err := os.ReadFile(file.Path)
			if err != nil {
				t.Fatal(err)
			}
			first := copied(t, from, there)
			if first.Tables < 40 || first.Rows < int64(first.Tables) || first.Contents != 1 {
				t.Errorf("copied: %+v", first)
			}
			w, p := empty(t)
			second := copied(t, there, end{w, p})
			if first.Digest != second.Digest || first.Rows != second.Rows {
				t.Errorf("there %+v, back %+v", first, second)
			}
			if now, err := os.ReadFile(file.Path); err != nil || string(now) != string(was) {
				t.Errorf("the source was changed: %v", err)
			}
			body, err := p.Open(sha256.Sum256([]byte(content)))
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(body); errors.Join(err, body.Close()) != nil || string(text) != content {
				t.Errorf("the content is %q, %v", text, err)
			}
			sound(t, w.Path)
			if a, b := schemaOf(t, file.Path), schemaOf(t, w.Path); a != b {
				t.Errorf("the schemas differ:\n%s\n\n%s", a, b)
			}
		})
	}
}

// sound wants a database that can be opened and whose structure is sound.
func sound(t *testing.T, path string) {
	t.Helper()
	if found, err := sqlite.QuickCheck(path); found != "" || err != nil {
		t.Errorf("%s %v", found, err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// schemaOf returns the statements of the schema.
func schemaOf(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var text string
	err = db.QueryRowContext(t.Context(), `SELECT group_concat(sql, char(10) ORDER BY type, name) FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'goose%'`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestCutAndGoesOn: a copy that is cut anywhere goes on, and no server takes what there is for a
// store until then.
func TestCutAndGoesOn(t *testing.T) {
	t.Parallel()
	file, place := filled(t)
	for name, to := range map[string]end{
		"sqlite":   func() end { w, p := empty(t); return end{w, p} }(),
		"postgres": func() end { _, p := empty(t); return end{database(t), p} }(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, at := range []string{"contents", "cases", "stored_bytes", "contents, comparing"} {
				ctx, cancel := context.WithCancel(t.Context())
				_, err := run(ctx, end{file, place}, to, func(what string) {
					if what == at {
						cancel()
					}
				})
				cancel()
				if err == nil {
					t.Fatalf("it was not cut at %s", at)
				}
				if to.Path != "" {
					if _, err := os.Stat(to.Path); err == nil {
						t.Error("there is a database already")
					}
				} else if db, err := postgres.Open(t.Context(), to.Postgres); err == nil {
					_ = db.Close()
					t.Error("a server takes it for a store")
				}
			}
			r := copied(t, end{file, place}, to)
			if r.Contents != 1 {
				t.Errorf("copied: %+v", r)
			}
			if _, err := run(t.Context(), end{file, place}, to, func(string) {}); err == nil {
				t.Error("it was copied into what is not empty")
			}
		})
	}
}

// TestSourceChanges: a source that was changed between a cut and the next run is found.
func TestSourceChanges(t *testing.T) {
	t.Parallel()
	file, place := filled(t)
	w, p := empty(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := run(ctx, end{file, place}, end{w, p}, func(what string) {
		if what == "contents, comparing" {
			cancel()
		}
	}); err == nil {
		t.Fatal("it was not cut")
	}
	execute(t, file.Path, `UPDATE audit_head SET number = number + 1`)
	if _, err := run(t.Context(), end{file, place}, end{w, p}, func(string) {}); err == nil || !strings.Contains(err.Error(), "audit_head") {
		t.Errorf("a changed source: %v", err)
	}
}

// TestNodeIsActive: a database that a node uses is neither copied nor copied into.
func TestNodeIsActive(t *testing.T) {
	t.Parallel()
	w := database(t)
	db, err := postgres.Open(t.Context(), w.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.OpenSource(t.Context(), w); err == nil || !strings.Contains(err.Error(), "stop all") {
		t.Errorf("as source: %v", err)
	}
	if _, err := transfer.OpenTarget(t.Context(), w); err == nil || !strings.Contains(err.Error(), "stop all") {
		t.Errorf("as target: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
