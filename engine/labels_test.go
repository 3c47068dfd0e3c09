package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// What labels stand for in the steps of a route
// (docs/contract/labels-attachments.md#1-labels): of a scheduled case that
// starts later than it was fired they tell of the firing, afterwards of the
// moment.
func TestLabelsInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.as("admin")
	admin.mustPutRoute("kid", `
access: {start: [], read: []}
states: {open: {type: start, complete: true}}
actions: {begin: {trigger: init, onFire: [{message: {label: Said, text: "$__PID__; of $__PARENTPID__;"}}]}}
`)
	const said = `[{message: {label: Said, text: "$__TODAY__; $__SCHEDULEDFOR__; $__ITERATION__; $__PARENTPID__;|"}}]`
	admin.mustPutRoute("late", `
access: {start: [everyone], read: [everyone]}
states: {open: {type: start}, asked: {}, done: {type: complete}}
actions:
  begin: {trigger: init}
  at-once: {trigger: auto, in: [open], to: asked, onFire: `+said+`}
  kids: {in: [asked], child: {route: kid}, max: 1}
  go: {in: [asked], allowed: everyone, to: done, onFire: `+said+`}
`)
	sam := w.as("sam")
	sam.mustPutEntry("twice.json", `{"type": "cron", "weekday": "6", "hour": 23, "minute": 0, "route": "late"}`)
	admin.mustPutHold("h", `{"route": "late"}`)
	w.advanceTo("2012-11-20T00:00:00Z")
	admin.mustDeleteHold("h")
	w.advanceTo("2012-11-20T00:01:00Z")
	var late, kids []int64
	for _, c := range w.cases() {
		id, err := strconv.ParseInt(c.get("id"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if unquote(c.get("route")) == "late" {
			late = append(late, id)
		} else {
			kids = append(kids, id)
		}
	}
	if len(late) != 2 || len(kids) != 2 {
		t.Fatalf("cases %v and %v", late, kids)
	}
	same(t, "as it starts", sam.content(late[1], "Said"), "2012-11-18 2012-11-18T23:00:00Z 2 |")
	sam.mustPerform(late[1], "go")
	same(t, "afterwards", sam.content(late[1], "Said"), "2012-11-20 2012-11-18T23:00:00Z 2 |")
	same(t, "a child", sam.content(kids[0], "Said"), fmt.Sprintf("%d of %d", kids[0], late[0]))
}

// TestWarningsOfLabels: the answers to the PUT of an entry and of a case warn of labels that
// nothing fills, and of a label that is too long as of that.
func TestWarningsOfLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	entry := sam.mustPutEntry("a.json", `{"route": "auto", "type": "interval", "weeks": 1, "title": "$__TODAYY__;"}`)
	if got := strings.Join(entry.Warnings, "\n"); got != `title: there is no label $__TODAYY__;; did you mean "TODAY"?` {
		t.Errorf("the entry: %q", got)
	}
	started := try(w.Cases.PutCase(t.Context(), sam.request(nil), sam.ref("b.json"), []byte(`{"route": "ask", "title": "$__XATTR_long__;", "xattrDict": {"day": "$__TODAYY__;", "long": "`+strings.Repeat("x", 2000)+`"}}`))).must(w, "the case")
	want := "The label $__TODAYY__; has no value here and was left as it is\nThe label $__XATTR_long__; was left as it is: with its value the text would be too long"
	if got := strings.Join(started.Warnings, "\n"); got != want {
		t.Errorf("the case: %q, want %q", got, want)
	}
}
