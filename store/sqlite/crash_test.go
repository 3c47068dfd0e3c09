package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"flowdrive/internal/identity"
	"flowdrive/store"
)

// crashEnv names the database that the test binary, started again as a child,
// fills until it is killed.
const crashEnv = "FLOWDRIVE_CRASH_DATABASE"

// TestKilledUnderLoadKeepsWhatWasAcknowledged kills a process in the middle of load, several times over the
// same database: every unit that was acknowledged is there afterwards, whole,
// and no id was given twice.
func TestKilledUnderLoadKeepsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop := start(t, db)
	addUser(t, db, "sam")
	stop()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []int64
	for _, kill := range []int{1, 50, 400, 900} {
		acknowledged = append(acknowledged, killAfter(t, path, kill)...)
		verifyAcknowledged(t, path, acknowledged)
	}
}

// killAfter starts a child, kills it after it has acknowledged that many
// units, and returns what it has acknowledged until it was dead.
func killAfter(t *testing.T, path string, units int) (ids []int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), crashEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // dead; what has no end of line was not acknowledged
		}
		id, err := strconv.ParseInt(line[:len(line)-1], 10, 64)
		if err != nil {
			t.Fatalf("the child says %q", line)
		}
		if ids = append(ids, id); len(ids) == units {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	if len(ids) < units {
		t.Fatalf("the child acknowledged %d units, not %d", len(ids), units)
	}
	return ids
}

func verifyAcknowledged(t *testing.T, path string, ids []int64) {
	t.Helper()
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	consistent(t, db)
	next := db.NextID()
	seen := map[int64]bool{}
	mustView(t, db, func(r store.Reader) error {
		for _, id := range ids {
			if seen[id] {
				t.Errorf("id %d was given twice", id)
			}
			seen[id] = true
			if id >= next {
				t.Errorf("the next id is %d, and %d is in use", next, id)
			}
			if _, err := r.Cases().Get(id); err != nil {
				t.Errorf("acknowledged case %d: %v", id, err)
			}
			if log, err := r.Cases().Log(id); err != nil || string(log) != `[{"seq":1}]` {
				t.Errorf("log of acknowledged case %d: %s, %v", id, log, err)
			}
		}
		return nil
	})
}

// crashChild stores cases from many goroutines and prints the id of each one
// that was acknowledged.
func crashChild(path string) {
	ctx := context.Background()
	db, err := Open(ctx, path, Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "open:", err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	all.Go(func() { _ = db.Run(ctx) })
	for range 32 {
		all.Go(func() {
			for {
				c := newCase(db, identity.ID(1), 7)
				err := db.Update(ctx, func(tx store.Tx) error {
					if err := tx.Write().Cases().Insert(c); err != nil {
						return err
					}
					return tx.Write().Cases().AppendLog(c.ID, 1, []byte(`[{"seq":1}]`))
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, "update:", err)
					os.Exit(1)
				}
				if _, err := fmt.Fprintln(os.Stdout, c.ID); err != nil {
					os.Exit(1)
				}
			}
		})
	}
	all.Wait()
}
