package engine

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/schedule"
)

// warnCannotStart warns of XATTRs without which no case of the route starts, and that the
// entry does not give, and of those whose value the route does not take
// (docs/contract/schedule.md#fields). What labels will be is not known yet.
func warnCannotStart(entry *schedule.Entry, used *usedRoute) {
	var lacks []string
	dict := xattrs(entry.XattrDict)
	for i := range used.Compiled.Xattrs {
		x := &used.Compiled.Xattrs[i]
		at := slices.IndexFunc(entry.XattrDict, func(of schedule.XAttr) bool { return of.Name() == x.Key && of.Value != nil && of.Value != "" })
		if at < 0 {
			if x.Required && x.Default == nil {
				lacks = append(lacks, x.Key)
			}
			continue
		}
		if v := dict[at].Value; v.Kind != document.String || !strings.Contains(v.Text, "$__") {
			if why := machine.NotTaken(x, v); why != "" {
				entry.WarnCannotStart(fmt.Sprintf("/xattrDict/%s %s", x.Key, why))
			}
		}
	}
	if len(lacks) > 0 {
		entry.WarnCannotStart(fmt.Sprintf("xattrDict lacks what the route %q needs: %s", used.Name, strings.Join(lacks, ", ")))
	}
}
