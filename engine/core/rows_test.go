package core

import (
	"slices"
	"strings"
	"testing"
)

// rowsElsewhere says of every row of the scenario tables that this package
// does not play where it is played, or why it is not (design: the engine,
// section 8).
func rowsElsewhere() map[string]string {
	return map[string]string{
		"played by package route, being about definitions": "B4 B6 8.3 SM RQ-21 RQ-22 RQ-35 RQ-40 RQ-41",
		"played by package engine, needing its store":      "TM18 RQ-14 RQ-36",
		"not applicable: no look-up by object, no cache, no clones, no bulk performance, no handlers that name timers of tasks": "B5 B7 8.2 SIM-bulk TM-48",
		"different: running cases keep their version unless the PUT says migrate":                                               "TM13 A4 TM14 RQ-42",
		"needs the worklist": "CS7",
		"needs child cases":  "TM15 CS4 CS6 T1 T2 T3 T4 T5 T6 T7 T8 T9 T11 T12 T13 T15 T16 T18 T19 T20 T21 T25 T26 T27 T28 T29 T30 T31 L16 L17 L19 L21 HW PS DY RC TM-24",
		"needs timers of cases, states and routes": "RQ-43 SIM-timeouts " +
			"TM-01 TM-02 TM-03 TM-04 TM-05 TM-06 TM-07 TM-08 TM-09 TM-10 TM-11 TM-12 TM-13 TM-14 TM-15 TM-17 TM-18 TM-19 TM-20 TM-21 TM-22 TM-25 " +
			"TM-26 TM-27 TM-29 TM-30 TM-31 TM-32 TM-33 TM-35 TM-36 TM-37 TM-39 TM-40 TM-42 TM-43 TM-45 TM-46 TM-47 TM-49 TM-50 TM-51 TM-52 " +
			"TM-53 TM-54 TM-55 TM-56 TM-57 TM-58 TM-59 TM-60 TM-61 TM-62 TM-64 TM-65 TM-66 TM-68 TM-69 TM-72 TM-73 TM-74 TM-75 TM-76 TM-77 TM-78 " +
			"TM-79 TM-80 TM-81 TM-82",
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
			t.Errorf("%s stands twice in the list", all[i])
		}
	}
}
