package engine_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestFormOfAnotherCase: who saves the document of a case under another name is told that it
// has made a new case, with which number, and what of the document has no effect.
func TestFormOfAnotherCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutRoute("lamp", "access: {start: [everyone]}\nxattrs: {size: {}}\n"+plainStates)
	first := sam.mustPutCase("one.json", `{"route": "lamp", "xattrDict": {"size": "5"}}`)
	same(t, "an ordinary start", len(first.Warnings), 0)
	copied := sam.mustPutCase("two.json", string(first.Form))
	want := fmt.Sprintf("/id: this has made a new case, %d, which begins as its route says: id, guid, state, created and ", copied.CaseID)
	got := strings.Join(copied.Warnings, "\n")
	if copied.CaseID == first.CaseID || !strings.HasPrefix(got, want) || !strings.HasSuffix(got, fmt.Sprintf(" To change case %d, save Cases/%d.json.", first.CaseID, first.CaseID)) {
		t.Errorf("case %d warns of %q", copied.CaseID, got)
	}
	got = strings.Join(sam.mustPutCase("three.json", `{"route": "lamp", "state": "suspended"}`).Warnings, "\n")
	if !strings.HasPrefix(got, "/state: this has made a new case, ") || !strings.HasSuffix(got, "state of the document has no effect in a start.") {
		t.Errorf("a state alone: %q", got)
	}

	dropped := sam.mustDrop("lamp", "copy.json", string(first.Form))
	want = fmt.Sprintf("/id: this is the document of case %d, and was taken as the input of a new case, %d. ", first.CaseID, dropped.CaseID)
	if got := strings.Join(dropped.Warnings, "\n"); !strings.HasPrefix(got, want) {
		t.Errorf("dropped: %q", got)
	}
	same(t, "an input with an id", len(sam.mustDrop("lamp", "order.json", `{"id": 5, "state": "open"}`).Warnings), 0)
}
