package schedule_test

import "testing"

// TestLegalValuesHaveNoCode: what is only not built is no mistake of the
// document's author.
func TestLegalValuesHaveNoCode(t *testing.T) {
	t.Parallel()
	faults := entry(t, with("cron", nightly+`, "misfire": "skip", "paused": true`), friday, nil).NotBuilt()
	if len(faults) != 2 {
		t.Errorf("got %v, want two", faults)
	}
	for _, f := range faults {
		if f.Code != "" {
			t.Errorf("%s: the code is %q, want none", f.Pointer, f.Code)
		}
	}
}
