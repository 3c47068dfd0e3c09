package relational_test

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"flowdrive/internal/identity"
	"flowdrive/store"
	"flowdrive/store/storetest"
)

// load runs f n times from that many callers.
func load(callers, n int, f func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	all.Wait()
}

// BenchmarkGroupCommit measures what a unit costs when 1 and when 64 callers
// wait for theirs, and how many times as many 64 get done (P3).
func BenchmarkGroupCommit(b *testing.B) {
	rate := map[int]float64{}
	for _, callers := range []int{1, 64} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			db := storetest.Run(b)
			sam := addUser(b, db, "sam")
			b.ResetTimer()
			before := db.Stats()
			load(callers, b.N, func(int) {
				c := newCase(db, sam, 7)
				if err := db.Update(b.Context(), func(tx store.Tx) error { return tx.Write().Cases().Insert(c) }); err != nil {
					b.Error(err)
				}
			})
			b.StopTimer()
			after := db.Stats()
			rate[callers] = float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate[callers], "units/s")
			b.ReportMetric(float64(after.Units-before.Units)/float64(after.Commits-before.Commits), "units/commit")
			if rate[1] > 0 && callers > 1 {
				b.ReportMetric(rate[callers]/rate[1], "times")
			}
		})
	}
}

// benchCase is a case with documents of the usual size.
func benchCase(db *storetest.DB, starter identity.ID) *store.Case {
	c := newCase(db, starter, 7)
	c.Form = bytes.Repeat([]byte("f"), 800)
	c.Marking = bytes.Repeat([]byte("m"), 500)
	return c
}

// BenchmarkUnitStart is the unit that starts a case.
func BenchmarkUnitStart(b *testing.B) {
	db := storetest.Run(b)
	sam := addUser(b, db, "sam")
	b.ReportAllocs()
	b.ResetTimer()
	load(64, b.N, func(int) {
		if err := db.Update(b.Context(), startUnit(benchCase(db, sam))); err != nil {
			b.Error(err)
		}
	})
}

func startUnit(c *store.Case) func(store.Tx) error {
	m := &store.Message{
		UUID: store.UUID{1}, CaseID: c.ID, Label: "InputMessage", MediaType: "text/plain",
		Size: 100, Content: make([]byte, 100), Version: 1, Created: noon(), Modified: noon(),
	}
	return func(tx store.Tx) error {
		if err := tx.Write().Cases().Insert(c); err != nil {
			return err
		}
		if err := tx.Write().Cases().AppendLog(c.ID, 1, bytes.Repeat([]byte("l"), 250)); err != nil {
			return err
		}
		return tx.Write().Cases().Messages().Put(m)
	}
}

// BenchmarkUnitPerform is the unit of one action on one of 20,000 cases.
func BenchmarkUnitPerform(b *testing.B) {
	db := storetest.Run(b)
	sam := addUser(b, db, "sam")
	cases := fill(b, db, sam, 20_000)
	b.ReportAllocs()
	b.ResetTimer()
	load(64, b.N, func(i int) {
		c := cases[i*7919%len(cases)]
		if err := db.Update(b.Context(), performUnit(c)); err != nil {
			b.Error(err)
		}
	})
}

func performUnit(c *store.Case) func(store.Tx) error {
	return func(tx store.Tx) error {
		base := c.Revision
		c.Revision, c.State = base+1, "active"
		if err := tx.Write().Cases().Update(c, base); err != nil {
			return err
		}
		return tx.Write().Cases().AppendLog(c.ID, c.Revision, bytes.Repeat([]byte("l"), 250))
	}
}

// fill stores as many cases.
func fill(b *testing.B, db *storetest.DB, starter identity.ID, n int) []*store.Case {
	b.Helper()
	cases := make([]*store.Case, n)
	for i := range cases {
		cases[i] = benchCase(db, starter)
	}
	load(64, n, func(i int) {
		if err := db.Update(b.Context(), startUnit(cases[i])); err != nil {
			b.Error(err)
		}
	})
	return cases
}

// BenchmarkUnitFire is the unit that fires a schedule entry.
func BenchmarkUnitFire(b *testing.B) {
	db := storetest.Run(b)
	sam := addUser(b, db, "sam")
	entries := make([]*store.Entry, 1000)
	for i := range entries {
		entries[i] = newEntry(byte(i), sam)
		entries[i].UUID[1] = byte(i >> 8)
		entries[i].Form = bytes.Repeat([]byte("e"), 800)
		mustUpdate(b, db, func(tx store.Tx) error { return tx.Write().Entries().Insert(entries[i]) })
	}
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; {
		n := min(maxBatch, b.N-done)
		mustUpdate(b, db, func(tx store.Tx) error {
			for i := range n {
				fire := fireUnit(db, entries[(done+i)%len(entries)])
				if err := store.Savepoint(tx, func() error { return fire(tx) }); err != nil {
					return err
				}
			}
			return nil
		})
		done += n
	}
}

func fireUnit(db *storetest.DB, e *store.Entry) func(store.Tx) error {
	start := startUnit(benchCase(db, e.ContextID))
	return func(tx store.Tx) error {
		instant := e.Due
		e.Due = e.Due.Add(time.Minute)
		e.Revision++
		if err := tx.Write().Entries().Update(e); err != nil {
			return err
		}
		if err := tx.Write().Entries().InsertOccurrence(&store.Occurrence{
			Entry: e.UUID, ContextID: e.ContextID, Instant: instant, Outcome: "fired", CaseID: 1, FiredAt: instant,
		}); err != nil {
			return err
		}
		return start(tx)
	}
}

// BenchmarkCaseForm reads a case with the check that its reader may see it,
// among 20,000 (P5).
func BenchmarkCaseForm(b *testing.B) {
	db := storetest.Run(b)
	sam := addUser(b, db, "sam")
	cases := fill(b, db, sam, 20_000)
	for _, seenBy := range []bool{false, true} {
		b.Run(fmt.Sprintf("CaseSeenBy=%t", seenBy), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				id := cases[i*7919%len(cases)].ID
				err := db.View(context.Background(), func(r store.Reader) error {
					if seenBy {
						if seen, err := r.Cases().SeenBy(id, []identity.ID{sam}); err != nil || !seen {
							b.Errorf("seen %t, %v", seen, err)
						}
					}
					_, err := r.Cases().Get(id)
					return err
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
}
