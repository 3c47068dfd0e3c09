package engine

import (
	"errors"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// toldAtOnce joins the faults that reading a document has found with those that deciding on
// the rest of it has: who has sent it mends all of them at once. Decisions know no places,
// so each of their faults gets that of what its pointer names, or of what should contain it.
// Any other error stays as it is, unless there are faults. nil: nothing is wrong.
func toldAtOnce(read []errs.Fault, decided error, root *document.Node) error {
	e, ok := errors.AsType[*errs.Error](decided)
	if !ok || e.Kind != errs.Invalid || len(e.Faults) == 0 {
		if len(read) > 0 {
			return errs.InvalidDocument(read)
		}
		return decided
	}
	all := append([]errs.Fault{}, read...)
	for _, f := range e.Faults {
		if covered(read, f.Pointer) {
			continue // it was not read, and so seemed to be missing
		}
		if at := nodeAt(root, f.Pointer); f.Line == 0 && at != nil {
			f.Line, f.Column = at.Line, at.Column
		}
		all = append(all, f)
	}
	return errs.InvalidDocument(all)
}

// covered reports whether one of the faults is about what the pointer names, about what
// contains it, or about an XATTR that was written beside xattrDict.
func covered(faults []errs.Fault, pointer string) bool {
	for _, f := range faults {
		if f.Pointer != "" && (f.Pointer == pointer || strings.HasPrefix(pointer, f.Pointer+"/") || f.Code == errs.CodeUnknownField && pointer == "/xattrDict"+f.Pointer) {
			return true
		}
	}
	return false
}

// nodeAt returns what the pointer names in a document, or the innermost of what should
// contain it. Keys of XATTRs are compared in their normal form.
func nodeAt(root *document.Node, pointer string) *document.Node {
	at := root
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		key := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		next := at.Get(key)
		if next == nil && at != nil && at.Kind == document.Object {
			for i := range at.Members {
				if normal, err := label.NormalizeKey(at.Members[i].Key); err == nil && normal == key {
					next = at.Members[i].Value
				}
			}
		}
		if next == nil {
			break
		}
		at = next
	}
	return at
}
