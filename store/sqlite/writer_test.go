package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/relational"
)

var errRefused = errors.New("refused by the test")

// bubble is a test in which time is virtual, with a database that is open and
// does not run yet.
type bubble struct {
	*testing.T
	db *DB
}

// queued runs f in a bubble: after synctest.Wait everything that updates the
// database waits in its queue.
func queued(t *testing.T, f func(bubble)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	synctest.Test(t, func(t *testing.T) { f(bubble{t, open(t, path, Options{})}) })
}

// submitted starts an update in the background and returns where its outcome
// will be.
func submitted(ctx context.Context, db *DB, f func(store.Tx) error) <-chan error {
	out := make(chan error, 1)
	go func() { out <- db.Update(ctx, f) }()
	synctest.Wait()
	return out
}

func TestGroupCommit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ units, commits int64 }{{1, 1}, {100, 1}, {256, 1}, {257, 2}, {600, 3}} {
		t.Run(strconv.FormatInt(test.units, 10), func(t *testing.T) {
			t.Parallel()
			queued(t, func(t bubble) {
				db := t.db
				var all sync.WaitGroup
				for i := range test.units {
					all.Go(func() { mustUpdate(t, db, put(fmt.Sprint("k", i), "v")) })
				}
				synctest.Wait()
				stop := start(t, db)
				all.Wait()
				got := db.Stats()
				if got.Units != test.units || got.Commits != test.commits {
					t.Errorf("%d units in %d commits, want %d in %d", got.Units, got.Commits, test.units, test.commits)
				}
				stop()
			})
		})
	}
}

func TestFailingUnitsRollBackAlone(t *testing.T) {
	t.Parallel()
	queued(t, func(t bubble) {
		db := t.db
		fail := func(key string, how func() error) func(store.Tx) error {
			return func(tx store.Tx) error {
				tx.AfterCommit(func() { t.Errorf("the hook of %s ran", key) })
				if err := tx.Write().Settings().Put(key, "half"); err != nil {
					return err
				}
				return how()
			}
		}
		outcomes := []<-chan error{
			submitted(t.Context(), db, put("a", "1")),
			submitted(t.Context(), db, fail("b", func() error { return errRefused })),
			submitted(t.Context(), db, put("c", "1")),
			submitted(t.Context(), db, fail("d", func() error { panic("a test's panic") })),
			submitted(t.Context(), db, put("e", "1")),
		}
		stop := start(t, db)
		for i, want := range []func(error) bool{
			func(err error) bool { return err == nil },
			func(err error) bool { return errors.Is(err, errRefused) },
			func(err error) bool { return err == nil },
			func(err error) bool {
				return errs.Is(err, errs.Internal) && strings.Contains(err.Error(), "a test's panic")
			},
			func(err error) bool { return err == nil },
		} {
			if err := <-outcomes[i]; !want(err) {
				t.Errorf("unit %d: %v", i, err)
			}
		}
		got := []string{get(t, db, "a"), get(t, db, "b"), get(t, db, "c"), get(t, db, "d"), get(t, db, "e")}
		if diff := cmp.Diff([]string{"1", "", "1", "", "1"}, got); diff != "" {
			t.Errorf("what is stored (-want +got):\n%s", diff)
		}
		if got := db.Stats(); got.Units != 3 || got.Commits != 1 {
			t.Errorf("%d units in %d commits, want 3 in 1", got.Units, got.Commits)
		}
		stop()
	})
}

// breakCommit returns a unit that succeeds, and with which the commit fails:
// a reference to nothing that is looked at only then.
func breakCommit(unit store.Tx) error {
	if _, err := relational.ConnOf(unit).Exec(`PRAGMA defer_foreign_keys = ON`); err != nil {
		return err
	}
	return unit.Write().Cases().AppendLog(1<<40, 1, []byte(`[{}]`))
}

func TestFailingCommitFailsAll(t *testing.T) {
	t.Parallel()
	queued(t, func(t bubble) {
		db := t.db
		undone := 0
		hooked := func(tx store.Tx) error {
			tx.AfterCommit(func() { t.Error("a hook ran") })
			tx.IfUndone(func() { undone++ })
			return tx.Write().Settings().Put("a", strconv.FormatInt(db.NextID(), 10))
		}
		outcomes := []<-chan error{
			submitted(t.Context(), db, hooked),
			submitted(t.Context(), db, breakCommit),
			submitted(t.Context(), db, func(store.Tx) error { return errRefused }),
			submitted(t.Context(), db, hooked),
		}
		stop := start(t, db)
		for i, outcome := range outcomes {
			err := <-outcome
			if (i == 2) != errors.Is(err, errRefused) || err == nil {
				t.Errorf("unit %d: %v", i, err)
			}
		}
		if got := get(t, db, "a"); got != "" {
			t.Errorf("a is %q after a failed commit", got)
		}
		if undone != 2 {
			t.Errorf("%d units were told that they are undone, not 2", undone)
		}
		mustUpdate(t, db, put("a", "later"))
		if got := get(t, db, "a"); got != "later" {
			t.Errorf("a is %q after the next commit", got)
		}
		stop()
	})
}

func TestHooksRunInOrderAfterTheCommit(t *testing.T) {
	t.Parallel()
	queued(t, func(t bubble) {
		db := t.db
		var got []string
		unit := func(name string) func(store.Tx) error {
			return func(tx store.Tx) error {
				for _, hook := range []string{name + "1", name + "2"} {
					tx.AfterCommit(func() { got = append(got, hook+" "+get(t, db, name)) })
				}
				return tx.Write().Settings().Put(name, "stored")
			}
		}
		a := submitted(t.Context(), db, unit("a"))
		b := submitted(t.Context(), db, unit("b"))
		c := submitted(t.Context(), db, func(tx store.Tx) error {
			tx.AfterCommit(func() { panic("a test's panic") })
			tx.AfterCommit(func() { got = append(got, "c2") })
			return tx.Write().Settings().Put("c", "stored")
		})
		stop := start(t, db)
		if err := errors.Join(<-a, <-b); err != nil {
			t.Error(err)
		}
		if err := <-c; !errs.Is(err, errs.Internal) {
			t.Errorf("a hook that panics gives %v", err)
		}
		if diff := cmp.Diff([]string{"a1 stored", "a2 stored", "b1 stored", "b2 stored", "c2"}, got); diff != "" {
			t.Errorf("hooks (-want +got):\n%s", diff)
		}
		if got := get(t, db, "c"); got != "stored" {
			t.Errorf("c is %q: a hook comes too late to undo its unit", got)
		}
		stop()
	})
}

func TestUpdateContext(t *testing.T) {
	t.Parallel()
	queued(t, func(t bubble) {
		db := t.db
		ended, end := context.WithCancel(t.Context())
		early := submitted(ended, db, func(store.Tx) error {
			t.Error("a withdrawn unit ran")
			return nil
		})
		end()
		if err := <-early; !errors.Is(err, context.Canceled) {
			t.Errorf("withdrawn before it was taken: %v", err)
		}
		if err := db.Update(ended, put("never", "1")); !errors.Is(err, context.Canceled) {
			t.Errorf("submitted with an ended context: %v", err)
		}
		late, end := context.WithCancel(t.Context())
		outcome := submitted(late, db, func(tx store.Tx) error {
			end()
			synctest.Wait() // for the caller, to have seen the end
			return tx.Write().Settings().Put("a", "1")
		})
		stop := start(t, db)
		if err := <-outcome; err != nil {
			t.Errorf("ended after it was taken: %v", err)
		}
		if got := get(t, db, "a"); got != "1" {
			t.Errorf("a is %q", got)
		}
		stop()
	})
}

// TestSavepointUndoesItselfAlone: a part that fails or panics is undone alone, with what it
// registered, whether its unit is alone in the commit or not.
func TestSavepointUndoesItselfAlone(t *testing.T) {
	t.Parallel()
	for _, company := range []int{0, 1} {
		t.Run(fmt.Sprint(company, " others"), func(t *testing.T) {
			t.Parallel()
			queued(t, func(t bubble) {
				db := t.db
				var order []string
				part := func(tx store.Tx, name string, end func() error) error {
					return store.Savepoint(tx, func() error {
						tx.AfterCommit(func() { order = append(order, name) })
						if err := tx.Write().Settings().Put(name, "v"); err != nil {
							return err
						}
						return end()
					})
				}
				fine := func() error { return nil }
				refused := func() error { return errRefused }
				for i := range company {
					_ = submitted(t.Context(), db, put(fmt.Sprint("company", i), "v"))
				}
				outcome := submitted(t.Context(), db, func(tx store.Tx) error {
					if err := part(tx, "a", fine); err != nil {
						t.Errorf("a: %v", err)
					}
					if err := part(tx, "b", refused); !errors.Is(err, errRefused) {
						t.Errorf("b: %v", err)
					}
					if err := part(tx, "c", func() error { panic("oh") }); !errs.Is(err, errs.Internal) {
						t.Errorf("c: %v", err)
					}
					if err := part(tx, "d", func() error {
						if err := part(tx, "e", refused); !errors.Is(err, errRefused) {
							t.Errorf("e: %v", err)
						}
						return part(tx, "f", fine)
					}); err != nil {
						t.Errorf("d: %v", err)
					}
					if err := part(tx, "g", func() error { return errors.Join(part(tx, "h", fine), errRefused) }); !errors.Is(err, errRefused) {
						t.Errorf("g: %v", err)
					}
					return nil
				})
				stop := start(t, db)
				if err := <-outcome; err != nil {
					t.Error(err)
				}
				same(t.T, "what ran after the commit", []string{"a", "d", "f"}, order)
				for name, want := range map[string]string{"a": "v", "b": "", "c": "", "d": "v", "e": "", "f": "v", "g": "", "h": ""} {
					if got := get(t, db, name); got != want {
						t.Errorf("%s is %q, want %q", name, got, want)
					}
				}
				if got := db.Stats().Commits; got != 1 {
					t.Errorf("%d commits, want 1", got)
				}
				stop()
			})
		})
	}
}

// TestSavepointLost: a unit whose part cannot be undone is lost with all that
// is in its transaction, whatever it makes of the error.
func TestSavepointLost(t *testing.T) {
	t.Parallel()
	queued(t, func(t bubble) {
		db := t.db
		other := submitted(t.Context(), db, put("a", "v"))
		lost := submitted(t.Context(), db, func(tx store.Tx) error {
			err := store.Savepoint(tx, func() error {
				_, err := relational.ConnOf(tx).Exec(rollback)
				return errors.Join(err, errRefused)
			})
			if !errors.Is(err, errRefused) {
				t.Errorf("the part: %v", err)
			}
			if err := store.Savepoint(tx, func() error { t.Error("it ran"); return nil }); err == nil {
				t.Error("another part was begun")
			}
			return nil
		})
		stop := start(t, db)
		if <-other == nil || <-lost == nil {
			t.Error("they were written")
		}
		if got := get(t, db, "a"); got != "" {
			t.Errorf("a is %q", got)
		}
		stop()
	})
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	queued(t, func(t bubble) {
		db := t.db
		ctx, cancel := context.WithCancel(t.Context())
		first := submitted(t.Context(), db, put("a", "1"))
		cancel()
		if err := db.Run(ctx); err != nil {
			t.Error(err)
		}
		if err := <-first; err != nil {
			t.Errorf("what waits at the end is done: %v", err)
		}
		if err := db.Update(t.Context(), put("b", "1")); !errs.Is(err, errs.Unavailable) {
			t.Errorf("an update after the end: %v", err)
		}
		if err := db.Run(t.Context()); err == nil {
			t.Error("it ran twice")
		}
		if got := get(t, db, "a"); got != "1" {
			t.Errorf("a is %q", got)
		}
	})
}

func TestCloseWithoutRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flowdrive.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		outcome := submitted(t.Context(), db, put("a", "1"))
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if err := <-outcome; !errs.Is(err, errs.Unavailable) {
			t.Errorf("a unit of a closed database: %v", err)
		}
		if err := db.Run(t.Context()); err == nil {
			t.Error("a closed database ran")
		}
	})
}

// TestUnitEndsWriter is about tests: Fatal in a unit must not leave everybody
// waiting.
func TestUnitEndsWriter(t *testing.T) {
	t.Parallel()
	queued(t, func(t bubble) {
		db := t.db
		first := submitted(t.Context(), db, put("a", "1"))
		fatal := submitted(t.Context(), db, func(store.Tx) error { runtime.Goexit(); return nil })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = db.Run(ctx)
		}()
		if err1, err2 := <-first, <-fatal; !errs.Is(err1, errs.Internal) || !errs.Is(err2, errs.Internal) {
			t.Errorf("the units of the writer's end: %v; %v", err1, err2)
		}
		synctest.Wait()
		if err := db.Update(t.Context(), put("b", "1")); !errs.Is(err, errs.Unavailable) {
			t.Errorf("an update after the writer's end: %v", err)
		}
		cancel()
		<-ended
	})
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	limit := func(pages int) {
		mustUpdate(t, db, func(unit store.Tx) error {
			var got int
			_, err := relational.ConnOf(unit).Row(`PRAGMA max_page_count = ` + strconv.Itoa(pages)).Scan(&got)
			return err
		})
	}
	mustUpdate(t, db, put("a", "1"))
	limit(1) // as small as what is there
	large := string(bytes.Repeat([]byte("x"), 1<<20))
	if err := db.Update(t.Context(), put("b", large)); !errs.Is(err, errs.Full) {
		t.Errorf("a unit for which there is no room: %v", err)
	}
	if got := get(t, db, "a") + get(t, db, "b"); got != "1" {
		t.Errorf("a and b are %q", got)
	}
	limit(1 << 20)
	mustUpdate(t, db, put("b", large))
}

// TestConcurrent lets writers and readers at it at once: counts agree in
// every snapshot, and what was acknowledged is seen by the next read.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	db := run(t, Options{})
	sam := addUser(t, db, "sam")
	const writers, rounds = 16, 40
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for i := range rounds {
				c := newCase(db, sam, 7)
				err := db.Update(t.Context(), func(tx store.Tx) error {
					if err := tx.Write().Cases().Insert(c); err != nil || i%4 == 0 {
						return errors.Join(err, errRefused)
					}
					return tx.Write().Cases().AppendLog(c.ID, 1, []byte(`[{}]`))
				})
				if (i%4 == 0) != errors.Is(err, errRefused) {
					t.Errorf("update: %v", err)
				}
				err = db.View(t.Context(), func(r store.Reader) error {
					_, err := r.Cases().Get(c.ID)
					if (i%4 == 0) != errs.Is(err, errs.NotFound) {
						t.Errorf("case %d in round %d: %v", c.ID, i, err)
					}
					open, err := r.Cases().CountOpen(sam)
					cases, err2 := r.Cases().List(store.CaseFilter{RouteID: 7})
					if int(open) != len(cases) {
						t.Errorf("%d cases are counted and %d seen in one snapshot", open, len(cases))
					}
					return errors.Join(err, err2)
				})
				if err != nil {
					t.Errorf("view: %v", err)
				}
			}
		})
	}
	all.Wait()
	mustView(t, db, func(r store.Reader) error {
		if open, err := r.Cases().CountOpen(sam); err != nil || open != writers*rounds*3/4 {
			t.Errorf("%d open cases, %v; want %d", open, err, writers*rounds*3/4)
		}
		return nil
	})
}
