package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rowsOfCase are what the database holds of a case, column by column but for
// its id. Documents count by their length: those of the limit are copies.
func rowsOfCase(t *testing.T, data string, id int64) map[string][][]any {
	t.Helper()
	out := map[string][][]any{}
	for name, query := range map[string]string{
		"case": `SELECT route_id, context_id, starter_id, state, status, priority, version, revision, due, named, access,
			length(marking), length(form) FROM cases WHERE id = ?1`,
		"log":      `SELECT seq, length(entries) FROM case_log WHERE case_id = ?1 ORDER BY seq`,
		"messages": `SELECT label, media_type, size, hex(sha256), version, length(content) FROM messages WHERE case_id = ?1 ORDER BY id`,
		"tasks":    `SELECT party_id, lists FROM tasks WHERE case_id = ?1 ORDER BY party_id`,
		"done":     `SELECT user_id, seq, action, length(form) FROM done_tasks WHERE case_id = ?1 ORDER BY seq`,
		"access":   `SELECT party_id FROM case_access WHERE case_id = ?1 ORDER BY party_id`,
	} {
		out[name] = dump(t, data, query, id)
	}
	return out
}

// TestLimitOfStart wants the limit to write what the store writes: the same
// rows, and the same statements but for savepoints.
func TestLimitOfStart(t *testing.T) {
	t.Parallel()
	r := testRun(t)
	w, units, err := r.limitOfStart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	theirs, ok := units[0][0].args[0].(int64)
	if !ok {
		t.Fatalf("the first statement has no case: %v", units[0][0])
	}
	const ours = 123_456
	c := w.callers(1)[0]
	for _, unit := range units {
		if err := c.do(ours, bind(unit, ours)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	data := r.dir + "/01-limit"
	want := rowsOfCase(t, data, theirs)
	if diff := cmp.Diff(want, rowsOfCase(t, data, ours)); diff != "" {
		t.Errorf("rows (-store +limit):\n%s", diff)
	}
	if len(want["case"]) != 1 || len(want["log"]) < 2 || len(want["access"]) == 0 {
		t.Errorf("the store has written %v", want)
	}
	if got := dump(t, data, `SELECT next FROM sequence`)[0][0]; got != int64(ours+bareReserve) {
		t.Errorf("the sequence goes on with %v", got)
	}
}

// TestLimitOfActions wants the same of actions that follow each other on a
// case, whichever case they were learnt on.
func TestLimitOfActions(t *testing.T) {
	t.Parallel()
	r := testRun(t)
	o, err := r.furnish(t.Context(), r.cases, kind{route: routeMany})
	if err != nil {
		t.Fatal(err)
	}
	learnt, other := o.cases.at(0), o.cases.at(1)
	want := rowsOfCase(t, o.data, learnt)
	w, err := openBare(t.Context(), o.data)
	if err != nil {
		t.Fatal(err)
	}
	c := w.callers(1)[0]
	for n := int64(1); n <= o.noted; n++ {
		if err := c.do(other, o.note.unit(other, n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, rowsOfCase(t, o.data, other)); diff != "" {
		t.Errorf("rows (-store +limit):\n%s", diff)
	}
}

// TestLimitFails wants a statement that does not do what it should to fail
// the commit: the limit must not be fast by doing nothing.
func TestLimitFails(t *testing.T) {
	t.Parallel()
	r := testRun(t)
	o, err := r.furnish(t.Context(), r.cases, kind{route: routeMany})
	if err != nil {
		t.Fatal(err)
	}
	w, err := openBare(t.Context(), o.data)
	if err != nil {
		t.Fatal(err)
	}
	c := w.callers(1)[0]
	id := o.cases.at(1)
	if err := c.do(id, o.note.unit(id, 7)); err == nil {
		t.Error("an action on a revision that is not there was written")
	}
	if err := c.do(id, o.note.unit(id, 1)); err != nil {
		t.Errorf("after a failure: %v", err)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
}
