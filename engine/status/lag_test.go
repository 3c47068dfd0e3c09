package status

import (
	"testing"
	"time"

	"flowdrive/store"
)

// TestLagSeconds: a lag has milliseconds, and no digits that come of the arithmetic.
func TestLagSeconds(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	for late, want := range map[time.Duration]float64{
		1856 * time.Millisecond: 1.856, 1855999999: 1.856, 400 * time.Microsecond: 0, 304 * time.Second: 304, -time.Second: 0,
	} {
		if got := LagSeconds(&store.Occurrence{Instant: at, FiredAt: at.Add(late)}); got != want {
			t.Errorf("%v: %v, want %v", late, got, want)
		}
	}
}
