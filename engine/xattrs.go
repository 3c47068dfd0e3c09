package engine

import (
	"fmt"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// readChanges reads an object of XATTRs that is merged into those of a case: a
// value sets its key, null removes it, and a key that is absent stays
// (docs/contract/labels-attachments.md#2-xattrs). What is wrong becomes a fault
// of the document: values that label.ReadValue refuses, keys that are not legal,
// keys that are equal once normalised.
func readChanges(v document.Value) []machine.Change {
	if !v.Given() || !v.Is(document.Object) {
		return nil
	}
	var out []machine.Change
	first := make(map[string]string, len(v.Node.Members)) // normal key → as it stands
	for i := range v.Node.Members {
		given, member := v.Member(i)
		key, err := label.NormalizeKey(given)
		if err != nil {
			member.Fail(errs.CodeFormat, "%v", err)
			continue
		}
		if before, twice := first[key]; twice {
			member.Fail(errs.CodeConflict, "is the same XATTR as %q; keep one of them", before)
			continue
		}
		first[key] = given
		change := machine.Change{Key: key, Remove: !member.Given()}
		if !change.Remove {
			value, ok := label.ReadValue(member)
			if !ok {
				continue
			}
			change.Value = value
		}
		out = append(out, change)
	}
	return out
}

// belowXattrDict says of members that a document does not have where they stand if the
// route declares XATTRs of that name.
func belowXattrDict(faults *document.Faults, r *route.Route) {
	faults.Extend(errs.CodeUnknownField, func(pointer string) string {
		key, ok := strings.CutPrefix(pointer, "/")
		if key, err := label.NormalizeKey(key); !ok || err != nil || r.Xattr(key) == nil {
			return ""
		}
		return fmt.Sprintf("; %q is an XATTR of the route: write it below xattrDict", key)
	})
}

// merged returns the dictionary, which must be sorted, after the changes.
func merged(dict label.Dict, changes []machine.Change) label.Dict {
	for _, c := range changes {
		if c.Remove {
			dict = dict.Remove(c.Key)
		} else {
			dict = dict.Set(c.Key, c.Value)
		}
	}
	return dict
}
