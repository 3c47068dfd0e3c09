package machine

import (
	"testing"
	"time"

	"flowdrive/internal/clock"
	"flowdrive/route"
)

// TestRetiredAt: only a root that is at rest has a retention, from its end.
func TestRetiredAt(t *testing.T) {
	t.Parallel()
	end := startOfTests()
	week := &route.Route{Retention: &clock.Duration{Exact: 7 * 24 * time.Hour}}
	month := &route.Route{Retention: &clock.Duration{Months: 1}}
	kids := []Enabled{{Number: 1, Action: "vote", Children: &ChildSummary{Total: 1}}}
	for name, test := range map[string]struct {
		c     Case
		r     *route.Route
		after time.Time // the end of its retention
	}{
		"completed":            {Case{Life: Completed, Ended: end, Modified: end.Add(time.Hour)}, week, end.AddDate(0, 0, 7)},
		"canceled":             {Case{Life: Canceled, Ended: end}, month, end.AddDate(0, 1, 0)},
		"failed":               {Case{Life: Failed, Ended: end}, week, end.AddDate(0, 0, 7)},
		"an action to reopen":  {Case{Life: Completed, Ended: end, Enabled: []Enabled{{Number: 1, Action: "reopen"}}}, week, end.AddDate(0, 0, 7)},
		"of an older marking":  {Case{Life: Completed, Completed: end, Modified: end.Add(time.Hour)}, week, end.AddDate(0, 0, 7)},
		"canceled, an old one": {Case{Life: Canceled, Modified: end}, week, end.AddDate(0, 0, 7)},
		"for ever":             {Case{Life: Completed, Ended: end}, &route.Route{}, time.Time{}},
		"open":                 {Case{Life: Active}, week, time.Time{}},
		"a child":              {Case{Life: Completed, Ended: end, Family: Family{Parent: 3}}, week, time.Time{}},
		"children go on":       {Case{Life: Completed, Ended: end, Enabled: kids}, week, time.Time{}},
		"work is left":         {Case{Life: Completed, Ended: end, Family: Family{Work: []Work{{Kind: WorkEnd, Enablement: 1}}}}, week, time.Time{}},
	} {
		if got := test.c.RetiredAt(test.r); !got.Equal(test.after) {
			t.Errorf("%s: %v, want %v", name, got, test.after)
		}
	}
}
