package machine

import (
	"slices"
	"strings"
	"testing"
)

// rowsElsewhere says of every row of the scenario tables that this package
// does not play where it is played, or why it is not
// (docs/contract/engine.md#8-acceptance-scenarios).
func rowsElsewhere() map[string]string {
	return map[string]string{
		"played by package route, being about definitions": "B4 B6 8.3 SM RQ-21 RQ-22 RQ-35 RQ-40 RQ-41 TM-75",
		"played by package engine, needing its store":      "TM18 RQ-14 RQ-36 T31 TM-80 TM-82 CS7",
		"not applicable: no look-up by object, no cache, no clones, no bulk performance, no handlers that name timers of tasks": "B5 B7 8.2 SIM-bulk TM-48",
		"different: running cases keep their version unless the PUT says migrate, which TestMigrate plays":                      "TM13 A4 TM14 RQ-42",
		"different: a handler that is detached is the step start, which no tree knows of":                                       "TM-24",
	}
}

// TestRowsElsewhere keeps the list free of repetitions, and shows it.
func TestRowsElsewhere(t *testing.T) {
	t.Parallel()
	var all []string
	for why, rows := range rowsElsewhere() {
		t.Logf("%s: %s", why, rows)
		all = append(all, strings.Fields(rows)...)
	}
	slices.Sort(all)
	for i := range len(all) - 1 {
		if all[i] == all[i+1] {
			t.Errorf("%s appears twice in the list", all[i])
		}
	}
}
