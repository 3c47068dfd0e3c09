package machine

import (
	"strings"
	"testing"
)

// TestLogWords: names are shown as people know them, in the engine's own texts alone.
func TestLogWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind    LogKind
		trigger Trigger
		text    string
		want    string
	}{
		{LogTask, ByTime, "Reminded core, bob", "Reminded CORE, BOB"},
		{LogTask, ByUser, "Delegated Write to the end to cy", "Delegated Write to the end to CY"},
		{LogTask, ByUser, "Released Write: cy was disabled", "Released Write: CY was disabled"},
		{LogRoles, ByStep, "Assigned reviewers: ann, bob", "Assigned reviewers: ANN, BOB"},
		{LogRoles, ByStep, "Stakeholders: ann", "Stakeholders: ANN"},
		{LogRoles, ByUser, "Handed over from ann to bob", "Handed over from ANN to BOB"},
		{LogTask, "", "ann does not count any more: not in the role board", "ANN does not count any more: not in the role board"},
		{LogWarning, "", "Without an e-mail address: ann, bob", "Without an e-mail address: ANN, BOB"},
		{LogTask, ByStep, "Reminded core, as the route says", "Reminded core, as the route says"},
		{LogAction, ByUser, "Approved", "Approved"},
		{LogTask, ByUser, "Accepted ann", "Accepted ann"},
	} {
		e := &LogEntry{Kind: test.kind, Text: test.text}
		if test.trigger != "" {
			e.Trigger = new(test.trigger)
		}
		if got := LogWords(e, strings.ToUpper); got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}
