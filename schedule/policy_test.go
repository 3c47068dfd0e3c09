package schedule_test

import "testing"

// TestLegalValuesHaveNoCode: what is only not built is no mistake of the
// document's author.
func TestLegalValuesHaveNoCode(t *testing.T) {
	t.Parallel()
	faults := entry(t, with("cron", nightly+`, "excludeCalendar": "/dav/Documents/ops/x.ics"`), friday, nil).NotBuilt()
	if len(faults) != 1 {
		t.Errorf("got %v, want one", faults)
	}
	for _, f := range faults {
		if f.Code != "" {
			t.Errorf("%s: the code is %q, want none", f.Pointer, f.Code)
		}
	}
}
