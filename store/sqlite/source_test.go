package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/store"
)

// openSource opens a source until the end of the test.
func openSource(t *testing.T, path string) *Source {
	t.Helper()
	s, err := OpenSource(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestCopyWhileWriting: a copy is what the database was when the source was opened,
// whatever is committed between its steps, and it is a sound database.
func TestCopyWhileWriting(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "flowdrive.db"), Options{})
	start(t, db)
	large := strings.Repeat("x", 4*copyPages*4096)
	mustUpdate(t, db, put("large", large))
	mustUpdate(t, db, put("counter", "0"))
	addUser(t, db, "ann")
	s := openSource(t, db.path)
	to := filepath.Join(t.TempDir(), "copy.db")
	steps := 0
	err := s.Copy(t.Context(), to, func(done, all int64) {
		steps++
		mustUpdate(t, db, put("counter", fmt.Sprint(steps)))
		if done > all || all < int64(len(large)) {
			t.Errorf("%d bytes of %d are done", done, all)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if steps < 4 {
		t.Errorf("it was copied in %d steps", steps)
	}
	counts, err := s.Counts()
	if err != nil || counts.Users != 1 {
		t.Errorf("got %+v, %v", counts, err)
	}
	copied := open(t, to, Options{})
	start(t, copied)
	if got := get(t, copied, "counter"); got != "0" {
		t.Errorf("the copy has what was committed after %s steps", got)
	}
	if get(t, copied, "large") != large {
		t.Error("the copy has not all of the database")
	}
	if got := get(t, db, "counter"); got != fmt.Sprint(steps) {
		t.Errorf("the database has %s of %d", got, steps)
	}
}

// TestCopyFails: a copy ends when it is told to, and overwrites nothing.
func TestCopyFails(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	mustUpdate(t, db, put("large", strings.Repeat("x", 4*copyPages*4096)))
	s := openSource(t, db.path)
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Copy(ctx, filepath.Join(t.TempDir(), "copy.db"), func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	there := filepath.Join(t.TempDir(), "there.db")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Copy(t.Context(), there, func(int64, int64) {}); err == nil {
		t.Error("a file was overwritten")
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "mine" {
		t.Errorf("the file has %q now, %v", text, err)
	}
}

// TestSourceListsContents: the contents of a source are those that something refers
// to.
func TestSourceListsContents(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	used, unused := store.Digest{1}, store.Digest{2}
	author := addUser(t, db, "ann")
	mustUpdate(t, db, func(tx store.Tx) error {
		if err := errors.Join(tx.Write().Blobs().Note(used), tx.Write().Blobs().Note(unused)); err != nil {
			return err
		}
		return tx.Write().Attachments().Insert(&store.Attachment{
			UUID: store.NewUUID(), ContextID: author, AuthorID: author, Name: "x", MediaType: "text/plain", Size: 1, SHA256: used, Created: noon(),
		})
	})
	var got []store.Digest
	err := openSource(t, db.path).Contents(func(d store.Digest) error { got = append(got, d); return nil })
	if err != nil || len(got) != 1 || got[0] != used {
		t.Errorf("got %x, %v", got, err)
	}
}

// TestOpenSourceRefuses: a file that is not there is not made, and what is not a
// database of Flowdrive is refused.
func TestOpenSourceRefuses(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none.db")
	if _, err := OpenSource(t.Context(), none); !errs.Is(err, errs.NotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(none); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSource(t.Context(), empty); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty file: %v", err)
	}
}

// TestCheckFinds: a rule between rows that is broken is found, with the row.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "flowdrive.db"), Options{})
	mustExec := func(query string) {
		t.Helper()
		if _, err := db.writePool.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.writer.close(); err != nil { // its connection is the only one that may write
		t.Fatal(err)
	}
	db.writer = nil
	mustExec(`INSERT INTO blobs (sha256, refs) VALUES (zeroblob(32), 3)`)
	mustExec(`INSERT INTO stored_bytes (author_id, n) VALUES (7, 9)`)
	var got []string
	err := openSource(t, db.path).Check(func(f Fault) error { got = append(got, f.What+": "+f.Row); return nil })
	want := "a wrong count of references to a content: " + strings.Repeat("0", 64) + " 3\na wrong count of stored bytes: 7 9"
	if err != nil || strings.Join(got, "\n") != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestReadLog: a log that ends as a process that is killed leaves it is whole. One in which
// a page before the end of a transaction was damaged is not, nor one without a
// header. What cannot be told from a write that was cut off is not reported.
func TestReadLog(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "flowdrive.db"), Options{})
	start(t, db)
	for n := range 8 {
		mustUpdate(t, db, put("counter", fmt.Sprint(n)))
	}
	whole, err := os.ReadFile(db.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(at int) []byte {
		out := append([]byte{}, whole...)
		out[at] ^= 1
		return out
	}
	page := len(whole) - 4096
	for what, test := range map[string]struct {
		log  []byte
		lost bool
	}{
		"whole":               {whole, false},
		"a page cut off":      {whole[:len(whole)-100], false},
		"cut in the header":   {whole[:20], true},
		"empty":               {nil, false},
		"zeros":               {make([]byte, len(whole)), true},
		"a bit of the header": {flipped(17), true},
		"a bit in the middle": {flipped(len(whole) / 2), true},
		"a bit at the end":    {flipped(page + 4000), true},
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, test.log, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLog(path)
		if err != nil || got.Lost() != test.lost {
			t.Errorf("%s: got %+v, %v", what, got, err)
		}
		if what == "whole" && got.Pages < 8 {
			t.Errorf("there are %d pages in the log", got.Pages)
		}
	}
	if found, err := QuickCheck(db.path); err != nil || found != "" {
		t.Errorf("a whole database: %q, %v", found, err)
	}
}

// TestCopyOlder: a database is copied before its schema is changed, and not otherwise.
func TestCopyOlder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	for _, what := range []string{"no database", "a new schema"} {
		if to, err := CopyOlder(t.Context(), path); to != "" || err != nil {
			t.Errorf("%s: %q, %v", what, to, err)
		}
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	pool, err := openPool(Options{}.writerDSN(path, 1000), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), `DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`); err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // an earlier copy is replaced
		to, err := CopyOlder(t.Context(), path)
		if err != nil || to != path+".before-migration" {
			t.Fatalf("an older schema: %q, %v", to, err)
		}
		newest, err := NewestSchema()
		if err != nil {
			t.Fatal(err)
		}
		if got := openSource(t, to).Schema(); got != newest-1 {
			t.Errorf("the copy has schema version %d", got)
		}
	}
}
