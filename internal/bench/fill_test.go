package main

import (
	"slices"
	"testing"
)

// TestFillEntries wants as many entries, due in other minutes of the year.
func TestFillEntries(t *testing.T) {
	t.Parallel()
	const n = 300
	r := testRun(t)
	if err := r.fillEntries(t.Context(), r.dir, n); err != nil {
		t.Fatal(err)
	}
	const year = `SELECT DISTINCT due FROM entries WHERE strftime('%Y', due / 1000, 'unixepoch') = '2099'`
	if due := dump(t, r.dir, year); len(due) != n {
		t.Errorf("%d instants of %d entries", len(due), n)
	}
}

// TestFillCases wants as many cases of each kind, with those of the first kind
// told apart.
func TestFillCases(t *testing.T) {
	t.Parallel()
	const n = 303
	r := testRun(t)
	all, first, err := r.fillCases(t.Context(), r.dir, n, kinds()...)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(query string) (out stock) {
		for _, row := range dump(t, r.dir, query) {
			id, ok := row[0].(int64)
			if !ok {
				t.Fatalf("a case has the id %v", row[0])
			}
			out = append(out, id)
		}
		return out
	}
	if got := ids(`SELECT id FROM cases ORDER BY id`); len(got) != n || !slices.Equal(got, all) {
		t.Errorf("the cases are %v, said to be %v", got, all)
	}
	ofFirst := `SELECT id FROM cases JOIN (SELECT id AS route FROM routes WHERE name = '` + routeMany + `') ON route_id = route ORDER BY id`
	if got := ids(ofFirst); len(got) != 76 || !slices.Equal(got, first) {
		t.Errorf("those of the first kind are %v, said to be %v", got, first)
	}
	if states := dump(t, r.dir, `SELECT DISTINCT state, status FROM cases`); len(states) != 2 {
		t.Errorf("the cases are %v", states)
	}
}
