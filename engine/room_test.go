package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// roomOfTests is the quota of the tests of what steps write.
const roomOfTests = 1 << 20

// routeThatWrites has so many steps with a message of 300,000 bytes each, of an XATTR big of
// 60,000: at the start, or of the action more.
func routeThatWrites(atStart, more int) string {
	steps := func(label string, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{message: {label: %s%d, text: "%s"}}`, label, i, strings.Repeat("$__XATTR_big__;", 5)))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init, onFire: ` + steps("First", atStart) + `}
  more: {allowed: [everyone], in: [open], onFire: ` + steps("More", more) + `, to: done}
  end: {allowed: [everyone], in: [open], to: done}
`
}

func caseOfWriter(route string) string {
	return `{"route": "` + route + `", "xattrDict": {"big": "` + strings.Repeat("x", 60_000) + `"}}`
}

// TestStepsNeedRoom: what steps write counts against the quota of the starter. A start by
// request whose steps find no room is refused, as is an action; nothing of either stays.
func TestStepsNeedRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQuota(roomOfTests))
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("flood", routeThatWrites(9, 0))
	admin.mustPutRoute("grows", routeThatWrites(0, 9))
	_, err := sam.putCase("", caseOfWriter("flood"))
	w.kind("a start whose steps write too much", err, errs.Full)
	if n, used := len(w.cases()), sam.used(); n != 0 || used != 0 {
		t.Errorf("of the refused start stay %d cases and %d bytes", n, used)
	}
	id := sam.startCase(caseOfWriter("grows"))
	before := sam.used()
	err = sam.do(id, "more", "perform")
	w.kind("an action whose steps write too much", err, errs.Full)
	if err != nil && !strings.Contains(err.Error(), "sam") {
		t.Errorf("the refusal does not say whose room is used up: %v", err)
	}
	if used := sam.used(); used != before {
		t.Errorf("of the refused action stay %d bytes", used-before)
	}
	sam.caseForm(id).wants("status", `"open"`)
	sam.mustDo(id, "end", "perform")
}

// TestFullQuotaStartsNothing: a request starts no case, however small, and nothing that has
// been started is stopped by that.
func TestFullQuotaStartsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQuota(roomOfTests))
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("grows", routeThatWrites(0, 1))
	id := sam.startCase(`{"route": "grows"}`)
	if _, err := sam.putLabel(id, "Filled", strings.Repeat("x", roomOfTests-int(sam.used()))); err != nil {
		t.Fatal(err)
	}
	_, err := sam.putCase("", `{"route": "grows"}`)
	w.kind("a start", err, errs.Full)
	sam.mustDo(id, "end", "perform")
}

// TestScheduledCaseWithoutRoom: nobody waits for the answer, so the case has failed, and its
// starter is told why.
func TestScheduledCaseWithoutRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQuota(roomOfTests))
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("flood", routeThatWrites(9, 0))
	sam.mustPutEntry("e.json", strings.TrimSuffix(caseOfWriter("flood"), "}")+`, "type": "interval", "minutes": 1}`)
	w.advance(3 * 60e9)
	if used := sam.used(); used > roomOfTests {
		t.Errorf("%d bytes are used", used)
	}
	all := w.cases()
	if len(all) == 0 {
		t.Fatal("no case was created")
	}
	all[0].wants("state", `"failed"`)
	w.view(func(r store.Reader) error {
		rows, err := r.Cases().List(store.CaseFilter{})
		if err != nil {
			return err
		}
		why, err := r.Cases().Messages().GetByLabel(rows[0].ID, machine.LabelError)
		if err == nil && !strings.Contains(string(why.Content), "There is no room for the message First") {
			t.Errorf("the case says %q", why.Content)
		}
		return err
	})
}

// TestRoomIsTakenOnce: actions at the same time have the room of one, and a message that takes
// the place of another needs no more than what it is longer by.
func TestRoomIsTakenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQuota(roomOfTests))
	admin, sam := w.as("admin"), w.as("sam")
	admin.mustPutRoute("grows", strings.Replace(routeThatWrites(0, 1), ", to: done}\n  end", ", to: open}\n  end", 1))
	ids := make([]int64, 6)
	for i := range ids {
		ids[i] = sam.startCase(`{"route": "grows", "xattrDict": {"big": "` + strings.Repeat("x", 50_000) + `"}}`)
	}
	done := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { done[i] = sam.do(id, "more", "perform") })
	}
	all.Wait()
	performed := -1
	for i, err := range done {
		if err == nil {
			performed = i
		} else {
			w.kind("an action", err, errs.Full)
		}
	}
	used := sam.used()
	if performed < 0 || used > roomOfTests {
		t.Fatalf("%d bytes are used, %v", used, done)
	}
	for range 3 {
		sam.mustDo(ids[performed], "more", "perform")
	}
	if again := sam.used(); again > used+4*4096 {
		t.Errorf("%d bytes are used after the same was written again, and were %d", again, used)
	}
}
