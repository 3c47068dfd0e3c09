package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/schedule"
	"flowdrive/store"
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

// TestFillCases wants the same of cases of every kind: that all rows of a copy
// are those of its original, that counters and indexes know it, and that it
// can be acted on.
func TestFillCases(t *testing.T) {
	t.Parallel()
	const n = 300
	r := testRun(t)
	many, err := r.fillCases(t.Context(), r.dir, n, kinds()...)
	if err != nil {
		t.Fatal(err)
	}
	checkCopies(t, r.dir, many, n)
	h, err := openHouse(t.Context(), r.dir, houseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cases, err := h.engine.Cases(t.Context(), h.by, engine.Filter{})
	if err != nil || len(cases) != n {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	last := cases[n-1].Seq
	for _, err := range []error{
		h.perform(t.Context(), many.at(1), "note"), h.perform(t.Context(), many.at(2), "finish"), h.perform(t.Context(), last, "finish"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	err = h.store.View(t.Context(), func(rd store.Reader) error {
		for _, res := range cases {
			row, err := rd.Cases().Get(res.Seq)
			if err != nil {
				return err
			}
			c, err := machine.ReadMarking(row.Marking)
			if err != nil {
				return err
			}
			var form struct {
				ID   int64  `json:"id"`
				GUID string `json:"guid"`
			}
			if err := json.Unmarshal(row.Form, &form); err != nil || c.ID != row.ID || form.ID != row.ID || c.GUID != form.GUID {
				t.Errorf("case %d: its marking is of %d %s, its form of %d %s, %v", row.ID, c.ID, c.GUID, form.ID, form.GUID, err)
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

// checkCopies wants n cases, of which first are those of the first kind.
func checkCopies(t *testing.T, data string, first stock, n int64) {
	t.Helper()
	ids := map[int64]bool{}
	for i := range first.n {
		ids[first.at(i)] = true
	}
	if got := dump(t, data, `SELECT id FROM cases JOIN (SELECT id AS route FROM routes WHERE name = ?1) ON route_id = route`, routeMany); len(got) != len(ids) || int64(len(ids)) != first.n {
		t.Errorf("%d cases of the first kind, said to be %d of %d", len(got), len(ids), first.n)
	}
	all := int64(len(kinds()))
	for id := first.first; id < first.first+n; id++ {
		original := first.first + (id-first.first)%all
		want, got := rowsOfCase(t, data, original), rowsOfCase(t, data, id)
		longer := int64(len(fmt.Sprint(id)) - len(fmt.Sprint(original))) // the documents, for the id in them
		for _, row := range want["case"] {
			for i := len(row) - 2; i < len(row); i++ {
				length, ok := row[i].(int64)
				if !ok {
					t.Fatalf("a document has the length %v", row[i])
				}
				row[i] = length + longer
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows of the cases %d and %d (-original +copy):\n%s", original, id, diff)
		}
	}
	counted := dump(t, data, `SELECT starter_id, route_id, n FROM open_cases WHERE n > 0 ORDER BY 1, 2`)
	open := dump(t, data, `SELECT starter_id, route_id, count(*) FROM cases WHERE open GROUP BY 1, 2 ORDER BY 1, 2`)
	if diff := cmp.Diff(open, counted); diff != "" {
		t.Errorf("open cases (-there are +counted):\n%s", diff)
	}
	if states := dump(t, data, `SELECT DISTINCT state, status FROM cases`); len(states) != 2 {
		t.Errorf("the cases are %v", states)
	}
	if faults := dump(t, data, `PRAGMA integrity_check`); len(faults) != 1 || faults[0][0] != "ok" {
		t.Errorf("the database: %v", faults)
	}
	if faults := dump(t, data, `PRAGMA foreign_key_check`); len(faults) > 0 {
		t.Errorf("rows that refer to nothing: %v", faults)
	}
}
