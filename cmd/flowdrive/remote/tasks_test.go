package remote

import (
	"encoding/json"
	"testing"

	"flowdrive/client"
)

// TestWarningsNameTheCase: what the worklist Warnings has is a task, or the complete form of a
// case that is warned of itself.
func TestWarningsNameTheCase(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{
		`{"id": 7, "route": "bug", "warnings": [{"timer": "run.3-1", "text": "Not delivered: exec: it failed"}]}`: "warning: 7: Not delivered: exec: it failed",
		`{"case": 8, "action": "check", "warnings": [{"timer": "late", "text": "It is late"}]}`:                   "warning: 8 check: It is late",
	} {
		var task client.Task
		if err := json.Unmarshal([]byte(form), &task); err != nil {
			t.Fatal(err)
		}
		if got := warningWords(&task, task.Warnings[0].Text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
