package remote

import (
	"testing"
	"time"
)

// TestInstantsInTheLog: the texts of a log name their instants in the zone of its lines.
func TestInstantsInTheLog(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CET", 3600)
	for text, want := range map[string]string{
		"Attempt 1 failed: mail: refused; again at 2012-11-09T12:36:00Z": "Attempt 1 failed: mail: refused; again at 2012-11-09 13:36:00 CET",
		"Attempt 1 failed: mail: refused; again at 2012-13-09T12:36:00Z": "Attempt 1 failed: mail: refused; again at 2012-13-09T12:36:00Z",
		"Completed": "Completed",
	} {
		if got := withInstants(text, zone); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
