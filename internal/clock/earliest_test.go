package clock

import (
	"testing"
	"time"
)

func TestEarliest(t *testing.T) {
	noon := time.Date(2012, 11, 9, 12, 0, 0, 0, time.UTC)
	var e Earliest
	e.Forget()
	if !e.Empty() || !e.At().IsZero() || e.Reached(noon) {
		t.Error("there is an instant before one was added")
	}
	for _, step := range []struct {
		add   time.Time
		lower bool
		at    time.Time
	}{
		{noon, true, noon},
		{noon, false, noon},
		{noon.Add(time.Hour), false, noon},
		{noon.Add(-time.Hour), true, noon.Add(-time.Hour)},
	} {
		if lower := e.Lower(step.add); lower != step.lower || !e.At().Equal(step.at) {
			t.Errorf("Lower(%s) = %t, then the earliest is %s", step.add, lower, e.At())
		}
	}
	if !e.Reached(noon) || !e.Reached(noon.Add(-time.Hour)) || e.Reached(noon.Add(-2*time.Hour)) {
		t.Error("Reached does not compare with the earliest")
	}
}
