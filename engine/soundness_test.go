package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/audit"
	"flowdrive/internal/clock"
	"flowdrive/store"
	"flowdrive/store/relational"
	"flowdrive/store/storetest"
)

// unsound returns what is wrong with the stored cases and schedule entries of a
// database.
func unsound(db *storetest.DB) (wrong []string, err error) {
	err = db.ViewConn(context.Background(), func(c *relational.Conn) error {
		source := relational.NewSource(c)
		sound := engine.NewSoundness(new(clock.Zones).Zone)
		err := errors.Join(
			source.Cases(func(c *store.Case) error {
				faults, _ := sound.Case(source.Reader(), c)
				wrong = append(wrong, faults...)
				return nil
			}),
			source.Entries(func(e *store.Entry) error { wrong = append(wrong, sound.Entry(e)...); return nil }),
		)
		report, failed := audit.Verify(source.Reader().Audit(), nil)
		if report.Broken != "" {
			wrong = append(wrong, "the audit log: "+report.Broken)
		}
		return errors.Join(err, failed)
	})
	return wrong, err
}

// TestUnsoundCase: a case whose row, form or marking was changed behind the engine's
// back is found. Every other test of this package checks at its end that nothing is
// found.
func TestUnsoundCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.as("sam").startCase(`{"route": "ask"}`)
	w.mayBeUnsound = true
	for _, test := range []struct {
		want   string
		change func(*store.Case)
	}{
		{"its stored form is not", func(c *store.Case) { c.Form = []byte(`{}`) }},
		{"its row has the priority 9", func(c *store.Case) { c.Priority = 9 }},
		{"its row has the status gone", func(c *store.Case) { c.Status = "gone" }},
		{"its row has the due time 2", func(c *store.Case) { c.Due = c.Modified }},
		{"its marking cannot be read", func(c *store.Case) { c.Marking = []byte(`{`) }},
	} {
		var before store.Case
		change := func(f func(*store.Case)) {
			err := w.db.Update(t.Context(), func(tx store.Tx) error {
				c, err := tx.Cases().Get(id)
				if err != nil {
					return err
				}
				f(c)
				return tx.Write().Cases().Update(c, c.Revision)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		change(func(c *store.Case) { before = *c; test.change(c) })
		wrong, err := unsound(w.db)
		if err != nil || !strings.Contains(strings.Join(wrong, "\n"), test.want) {
			t.Errorf("got %q, %v, want %q", wrong, err, test.want)
		}
		change(func(c *store.Case) { *c = before })
	}
	if wrong, err := unsound(w.db); err != nil || len(wrong) != 0 {
		t.Errorf("at the end: %q, %v", wrong, err)
	}
}

// TestCostlyCaseIsNotJudged: of a case whose expressions cost as much as those of an event may it
// is not said that it is not at rest.
func TestCostlyCaseIsNotJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("costly", costlyRoute(50))
	w.as("admin").mustPutRoute("dear", costlyRoute(5))
	want := map[int64]bool{
		w.as("sam").startCase(`{"route": "costly", "xattrDict": {"t": 1}}`): true,
		w.as("sam").startCase(`{"route": "dear", "xattrDict": {"t": 1}}`):   false,
	}
	err := w.db.ViewConn(t.Context(), func(c *relational.Conn) error {
		source := relational.NewSource(c)
		sound := engine.NewSoundness(new(clock.Zones).Zone)
		return source.Cases(func(c *store.Case) error {
			faults, unjudged := sound.Case(source.Reader(), c)
			if len(faults) > 0 || (unjudged != "") != want[c.ID] {
				t.Errorf("case %d: %q, not judged: %q", c.ID, faults, unjudged)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
