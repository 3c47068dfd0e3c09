package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestOutagesAreLogged: each time the database is away the log says so once, and once that it
// answers again.
func TestOutagesAreLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	n := &nodeServer{settings: &settings{}, log: zerolog.New(&out)}
	for range 2 {
		for range 3 {
			n.tellAway(errors.New("connection refused"))
		}
		n.tellBack()
		n.tellBack()
	}
	for _, text := range []string{"does not answer; waiting", `"after":`} {
		if got := strings.Count(out.String(), text); got != 2 {
			t.Errorf("%q is there %d times; want 2:\n%s", text, got, &out)
		}
	}
}

// TestCommandsAtFolderOfNode: a command at the folder of a node of PostgreSQL, which has no
// database, makes none.
func TestCommandsAtFolderOfNode(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"user list", "user disable ann", "team list", "backup " + t.TempDir(), "backup -", "check", "audit verify", "doctor"} {
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, lockName), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		code := run(t.Context(), append(strings.Fields(command), "--data", data), nil, &out, &out)
		if code == 0 || !strings.Contains(out.String(), "--db") {
			t.Errorf("%s: exit code %d, %s", command, code, &out)
		}
		entries, err := os.ReadDir(data)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) != 1 {
			t.Errorf("%s: it has made %v", command, entries)
		}
	}
}
