package bench

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
	due := dump(t, data, `SELECT id, due FROM cases ORDER BY due, id`)
	if len(due) != n || due[0][1].(int64) < epoch().UnixMilli() || due[n-1][1] != epoch().Add(lasts).UnixMilli() {
		t.Fatalf("%d timers from %v to %v", len(due), due[0], due[n-1])
	}
	first := func(from int) int64 { return due[from][0].(int64) }
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
	left := dump(t, data, `SELECT min(due) FROM cases`)[0][0].(int64)
	if last := epoch().Add((2*each - 1) * time.Second).UnixMilli(); left <= last {
		t.Errorf("what is due at %d is left; the rounds went to %d", left, last)
	}
	rows := func(id int64) map[string][][]any {
		out := rowsOfCase(t, data, id)
		documents := len(out["case"][0]) - 2 // they hold the id, which may have other digits than the limit's
		out["case"][0] = out["case"][0][:documents]
		return out
	}
	want := rows(first(0))
	if diff := cmp.Diff(want, rows(first(each+1))); diff != "" {
		t.Errorf("rows (-store +limit):\n%s", diff)
	}
	if len(want["log"]) != 2 {
		t.Errorf("the engine has written %v", want)
	}
}
