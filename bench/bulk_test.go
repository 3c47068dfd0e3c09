package bench

import (
	"slices"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/core"
	"flowdrive/schedule"
)

// TestFillEntries wants every copied entry to be one: its documents tell what
// its row tells, and no two are alike.
func TestFillEntries(t *testing.T) {
	t.Parallel()
	const n = 300
	r := testRun(t)
	if err := r.fillEntries(t.Context(), r.dir, n); err != nil {
		t.Fatal(err)
	}
	h, err := openHouse(t.Context(), r.dir, houseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := h.engine.Entries(t.Context(), h.by, engine.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, res := range entries {
		e, err := schedule.ReadForm(res.Form, nil)
		if err != nil || e.UUID != res.Name {
			t.Errorf("the form of %s is of %v, %v", res.Name, e, err)
		}
		names = append(names, res.Name)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) != n {
		t.Errorf("%d entries, %d names", len(entries), len(names))
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
}

// TestFillCases wants the same of cases: that the last one can be acted on.
func TestFillCases(t *testing.T) {
	t.Parallel()
	const n = 300
	r := testRun(t)
	if err := r.fillCases(t.Context(), r.dir, n); err != nil {
		t.Fatal(err)
	}
	h, err := openHouse(t.Context(), r.dir, houseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cases, err := h.engine.Cases(t.Context(), h.by, engine.Filter{})
	if err != nil || len(cases) != n {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	last := cases[n-1].Seq
	if err := h.perform(t.Context(), last, "finish"); err != nil {
		t.Error(err)
	}
	err = h.store.View(t.Context(), func(rd engine.Reader) error {
		for _, res := range cases {
			row, err := rd.Case(res.Seq)
			if err != nil {
				return err
			}
			c, err := core.ReadMarking(row.Marking)
			if err != nil {
				return err
			}
			if guid, err := guidOf(row.Form); err != nil || c.ID != row.ID || c.GUID != guid {
				t.Errorf("case %d: its marking is of %d %s, its form of %s, %v", row.ID, c.ID, c.GUID, guid, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if id, err := h.startCase(t.Context(), routeOnce); err != nil || id <= last {
		t.Errorf("the next case is %d, %v; there were those up to %d", id, err, last)
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
}
