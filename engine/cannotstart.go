package engine

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/schedule"
)

// warnCannotStart warns of XATTRs without which no case of the route starts, and that the
// entry does not give (docs/contract/schedule.md#fields).
func warnCannotStart(entry *schedule.Entry, used *usedRoute) {
	var lacks []string
	for i := range used.Compiled.Xattrs {
		x := &used.Compiled.Xattrs[i]
		given := slices.ContainsFunc(entry.XattrDict, func(of schedule.XAttr) bool { return of.Name() == x.Key && of.Value != nil && of.Value != "" })
		if x.Required && x.Default == nil && !given {
			lacks = append(lacks, x.Key)
		}
	}
	if len(lacks) > 0 {
		entry.WarnCannotStart(fmt.Sprintf("xattrDict lacks what the route %q needs: %s", used.Name, strings.Join(lacks, ", ")))
	}
}
