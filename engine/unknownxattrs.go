package engine

import (
	"cmp"
	"fmt"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// mostUnknown bounds the sentences about XATTRs: a hostile document can have a thousand.
const mostUnknown = 20

// unknownXattrs says of each XATTR that is given if nothing in the route uses such a one:
// it is allowed, and may be mistyped (docs/contract/drive.md#xattrs-that-a-route-does-not-know).
func unknownXattrs(r *route.Route, routeName string, given []string) []string {
	declared := true
	for _, key := range given {
		declared = declared && r.Xattr(key) != nil
	}
	if declared {
		return nil
	}
	unknown, known := r.Unknown(given)
	var out []string
	for i, key := range unknown {
		if i == mostUnknown {
			return append(out, fmt.Sprintf("%d further XATTRs are not declared either", len(unknown)-i))
		}
		out = append(out, fmt.Sprintf("The route %q neither declares nor uses an XATTR %q%s The case has it all the same", routeName, key, cmp.Or(document.Hint(strings.TrimPrefix(key, "xattr."), known), ".")))
	}
	return out
}

// newKeys returns the keys that the first dictionary has and the second one has not.
func newKeys(of, before label.Dict) (keys []string) {
	for i := range of {
		if _, had := before.Get(of[i].Key); !had {
			keys = append(keys, of[i].Key)
		}
	}
	return keys
}
