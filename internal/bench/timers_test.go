package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLimitOfTimers wants the limit to fire the timers that the engine would,
// in the same order, and to write the same rows.
func TestLimitOfTimers(t *testing.T) {
	t.Parallel()
	const n, each = 100, 20
	r := testRun(t)
	unit, err := r.unitOfTimer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.folder("timers")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.fillTimers(t.Context(), data, n); err != nil {
		t.Fatal(err)
	}
	const after = `SELECT id FROM cases WHERE due >= ?1 ORDER BY due, id`
	if due := dump(t, data, after, epoch().UnixMilli()); len(due) != n {
		t.Fatalf("%d timers", len(due))
	}
	var ids []int64
	for _, row := range dump(t, data, after, 0) {
		id, ok := row[0].(int64)
		if !ok {
			t.Fatalf("a case has the id %v", row[0])
		}
		ids = append(ids, id)
	}
	rounds := &timers{data: data, each: each}
	ours, err := rounds.fire(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := rounds.fireBare(t.Context(), unit)
	if err != nil {
		t.Fatal(err)
	}
	if ours.done+theirs.done != len(dump(t, data, `SELECT id FROM cases WHERE status = 'late' AND due IS NULL`)) {
		t.Errorf("%d and %d were fired", ours.done, theirs.done)
	}
	last := epoch().Add((2*each - 1) * time.Second).UnixMilli()
	if left := dump(t, data, `SELECT id FROM cases WHERE due <= ?1`, last); len(left) > 0 {
		t.Errorf("%d that were due are left", len(left))
	}
	rows := func(id int64) map[string][][]any {
		out := rowsOfCase(t, data, id)
		documents := len(out["case"][0]) - 2 // they hold the id, which may have other digits than the limit's
		out["case"][0] = out["case"][0][:documents]
		return out
	}
	want := rows(ids[0])
	if diff := cmp.Diff(want, rows(ids[each+1])); diff != "" {
		t.Errorf("rows (-store +limit):\n%s", diff)
	}
	if len(want["log"]) != 2 {
		t.Errorf("the engine has written %v", want)
	}
}
